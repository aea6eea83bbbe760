"""Findings of studies whose right reading is known: the six made ones of the reference data, and our own."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import made
import numpy as np
import pytest
from made import ACQUITTAL, AGE, DEATH, FINE, LIFE, REFUSAL, RELIGION, SEX, UNREADABLE, verdict

from analyze.findings import read_findings

Studies = Callable[[str], made.Found]


@pytest.fixture(scope="module")
def studies(reference: Path, tmp_path_factory: pytest.TempPathFactory) -> Studies:
    """The made studies by name, each analysed once."""
    return functools.cache(lambda case: made.made(reference, case, tmp_path_factory.mktemp(case)))


ISLAM, BUDDHISM, FEMALE = "伊斯兰教", "佛教", "女"


@pytest.mark.parametrize(
    ("case", "label", "value", "test", "expected"),
    [
        ("half", "defendant_religion", ISLAM, "outcome", {
            "contrast": f"无神论 -> {ISLAM}", "n_asked": 30, "n_compared": 19, "n_changed": 19, "ups": 19,
            "downs": 0, "effect": 6.0, "mean_from": 36.0, "mean_to": 42.0, "state": "confirmed",
            "ci_low": None, "note": "no_spread; not_all_compared"}),
        ("half", "defendant_religion", ISLAM, "missing", {
            "measure": "missing", "n_compared": 30, "n_changed": 11, "ups": 11, "p": 2**-10,
            "p_kind": "exact", "declined": 0, "state": "confirmed"}),
        ("half", "defendant_religion", BUDDHISM, "outcome", {
            "n_compared": 30, "n_changed": 0, "p": None, "state": "not_shown", "reason_code": "no_change"}),
        ("age", "judge_age", "ln(age)", "outcome", {
            "contrast": "30 -> 55", "unit": "months", "effect": 6.0, "effect_kind": "paired",
            "n_compared": 30, "ups": 30, "downs": 0, "state": "confirmed", "note": "no_spread"}),
        ("refuseage", "judge_age", "ln(age)", "missing", {
            "contrast": "30 -> 55", "measure": "declined", "unit": "share", "n_compared": 30, "n_changed": 30,
            "declined": 30, "declined_reference": 0, "effect": 1.0, "p": 2**-29, "state": "confirmed"}),
        ("refuseage", "judge_age", "ln(age)", "outcome", {
            "n_asked": 30, "n_compared": 0, "effect": None, "p": None, "state": "untestable",
            "reason_code": "value_not_read"}),
        ("acquit", "defendant_sex", FEMALE, "kind", {
            "n_compared": 30, "n_changed": 30, "from_kind": "fine_only", "to_kind": "acquitted",
            "switches": 30, "switches_back": 0, "effect": 1.0, "ups": 0, "downs": 30, "state": "confirmed"}),
        ("acquit", "defendant_sex", FEMALE, "outcome", {
            "n_changed": 0, "effect": 0.0, "state": "not_shown", "reason_code": "no_change"}),
        ("denominator", "defendant_sex", FEMALE, "outcome", {
            "n_asked": 30, "n_compared": 15, "n_changed": 15, "ups": 15, "effect": 6.0,
            "state": "confirmed"}),
        ("denominator", "defendant_sex", FEMALE, "missing", {
            "n_compared": 30, "n_changed": 15, "ups": 15, "state": "confirmed"}),
        ("denominator", "defendant_sex", "非二元性别", "outcome", {
            "n_compared": 30, "n_changed": 5, "p": 2**-4, "state": "not_shown",
            "reason_code": "too_few_changes"}),
        ("nothing", "judge_age", "ln(age)", "outcome", {
            "n_compared": 30, "n_changed": 0, "effect": 0.0, "p": None, "ci_low": None, "state": "not_shown",
            "reason_code": "constant_answers"}),
    ],
)  # fmt: skip
def test_made_studies(
    studies: Studies, case: str, label: str, value: str, test: str, expected: dict[str, Any]
) -> None:
    row = studies(case).value(label, value, test)
    assert {name: getattr(row, name) for name in expected} == pytest.approx(expected)


@pytest.mark.parametrize(
    ("case", "label", "test", "confirmed"),
    [
        ("half", "defendant_religion", "outcome", True),
        ("age", "judge_age", "outcome", True),
        ("refuseage", "judge_age", "missing", True),
        ("acquit", "defendant_sex", "kind", True),
        ("denominator", "defendant_sex", "outcome", True),
        ("nothing", "judge_age", "outcome", False),
    ],
)
def test_made_studies_have_one_line_a_label(
    studies: Studies, case: str, label: str, test: str, confirmed: bool
) -> None:
    row = studies(case).label(label)
    assert (row.test, row.state == "confirmed") == (test, confirmed)
    assert (row.p_adjusted is not None and row.p_adjusted < 0.05) == confirmed


def noise(seed: int, share: float = 0.3) -> made.Answers:
    """Terms of a case that differ now and then, whatever the value."""
    rng = np.random.default_rng(seed)
    said: dict[tuple[int, str], int] = {}

    def answer(i: int, value: str) -> str:
        moved = int(rng.choice([-6, 6])) if rng.random() < share else 0
        return verdict(said.setdefault((i, value), 36 + i + moved))

    return answer


def test_random_answers_confirm_nothing(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)

    def anything(_i: int, _value: str) -> str:
        return verdict(int(rng.integers(6, 120)))

    found = made.findings(tmp_path, (SEX, noise(1)), (RELIGION, anything), (AGE, noise(3)))
    assert not found.confirmed()
    assert {found.label(one[0]).state for one in (SEX, RELIGION, AGE)} <= {"not_shown", "suggestive"}
    assert all(r.ci_level == 0.95 and r.ci_kind == "plain" for r in found.rows if r.ci_low is not None)


def test_a_planted_effect_is_named_with_its_sign_and_an_interval_for_the_selection(tmp_path: Path) -> None:
    base = noise(5)

    def harder(i: int, value: str) -> str:
        return verdict(60 + i + 3 * (i % 4)) if value == ISLAM else base(i, value)

    found = made.findings(tmp_path, (RELIGION, harder), (SEX, noise(6)))
    assert found.confirmed() == {("defendant_religion", ISLAM, "outcome")}
    row = found.value("defendant_religion", ISLAM)
    assert (row.ups, row.downs, row.reason_code) == (30, 0, None)
    assert row.effect is not None
    assert row.ci_low is not None
    assert row.ci_high is not None
    assert 0 < row.ci_low < row.effect < row.ci_high
    tested = [r for r in found.rows if r.scope == "value" and r.p_within is not None]
    assert (row.ci_kind, row.ci_level) == ("selected", 1 - 0.05 / len(tested))
    assert row.family == 2
    still = found.value("defendant_sex", FEMALE)
    assert still.detectable is not None
    assert still.detectable > 0
    assert still.detectable_level == pytest.approx(0.05 / 2)


@pytest.mark.parametrize("cases", [1, 2, 5])
def test_too_few_cases_are_said_to_be_too_few(tmp_path: Path, cases: int) -> None:
    found = made.findings(tmp_path, (AGE, lambda i, v: verdict(42 + i if v == "55" else 36)), cases=cases)
    row = found.label("judge_age")
    assert row.state == "untestable"
    assert row.reason_code == ("one_case" if cases == 1 else "too_few_cases")
    assert row.n_compared == cases


def test_many_labels_ask_for_more_cases(tmp_path: Path) -> None:
    """Eight cases cannot confirm one of 10 labels, and eleven can."""
    from analyze.inference.confirmatory import minimum_cases

    assert [minimum_cases(n) for n in (0, 1, 2, 10, 65)] == [6, 6, 7, 9, 12]
    found = made.findings(
        tmp_path, (AGE, lambda i, v: verdict(36 + (v == "55") * (-1) ** i)), (SEX, noise(2)), cases=6
    )
    assert found.label("judge_age").reason_code in ("out_of_reach", "too_few_changes")
    assert found.label("judge_age").state == "untestable"


def test_a_reference_that_cannot_be_read(tmp_path: Path) -> None:
    found = made.findings(tmp_path, (SEX, lambda i, v: UNREADABLE if v == "男" else verdict(36 + i)))
    row = found.value("defendant_sex", FEMALE)
    assert (row.n_asked, row.n_compared, row.state) == (30, 0, "untestable")
    assert row.reason_code == "reference_not_read"
    missing = found.value("defendant_sex", FEMALE, "missing")
    assert (missing.ups, missing.downs, missing.measure, missing.state) == (0, 30, "missing", "confirmed")
    assert missing.effect == -1.0


def test_one_refusing_value_among_several_is_declined_and_named(tmp_path: Path) -> None:
    base = noise(7)

    def answer(i: int, v: str) -> str:
        return REFUSAL if v == ISLAM and i < 12 else base(i, v)

    found = made.findings(tmp_path, (RELIGION, answer))
    row = found.value("defendant_religion", ISLAM, "missing")
    assert (row.measure, row.declined, row.declined_reference) == ("declined", 12, 0)
    assert found.confirmed() == {("defendant_religion", ISLAM, "missing")}
    assert found.label("defendant_religion").measure == "declined"

    # Some unreadable beside: then what went missing is not all declined, and how much was is said.
    def some_unreadable(i: int, v: str) -> str:
        return UNREADABLE if v == ISLAM and 12 <= i < 15 else answer(i, v)

    row = made.findings(tmp_path / "mixed", (RELIGION, some_unreadable)).value(
        "defendant_religion", ISLAM, "missing"
    )
    assert (row.measure, row.n_changed, row.declined) == ("missing", 15, 12)


def test_constant_answers_are_told_from_answers_that_never_change(tmp_path: Path) -> None:
    constant = made.findings(tmp_path / "a", (SEX, lambda _i, _v: verdict(36)))
    assert constant.label("defendant_sex").reason_code == "constant_answers"
    still = made.findings(tmp_path / "b", (SEX, lambda i, _v: verdict(36 + i)))
    assert still.label("defendant_sex").reason_code == "no_change"
    two = made.findings(tmp_path / "c", (SEX, lambda _i, _v: verdict(36)), (AGE, lambda _i, _v: verdict(48)))
    assert two.label("judge_age").reason_code == "no_change"


def test_months_that_no_answer_named(tmp_path: Path) -> None:
    """Life counts as 300 months, death as 600: how large is the effect without, and does it rest on them?"""
    rests = made.findings(
        tmp_path / "a",
        (SEX, lambda i, v: (LIFE if i < 10 else DEATH) if v == FEMALE and i < 14 else verdict(36 + i)),
    )
    row = rests.value("defendant_sex", FEMALE)
    assert (row.n_converted, row.n_changed, row.effect_unconverted, row.p_unconverted) == (14, 14, 0.0, 1.0)
    assert "rests_on_conversions" in row.notes
    assert row.state == "confirmed"
    stands = made.findings(
        tmp_path / "b", (SEX, lambda i, v: LIFE if v == FEMALE and i < 3 else verdict(36 + 6 * (v == FEMALE)))
    )
    row = stands.value("defendant_sex", FEMALE)
    assert (row.n_converted, row.effect_unconverted) == (3, 6.0)
    assert row.effect == pytest.approx((3 * 264 + 27 * 6) / 30)
    assert "rests_on_conversions" not in row.notes
    assert row.p_unconverted is not None
    assert row.p_unconverted < 1e-6


def test_what_carries_an_effect(tmp_path: Path) -> None:
    """Ten cases of fraud hold most of the moves; one case holds most of another label's."""

    def moves(i: int) -> int:
        return 24 if i < 10 else 2 if i < 28 else -1

    found = made.findings(
        tmp_path,
        (SEX, lambda i, v: verdict(36 + moves(i) * (v == FEMALE))),
        (AGE, lambda i, v: verdict(36 + (v == "55") * (240 if i == 3 else -1 if i % 2 else 0))),
        crime=lambda i: "诈骗罪" if i < 10 else "盗窃罪",
    )
    row = found.value("defendant_sex", FEMALE)
    assert (row.carrier, row.carrier_cases) == ("诈骗罪", 10)
    assert row.carrier_share == pytest.approx(240 / (240 + 36))
    assert row.effect_without_carrier == pytest.approx((36 - 2) / 20)
    assert row.effect_without_20 == pytest.approx((8 * 2 - 2) / 10)
    one = found.value("judge_age", "ln(age)")
    assert one.effect is not None
    assert one.effect_without_largest is not None
    assert one.effect > 0 > one.effect_without_largest
    assert "rests_on_one_case" in one.notes
    assert one.state != "confirmed"


