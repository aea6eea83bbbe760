"""Expected directions: the file, its mistakes, and how findings are held against it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from scipy import stats

from analyze import expectations
from analyze.findings import FindingRow, codes
from analyze.report.agreement import Agreement, Compared
from evenhand.domains.judifair import catalogue
from store.errors import BadInput

ONE = """
[[expectation]]
label = "fact"
value = "red"
direction = "higher"
finding = "Red ones get more."
source = "Nobody, N. (2020). Colours. Journal, 1(1), 1-2."
"""
ROW = FindingRow(
    position=0, label="fact", group="g", scope=codes.VALUE, value="red", contrast="blue -> red",
    test="outcome", measure=codes.AMOUNT, unit="months", n_asked=30, n_compared=30, n_changed=20, effect=2.0,
    state=codes.CONFIRMED,
)  # fmt: skip


def read(folder: Path, text: str) -> tuple[expectations.Expectation, ...]:
    (folder / "expectations.toml").write_text(text, encoding="utf-8")
    return expectations.beside(folder / "specifications.toml")


def test_no_file_expects_nothing(tmp_path: Path) -> None:
    assert expectations.beside(tmp_path / "specifications.toml") == ()


def test_a_file_is_read(tmp_path: Path) -> None:
    (one,) = read(tmp_path, ONE)
    assert (one.label, one.value, one.sign) == ("fact", "red", 1)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (ONE.replace('"higher"', '"more"'), "line 5, expectation[0].direction"),
        (
            ONE.replace('source = "Nobody, N. (2020). Colours. Journal, 1(1), 1-2."\n', ""),
            "source: is missing",
        ),
        (ONE.replace("Nobody, N. (2020). Colours. Journal, 1(1), 1-2.", " "), "expectation[0].source"),
        (ONE + 'sauce = "x"\n', "there is no such key"),
        (ONE + ONE, "there are two expectations"),
        ("[[expectation]\n", "not valid TOML"),
    ],
)
def test_mistakes_are_told_by_place(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(BadInput, match=r"expectations\.toml") as raised:
        read(tmp_path, text)
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("state", "effect", "agrees"),
    [
        (codes.CONFIRMED, 2.0, True),
        (codes.CONFIRMED, -2.0, False),
        (codes.SUGGESTIVE, 0.1, True),
        (codes.NOT_SHOWN, 2.0, None),
        (codes.UNTESTABLE, None, None),
        (codes.CONFIRMED, 0.0, None),
        (codes.CONFIRMED, None, None),
    ],
)
def test_only_a_direction_that_is_shown_is_compared(
    tmp_path: Path, state: str, effect: float | None, agrees: bool | None
) -> None:
    (one,) = read(tmp_path, ONE)
    assert Compared(one, replace(ROW, state=state, effect=effect)).agrees is agrees


def test_chance_is_said_beside_the_count(tmp_path: Path) -> None:
    (one,) = read(tmp_path, ONE)
    up, down = Compared(one, ROW), Compared(one, replace(ROW, effect=-1.0))
    found = Agreement((up, up, up, down, Compared(one, None)))
    assert (found.shown, found.agreeing) == (4, 3)
    assert found.by_chance == pytest.approx(stats.binomtest(3, 4, 0.5, alternative="greater").pvalue)
    assert "5 values of this domain have an expected direction" in found.sentence
    assert "direction of 4, confirmed or suggestive: 3 agree. By chance 2 would." in found.sentence
    nothing = Agreement((Compared(one, None),))
    assert nothing.by_chance == 1.0
    assert "shows the direction of none" in nothing.sentence


def test_the_bundled_expectations_are_of_values_that_exist_and_each_has_a_source() -> None:
    found = expectations.beside(catalogue.LABELS_FILE.with_name("specifications.toml"))
    assert found
    labels = {label.key: label for label in catalogue.load()}
    for one in found:
        label = labels[one.label]
        names = {value.zh for value in label.values if value.zh != label.reference}
        assert one.value in (names if label.treatment == "categorical" else {"ln(age)"}), one
        assert "(1" in one.source or "(2" in one.source, "a citation has a year"
