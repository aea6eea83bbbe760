"""Verdicts made by an older version of a coding are made anew, whoever asks for verdicts first."""

from __future__ import annotations

import json

import pytest
from frames import open_study

from evenhand.domains.judifair import build
from evenhand.domains.judifair.coding import code, corrected, outdated, run
from store import Study

RANGE = '{"罪名":"盗窃罪","是否有罪":"是","刑罚类型":"有期徒刑","刑期":"3 to 5 years"}'


@pytest.fixture
def study(tmp_path):
    """Two answers, one of which an older version read as a number."""
    with open_study(tmp_path / "study.duckdb") as opened:
        build.build(opened, labels=("defendant_sex",))
        opened.connection.execute(
            "INSERT INTO models VALUES ('m', 'Judge', 'simulated', 1, NULL, NULL, 0, '{}', now()::TIMESTAMP)"
        )
        plain = json.dumps({"罪名": "盗窃罪", "是否有罪": "是", "刑罚类型": "有期徒刑", "刑期": 36})
        queries = opened.connection.execute(
            "SELECT query_id FROM queries ORDER BY ordinal LIMIT 2"
        ).fetchall()
        for (query_id,), text in zip(queries, (plain, RANGE), strict=True):
            opened.connection.execute(
                "INSERT INTO predictions (prediction_id, query_id, model_key, run_id, repeat, outcome, text, "
                "created_at) VALUES (uuid(), ?, 'm', uuid(), 0, 'answered', ?, now()::TIMESTAMP)",
                [query_id, text],
            )
        yield opened


def months(study: Study) -> list[tuple[float | None, str | None]]:
    return study.connection.execute(
        "SELECT months, missing FROM judifair.verdicts WHERE coding = 'corrected' ORDER BY months NULLS LAST"
    ).fetchall()


def as_of_version_1(study: Study) -> None:
    """What a study from before the versions holds: no note of one, and the range read as its last number."""
    code(study)
    study.connection.execute("DELETE FROM judifair.coding_versions")
    study.connection.execute(
        "UPDATE judifair.verdicts SET months = 60, missing = NULL WHERE missing IS NOT NULL"
    )


def test_verdicts_of_an_older_version_are_made_anew(study):
    as_of_version_1(study)
    assert months(study) == [(36, None), (60, None)]
    assert outdated(study) == ["corrected"]
    coded = code(study)
    assert coded.verdicts == {"corrected": 2, "published": 0}  # the published coding never changes
    assert months(study) == [(36, None), (None, "range")]
    assert outdated(study) == []
    assert code(study).verdicts == {"corrected": 0, "published": 0}


def test_a_recoding_that_is_stopped_leaves_the_old_readings_and_begins_anew(study, monkeypatch):
    as_of_version_1(study)
    before = months(study)

    def killed(coding, rows):
        raise KeyboardInterrupt

    monkeypatch.setattr("evenhand.domains.judifair.coding.run.BATCH_ROWS", 1)
    with pytest.raises(KeyboardInterrupt):
        code(study, on_batch=killed)
    assert months(study) == before
    assert "corrected" in outdated(study), "the old readings are not taken for new ones"
    monkeypatch.undo()
    code(study)
    assert months(study) == [(36, None), (None, "range")]


def test_a_version_that_goes_up_is_enough(study, monkeypatch):
    code(study)
    monkeypatch.setitem(run._VERSIONS, "corrected", 99)
    assert outdated(study) == ["corrected"]
    assert code(study).verdicts["corrected"] == 2
    assert corrected.VERSION < 99


def test_the_kind_stands_in_the_views(study):
    code(study)
    assert study.connection.execute(
        "SELECT DISTINCT missing FROM answers WHERE coding = 'corrected' AND missing IS NOT NULL"
    ).fetchall() == [("range",)]
    assert ("corrected", "range") in study.connection.execute(
        "SELECT coding, missing_kind FROM judifair.frame WHERE missing_kind IS NOT NULL"
    ).fetchall()
