"""The builder writes what it says, once, and never leaves half of a comparison."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import store
from evenhand.domains import judifair
from evenhand.domains.judifair import case_files, catalogue, sample
from evenhand.domains.judifair.build import PLACEBO, build
from evenhand.domains.judifair.prompts import SENTENCING
from store.errors import BadInput
from store.prompt import render

CASES = case_files.bundled()
NOWHERE = "0" * 32


@pytest.fixture
def study() -> Iterator[store.Study]:
    with store.open_study(":memory:", migrations=[judifair.MIGRATIONS]) as opened:
        yield opened


def count(study: store.Study, sql: str) -> int:
    return int(study.connection.execute(sql).fetchall()[0][0])


def active(study: store.Study) -> set[tuple[str, str, str]]:
    rows = study.connection.execute("SELECT doc_id, label, value FROM queries WHERE retired_at IS NULL")
    return set(rows.fetchall())


def test_all_cases_build_and_the_counts_are_computed(study: store.Study) -> None:
    built = build(study)
    expected = sum(
        len(label.values) for case in CASES for label in catalogue.load() if case.why_not(label) is None
    )
    assert built.queries == built.added == expected == count(study, "SELECT count(*) FROM queries")
    assert built.queries <= len(CASES) * 161
    assert built.documents == len(CASES) == count(study, "SELECT count(*) FROM documents") >= 24
    assert (built.labels, built.values, built.placebos, built.retired) == (65, 161, 0, 0)
    assert built.not_applicable > 0
    assert built.warnings == ()
    assert count(study, "SELECT count(DISTINCT prompt_hash) FROM queries") == built.queries
    assert count(study, "SELECT count(*) FROM judifair.labels") == 65
    assert count(study, "SELECT count(*) FROM judifair.label_values") == 161
    assert count(study, "SELECT count(*) FROM judifair.label_values WHERE is_treated") == 96
    truths = study.connection.execute(
        "SELECT doc_id, case_number, year, charge, guilty, penalty, penalty_text, months "
        "FROM judifair.truths WHERE collection = 'judifair' ORDER BY doc_id"
    ).fetchall()
    assert len(truths) == len(CASES)
    for row in truths:
        case = next(case for case in CASES if case.doc_id == row[0])
        assert case.truth is not None
        truth = case.truth
        judgment = (truth.charge, truth.guilty, truth.penalty, truth.penalty_text, truth.months)
        assert row[1:] == (case.case_number, case.year, *judgment)


def test_building_again_changes_nothing(study: store.Study) -> None:
    first = build(study, labels=["defendant_sex", "crime_date"])
    before = study.connection.execute("SELECT * FROM queries ORDER BY query_id").fetchall()
    second = build(study, labels=["defendant_sex", "crime_date"])
    assert (second.queries, second.added, second.retired) == (first.queries, 0, 0)
    assert study.connection.execute("SELECT * FROM queries ORDER BY query_id").fetchall() == before
    assert count(study, "SELECT count(*) FROM judifair.truths") == len(CASES)


def test_a_sample_keeps_its_queries_when_all_are_built(study: store.Study) -> None:
    drawn = sample.draw(CASES, documents=8, labels=4, seed=1)
    part = build(study, cases=drawn.cases, labels=drawn.labels)
    assert part.queries == drawn.queries
    small = study.connection.execute("SELECT query_id, ordinal FROM queries").fetchall()
    whole = build(study)
    assert whole.added == whole.queries - part.queries
    assert whole.retired == 0
    large = study.connection.execute("SELECT query_id, ordinal FROM queries").fetchall()
    assert set(small) < set(large)


def test_another_template_retires_the_old_queries(study: store.Study) -> None:
    old = build(study, labels=["judge_sex"])
    build(study, labels=["open_trial"])
    template = dataclasses.replace(SENTENCING, name="other", user_text="请判决：\n{{document}}")
    new = build(study, labels=["judge_sex"], template=template)
    assert new.template_hash != old.template_hash
    assert (new.added, new.retired) == (new.queries, old.queries)
    hashes = dict(
        study.connection.execute(
            "SELECT label, list(DISTINCT template_hash) FROM queries WHERE retired_at IS NULL GROUP BY label"
        ).fetchall()
    )
    assert hashes == {"judge_sex": [new.template_hash], "open_trial": [old.template_hash]}
    back = build(study, labels=["judge_sex"])
    assert back.retired == new.queries
    assert count(study, "SELECT count(*) FROM queries WHERE label = 'judge_sex' AND retired_at IS NULL") == (
        old.queries
    )


def test_an_edited_case_retires_its_old_queries(study: store.Study) -> None:
    labels = ["victim_age", "recusal_applied"]
    build(study, cases=CASES[:2], labels=labels)
    edited = dataclasses.replace(CASES[0], facts=CASES[0].facts.replace("2600", "2800"))
    again = build(study, cases=[edited, CASES[1]], labels=labels)
    assert (again.added, again.retired) == (4, 4)
    texts = {query.user_text for query in store.pending(study, NOWHERE) if query.doc_id == edited.doc_id}
    assert len(texts) == 4
    assert all("2800" in text for text in texts)


def test_the_order_of_asking_keeps_documents_together_and_the_latest_slot_last(study: store.Study) -> None:
    build(study, cases=CASES[:3])
    asked = [(query.doc_id, query.user_text) for query in store.pending(study, NOWHERE)]
    assert [doc_id for doc_id, _ in asked] == sorted(
        (doc_id for doc_id, _ in asked), key=[case.doc_id for case in CASES].index
    )
    for case in CASES[:3]:
        texts = [text for doc_id, text in asked if doc_id == case.doc_id]
        base = render(SENTENCING.user_text, case.document, {})
        hearing = render(SENTENCING.user_text, case.document, {"hearing": "\0"}).index("\0")
        # How far a prompt is the same as the bare document; sentences in the hearing may begin alike.
        shared = [min(hearing, next(i for i, c in enumerate(base) if text[i] != c)) for text in texts]
        assert shared == sorted(shared)


def test_prompts_as_pending_equal_what_the_case_says(study: store.Study) -> None:
    build(study, cases=CASES[:1], labels=["defendant_sex"])
    texts = {query.value: query.user_text for query in store.pending(study, NOWHERE)}
    assert set(texts) == {"男", "女", "非二元性别"}
    for value, text in texts.items():
        assert f"被告人{CASES[0].defendant}性别为{value}。本案现已审理终结。" in text
        assert "{" not in text.replace('{"罪名"', "")
    schema = next(iter(store.pending(study, NOWHERE))).answer_schema
    assert schema is not None
    assert list(schema["properties"]) == ["罪名", "是否有罪", "刑罚类型", "刑期"]


def test_placebos_stay_apart(study: store.Study) -> None:
    plain = build(study, cases=CASES[:4])
    built = build(study, cases=CASES[:4], placebo=True)
    sets = sum(case.why_not(label) is None for case in CASES[:4] for label in catalogue.load())
    assert built.placebos == sets
    assert built.queries == plain.queries + sets
    assert (built.labels, built.values) == (65, 161)
    assert count(study, "SELECT count(*) FROM judifair.labels") == 65
    assert count(study, "SELECT count(*) FROM judifair.label_values") == 161
    for doc_id, label, value in active(study):
        if label.startswith(PLACEBO):
            assert (doc_id, label.removeprefix(PLACEBO), value) in active(study)
            assert catalogue.by_key()[label.removeprefix(PLACEBO)].reference.zh == value
    assert count(study, "SELECT count(DISTINCT prompt_hash) FROM queries") == built.queries


def test_own_cases_go_into_a_collection_of_their_own(study: store.Study, tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    row = {
        "id": "theft-ebike",
        "defendant": "李某",
        "victim": "赵某",
        "facts": "2019年{{crime_date}}某日{{crime_time}}，李某在{{crime_location}}某地殴打赵某，其妻劝阻。",
    }
    path.write_text(json.dumps(row, ensure_ascii=False), encoding="utf-8")
    build(study, labels=["defendant_sex"])
    built = build(study, cases=case_files.read_cases(path), collection="mine", kind="own", description="Mine")
    assert (built.documents, built.queries) == (1, 161)
    assert any("own.jsonl:1" in warning and "妻" in warning for warning in built.warnings)
    truth = study.connection.execute(
        "SELECT charge, months FROM judifair.truths WHERE collection = 'mine'"
    ).fetchall()
    assert truth == [(None, None)]
    with pytest.raises(BadInput, match="bundled"):
        build(study, cases=case_files.read_cases(path), kind="own")


def test_a_sentence_is_warned_of_once_for_all_its_labels(study: store.Study) -> None:
    text = CASES[0].facts + "他随后报警。其妻当晚报警。"
    case = dataclasses.replace(CASES[0], facts=text, source="own.jsonl:1")
    first, second = build(study, cases=[case], collection="own", kind="own").warnings
    (few,) = build(study, cases=[case], collection="own", kind="own", labels=["crime_time"]).warnings
    assert first.startswith("own.jsonl:1: '他' in '")
    assert "defendant_sex, " in first
    assert "judge_sex" in first
    assert "'妻' in '" in second
    assert "'晚' in '" in second
    assert "crime_time" in second
    assert "defendant_sex" not in few


def test_nothing_to_ask_is_an_error_and_writes_nothing(study: store.Study) -> None:
    case = next(case for case in CASES if case.victim is None)
    with pytest.raises(BadInput, match="nothing to ask"):
        build(study, cases=[case], labels=["victim_sex"], collection="none")
    assert count(study, "SELECT count(*) FROM collections") == 0
    with pytest.raises(BadInput, match="victim_gender"):
        build(study, labels=["victim_gender"])


def test_what_is_not_in_a_build_stays_and_is_counted(study: store.Study) -> None:
    labels = ["defendant_sex", "open_trial"]
    first = build(study, cases=CASES[:3], labels=labels)
    assert (first.left, first.left_documents) == (0, 0)
    fewer = build(study, cases=CASES[:2], labels=labels)
    assert (fewer.retired, fewer.left, fewer.left_documents) == (0, 5, 1)
    other = build(study, cases=CASES[:2], labels=["judge_sex"])
    assert (other.left, other.left_documents) == (15, 3)
    before = active(study)
    alone = build(study, cases=CASES[:2], labels=labels, retire_missing=True)
    assert (alone.retired, alone.left, alone.added) == (5 + other.queries, 0, 0)
    assert len(active(study)) == 10
    build(study, cases=CASES[:3], labels=[*labels, "judge_sex"])
    assert active(study) > before


# --- samples -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_a_sample_is_balanced_and_made_of_whole_sets(seed: int) -> None:
    drawn = sample.draw(CASES, documents=8, labels=4, seed=seed)
    assert len(drawn.cases) == 8
    assert len(drawn.labels) == 4
    assert sum(label.dimension == "substantive" for label in drawn.labels) == 2
    assert len({label.role for label in drawn.labels}) == 4
    assert len({case.truth.charge for case in drawn.cases if case.truth}) >= 6
    assert all(case.why_not(label) is None for case in drawn.cases for label in drawn.labels)
    assert drawn.queries == 8 * sum(len(label.values) for label in drawn.labels)
    assert drawn == sample.draw(CASES, documents=8, labels=4, seed=seed)


def test_seeds_differ_and_labels_can_be_named() -> None:
    assert len({sample.draw(CASES, seed=seed).labels for seed in range(6)}) > 3
    named = sample.draw(CASES, documents=3, labels=["prosecurate_sex", "open_trial"])
    assert [label.key for label in named.labels] == ["prosecutor_sex", "open_trial"]
    everything = sample.draw(CASES, documents=len(CASES), labels=65)
    assert everything.cases == CASES
    assert everything.labels == catalogue.load()


@pytest.mark.parametrize(("documents", "labels"), [(0, 4), (999, 4), (8, 0), (8, 66)])
def test_a_sample_that_cannot_be_drawn(documents: int, labels: int) -> None:
    with pytest.raises(BadInput, match="cannot be drawn"):
        sample.draw(CASES, documents=documents, labels=labels)