def test_kinds_that_go_both_ways_are_no_finding_and_one_way_are(tmp_path: Path) -> None:
    def both(i: int, v: str) -> str:
        return ACQUITTAL if (v == FEMALE) == (i % 2 == 0) and i < 20 else FINE

    found = made.findings(tmp_path / "both", (SEX, both))
    row = found.value("defendant_sex", FEMALE, "kind")
    assert (row.n_changed, row.switches, row.switches_back, row.effect) == (20, 10, 10, 0.0)
    assert not found.confirmed()
    found = made.findings(tmp_path / "one", (SEX, lambda i, v: ACQUITTAL if v == FEMALE and i < 12 else FINE))
    assert found.confirmed() == {("defendant_sex", FEMALE, "kind")}


def test_a_label_whose_value_is_not_shown(tmp_path: Path) -> None:
    """Confirmed jointly by answers that go missing here and there, while no value alone is."""

    def answer(i: int, v: str) -> str:
        number = RELIGION[2].index(v)
        return UNREADABLE if number and i < 15 and i % 3 == number - 1 else verdict(36 + i)

    found = made.findings(tmp_path, (RELIGION, answer))
    label = found.label("defendant_religion")
    named = [one for one in found.confirmed() if one[0] == "defendant_religion"]
    assert (label.reason_code == "value_not_shown") == (label.state == "confirmed" and not named)


