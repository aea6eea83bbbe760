"""Counterfactual pairs are those of the study: both answers, both readings, and the text that was changed."""

from __future__ import annotations

from pathlib import Path

import pytest
from sentencing_studies import DECLINED, Made, make, verdict

import store
from analyze.counterfactual.frame import Cell
from analyze.counterfactual.pairs import Pair, Which, pairs
from analyze.specification import load
from evenhand.cli.options import specifications_path
from evenhand.domains.judifair.coding import code


def answers(case: int, value: str, label: str, repeat: int) -> str:
    del label, repeat
    if value == "55":
        return DECLINED if case % 3 == 0 else verdict(36 + 6 * (case % 3 - 1))
    return verdict(36)


def shown(study: store.Study, which: Which, limit: int = 50) -> list[Pair]:
    (row,) = study.connection.execute(
        "SELECT DISTINCT collection, model, temperature, model_key, coding, arm, outcome FROM judifair.frame "
        "WHERE coding = 'corrected'"
    ).fetchall()
    return pairs(
        study, load(specifications_path()), Cell(*row), "judge_age", "55", ["30"], which=which, limit=limit
    )


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> store.Study:
    folder: Path = tmp_path_factory.mktemp("pairs")
    study = make(Made({"m": answers}, labels=("judge_age",), cases=12), folder)
    code(study, ("corrected",), rebuild=False)
    return study


def test_changed_pairs_have_both_answers_and_both_readings(study: store.Study) -> None:
    found = shown(study, "changed")
    assert [pair.doc_id for pair in found] == ["3", "6", "9", "12"], "in the order of the cases"
    for pair in found:
        assert (pair.reference.value, pair.varied.value) == ("30", "55")
        assert (pair.reference.amount, pair.varied.amount) == (36.0, 42.0)
        assert pair.reference.text == verdict(36)
        assert pair.varied.text == verdict(42)
        assert pair.varied.missing is None
        assert pair.varied.kind == "fixed_term"


def test_a_declined_answer_is_shown_as_missing_and_never_as_a_change(study: store.Study) -> None:
    found = shown(study, "incomplete")
    assert [pair.doc_id for pair in found] == ["1", "4", "7", "10"]
    assert {pair.varied.missing for pair in found} == {"refused"}
    assert {pair.varied.text for pair in found} == {DECLINED}
    assert {pair.varied.amount for pair in found} == {None}


def test_all_pairs_are_counted_once_and_can_be_limited(study: store.Study) -> None:
    assert len(shown(study, "all")) == 12
    assert len(shown(study, "all", limit=5)) == 5
