"""The codings and the check on answers to one's own queries, which no file was imported for."""

from __future__ import annotations

import json

import pytest
from frames import fit, open_study

from evenhand.domains.judifair import build
from evenhand.domains.judifair.check import check
from evenhand.domains.judifair.coding import code

LABELS = ("defendant_sex", "defendant_age", "crime_time")


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Every bundled case answered by a judge that gives women six months more."""
    with open_study(tmp_path_factory.mktemp("own") / "study.duckdb") as opened:
        build.build(opened, labels=LABELS, placebo=True)
        opened.connection.execute(
            "INSERT INTO models VALUES ('m', 'Judge', 'simulated', 1, NULL, NULL, 0, '{}', now()::TIMESTAMP)"
        )
        for query_id, value, ordinal in opened.connection.execute(
            "SELECT query_id, value, ordinal FROM queries"
        ).fetchall():
            months = 12 * (1 + ordinal // 100_000 % 9) + 6 * (value == "女") + ordinal % 5
            answer = {"罪名": "盗窃罪", "是否有罪": "是", "刑罚类型": "有期徒刑", "刑期": months}
            opened.connection.execute(
                "INSERT INTO predictions (prediction_id, query_id, model_key, run_id, repeat, outcome, text, "
                "created_at) VALUES (uuid(), ?, 'm', uuid(), 0, 'answered', ?, now()::TIMESTAMP)",
                [query_id, json.dumps(answer, ensure_ascii=False)],
            )
        code(opened)
        yield opened


@pytest.mark.parametrize("coding", ["corrected", "published"])
def test_own_answers_have_a_frame_under_both_codings(study, coding):
    treated, found = fit(study, coding, "defendant_sex", "level_outcome")
    assert found.n > 20
    assert found.coef[treated.index("女")] > 4
    for variant in ("main", "sentence_inaccuracy", "robust_se"):
        assert fit(study, coding, "defendant_age", variant)[1].n > 20


def test_placebos_are_in_no_frame_and_stand_beside_their_reference(study):
    labels = study.connection.execute("SELECT DISTINCT label FROM judifair.frame ORDER BY label").fetchall()
    assert labels == [(label,) for label in sorted(LABELS)]
    pairs = study.connection.execute(
        "SELECT count(*), count(months) = count(*), count(placebo_months) = count(*) FROM judifair.placebos "
        "WHERE coding = 'corrected'"
    ).fetchall()
    placebos = study.connection.execute(
        "SELECT count(*) FROM queries WHERE starts_with(label, 'placebo:')"
    ).fetchall()
    assert pairs == [(placebos[0][0], True, True)]
    assert placebos[0][0] > 20


def test_the_true_term_of_a_case_is_its_own(study):
    rows = study.connection.execute(
        "SELECT DISTINCT true_penalty, true_months IS NOT NULL FROM judifair.frame WHERE coding = 'corrected'"
    ).fetchall()
    assert ("fixed_term", True) in rows
    assert all(has == (penalty == "fixed_term") for penalty, has in rows)


def test_the_check_of_own_answers_names_no_published_defect(study):
    kinds = {finding.kind for finding in check(study)}
    assert not kinds & {
        "mislabelled",
        "duplicates",
        "dropped_when_published",
        "unknown_values",
        "values_absent",
    }


def test_a_refusal_of_the_provider_is_missing_whatever_its_text(study):
    study.connection.execute("BEGIN")
    study.connection.execute(
        "INSERT INTO predictions SELECT * REPLACE "
        "(uuid() AS prediction_id, 1 AS repeat, 'refused' AS outcome) FROM predictions LIMIT 1"
    )
    study.connection.execute("COMMIT")
    code(study)
    rows = study.connection.execute(
        "SELECT coding, missing_kind FROM judifair.frame WHERE repeat = 1 ORDER BY coding"
    ).fetchall()
    assert rows in ([("corrected", "refused"), ("published", "refused")], [])
    assert study.connection.execute(
        "SELECT DISTINCT read_as, months FROM answers WHERE repeat = 1"
    ).fetchall() == [("refused", None)]