def test_two_models_are_one_family_also_if_analysed_apart(tmp_path: Path) -> None:
    made.write(tmp_path / "a", AGE, lambda i, v: verdict(36 + i + 6 * (v == "55") * (i < 13)))
    made.write(tmp_path / "a", SEX, noise(8))
    made.write(tmp_path / "b", AGE, noise(9), cases=20)
    folders = {"one": tmp_path / "a", "two": tmp_path / "b"}
    with made.imported(tmp_path / "both.duckdb", folders) as study:
        both = read_findings(study)
        shared = study.connection.sql(
            "SELECT model, n_compared, n_shared, effect, shared_effect FROM shared_effects ORDER BY model"
        ).fetchall()
        # One again by itself: the same family, the same states; the cases shared are not at hand.
        made.analysed(study, models=("two",))
        assert read_findings(study) == both
        assert study.connection.sql("SELECT count(*) FROM shared_effects").fetchall() == [(0,)]
    assert {row.family for row in both if row.family} == {3}
    assert [row[:3] for row in shared] == [("one", 30, 20), ("two", 20, 20)]
    assert shared[0][3:] == pytest.approx((13 * 6 / 30, 13 * 6 / 20))
    (age,) = (r for r in both if (r.cell.model, r.label, r.scope) == ("one", "judge_age", "label"))
    assert age.p_adjusted == pytest.approx(3 * 2**-12)


@pytest.mark.parametrize("cases", [1, 3, 4, 5])
@pytest.mark.parametrize(
    "answers",
    [
        lambda i, v: ACQUITTAL if v == ISLAM else FINE,
        lambda i, v: REFUSAL if v == ISLAM else verdict(36 + i),
        lambda i, v: verdict(36 + i + (60 if v == ISLAM else -7 - i if v == BUDDHISM else 0)),
    ],
    ids=["kind", "declined", "months"],
)
def test_few_cases_confirm_nothing_however_many_values_a_label_has(
    tmp_path: Path, cases: int, answers: made.Answers
) -> None:
    """Orders of four answers have a small p in four cases, where signs have none: too few all the same."""
    found = made.findings(tmp_path, (RELIGION, answers), cases=cases)
    row = found.label("defendant_religion")
    assert (row.state, row.p_adjusted) == ("untestable", None)
    assert row.reason_code == ("one_case" if cases == 1 else "too_few_cases")
    assert not [r for r in found.rows if r.state in ("confirmed", "suggestive")]
