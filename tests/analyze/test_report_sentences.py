"""Sentences of findings of any make: what carries an effect, what it rests on, which value is not shown."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from made_findings import confirmed, of_label, of_test, of_value, put
from sentencing_studies import Made, as_text, make, verdict

import analyze
import store
from analyze.findings import FindingRow, codes
from analyze.report import glossary, minute, numbers, opening, write_html, write_tables
from analyze.report.outcomes import OUTCOMES
from analyze.report.texts import Texts
from evenhand.cli.options import specifications_path
from evenhand.cli.report import command
from evenhand.domains.judifair.coding import code

HOSTILE = verdict(42) + "<script>alert('被告')</script>"


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[store.Study]:
    """A study whose findings the tests replace."""

    def answer(case: int, value: str, label: str, repeat: int) -> str:
        del label, repeat
        return HOSTILE if value == "伊斯兰教" else verdict(30 + 6 * (case % 3))

    folder = tmp_path_factory.mktemp("sentences")
    with make(Made({"m": answer}, labels=("defendant_religion", "judge_age")), folder) as made:
        code(made, ("corrected",), rebuild=False)
        analyze.run(made, specifications_path(), codings=["corrected"], audit=False, draws=999)
        yield made


def said(study: store.Study, rows: Sequence[FindingRow]) -> str:
    put(study, rows)
    return "\n".join(opening(study, specifications_path()))


def held(**parts: object) -> FindingRow:
    usual = {
        "state": codes.CONFIRMED,
        "n_changed": 25,
        "ups": 21,
        "downs": 4,
        "effect": 4.0,
        "p": 0.0001,
        "p_within": 0.0002,
        "p_adjusted": 0.0002,
        "family": 65,
    }
    return of_value(**(usual | parts))


AFTER = {"state": codes.SUGGESTIVE, "p": 0.01, "reason_code": codes.AFTER_CORRECTION}

SENTENCES: tuple[tuple[str, Callable[[], list[FindingRow]], Sequence[str], Sequence[str]], ...] = (
    (
        "what carries it",
        lambda: confirmed(
            held(
                carrier="盗窃罪", carrier_share=0.42, carrier_cases=9, effect_without_carrier=3.0,
                effect_without_largest=3.5, effect_without_20=0.52, n_changed=25,
            ),
            family=65,
        ),
        (
            "42% of it comes from 9 of 30 cases (crime 盗窃罪); without them, +3.00 months",
            "without the case that moves most, +3.50 months",
            "without the 20, of 25 changed, that move most, +0.52 months",
            "21 longer, 4 shorter, 5 unchanged",
            "p < 0.001",
            "All are corrected for 65 labels and the tests of each.",
        ),
        (),
    ),
    (
        "one crime alone carries nothing",
        lambda: confirmed(held(carrier="盗窃罪", carrier_share=1.0, carrier_cases=30)),
        (),
        ("盗窃罪", "What carries it"),
    ),
    (
        "an interval adjusted",
        lambda: confirmed(held(ci_low=0.5, ci_high=7.5, ci_level=0.99963, ci_kind=codes.SELECTED)),
        ("99.96% interval +0.50 to +7.50, adjusted for the selection",),
        ("100% interval", "100.0% interval", "reach past 0"),
    ),
    (
        "an interval past zero",
        lambda: confirmed(held(ci_low=-0.05, ci_high=5.3, ci_level=0.9995, ci_kind=codes.SELECTED)),
        ("lets it reach past 0",),
        (),
    ),
    (
        "ends of an interval that rounding would make one",
        lambda: confirmed(held(ci_low=4.0001, ci_high=4.0049, ci_level=0.95, ci_kind=codes.PLAIN)),
        ("95% interval +4.000 to +4.005",),
        ("adjusted",),
    ),
    (
        "no spread",
        lambda: confirmed(held(note=codes.NO_SPREAD, ci_low=4.0, ci_high=4.0)),
        ("all moved alike, so there is no interval",),
        ("4.00 to",),
    ),
    (
        "which value is not shown",
        lambda: confirmed(
            of_value(state=codes.SUGGESTIVE, p=0.03, effect=9.0), n_changed=14, p_adjusted=0.0498
        ),
        (
            "the sentence moves; which value moves it is not shown",
            "14 of the 30 cases compared",
            "p = 0.0498",
        ),
        ("9.00", "Islam", "p = 0.050"),
    ),
    (
        "a conversion carries it",
        lambda: confirmed(
            held(
                n_converted=4, effect_unconverted=0.2, p_unconverted=0.4, note=codes.RESTS_ON_CONVERSIONS
            )
        ),
        (
            "In 4 of 30 pairs an answer names no amount, and a rule gives it one: life counts as 300 months",
            "Without these pairs the effect is +0.20 months (p = 0.400, uncorrected).",
            "The effect rests on this conversion.",
        ),
        (),
    ),
    (
        "a conversion does not carry it",
        lambda: confirmed(held(n_converted=4, effect_unconverted=3.8, p_unconverted=0.001)),
        ("Without these pairs the effect is +3.80 months",),
        ("rests on this conversion",),
    ),
    (
        "one case carries it",
        lambda: confirmed(held(effect_without_largest=-0.1, note=codes.RESTS_ON_ONE_CASE)),
        ("It rests on one case: without it the effect vanishes or turns.",),
        (),
    ),
    (
        "a slope",
        lambda: confirmed(
            replace(
                held(label="judge_age", value="ln(age)", effect_kind=codes.SLOPE, unit="months for ln(age)"),
                contrast=None,
            )
        ),
        ("the sentence is estimated to be longer by 4.00 months for ln(age)", "by a slope"),
        ("on average",),
    ),
    (
        "a mean that does not move",
        lambda: confirmed(held(effect=0.0, ups=12, downs=12, n_changed=24)),
        ("the sentence changes, and is the same on average", "12 longer, 12 shorter, 6 unchanged"),
        ("longer by", "shorter by"),
    ),
    (
        "declined less often",
        lambda: confirmed(
            held(
                test="missing", measure=codes.DECLINED, unit=codes.SHARE, effect=-0.5,
                mean_from=0.6, mean_to=0.1, ups=1, downs=16, n_changed=17,
            )
        ),
        ("answers are declined less often, 10.0% against 60.0%", "1 only under the value, 16 only"),
        ("could not be used", "more often"),
    ),
    (
        "missing, some of it declined",
        lambda: confirmed(
            held(
                test="missing", measure=codes.MISSING, unit=codes.SHARE, effect=0.5,
                mean_from=0.0, mean_to=0.5, ups=15, downs=0, n_changed=15, declined=9, declined_reference=0,
            )
        ),
        ("answers are missing more often, 50.0% against 0.0%", "declined 9 and 0"),
        (),
    ),
    (
        "suggestive",
        lambda: [
            of_label(**AFTER, p_adjusted=0.6, family=65),
            of_test(**AFTER),
            of_value(**AFTER, effect=4.0, ups=10, downs=2, n_changed=12, detectable=5.0),
        ],
        (
            "No effect is confirmed for the one label (varied fact) tested.",
            "This is no proof of even-handedness.",
            "would find an average effect on the sentence of 5.0 months four times in five",
        ),
        ("4.00", "Islam"),
    ),
)  # fmt: skip


@pytest.mark.parametrize(("name", "rows", "says", "never"), SENTENCES, ids=[row[0] for row in SENTENCES])
def test_a_finding_is_told_with_what_it_rests_on(
    study: store.Study,
    name: str,
    rows: Callable[[], list[FindingRow]],
    says: Sequence[str],
    never: Sequence[str],
) -> None:
    del name
    text = said(study, rows())
    for words in says:
        assert words in text, text
    for words in never:
        assert words not in text, text


def test_every_code_has_its_words() -> None:
    assert set(minute.REASONS) == set(codes.REASONS)
    assert set(OUTCOMES) == {*codes.MEASURED, codes.MISSING, codes.DECLINED, codes.KIND}


def test_an_unconfirmed_value_stands_in_a_table_that_says_so(study: store.Study, tmp_path: Path) -> None:
    put(study, SENTENCES[-1][1]())
    page = write_html(study, specifications_path(), tmp_path).read_text(encoding="utf-8")
    text = as_text(page)
    at = text.index("Not confirmed: p < 0.05 taken alone.")
    assert text.index("+4.00 months") > at
    assert "None of these is a finding." in text


def test_answers_behind_a_finding_are_shown_escaped_and_can_be_left_out(
    study: store.Study, tmp_path: Path
) -> None:
    put(study, confirmed(held()))
    with_texts = write_html(study, specifications_path(), tmp_path / "a").read_text(encoding="utf-8")
    assert "<script>alert" not in with_texts
    assert "&lt;script&gt;alert(" in with_texts
    assert "<mark>Islam 伊斯兰教</mark>" in with_texts
    assert "Read as: imprisonment for a fixed term, 42 months" in with_texts
    without = write_html(study, specifications_path(), tmp_path / "b", texts=False).read_text(
        encoding="utf-8"
    )
    assert "alert(" not in without
    assert "The answers themselves" not in without
    for name in ("csv", "md", "latex", "json"):
        for path in write_tables(study, specifications_path(), tmp_path / name, format=name):
            assert "alert(" not in path.read_text(encoding="utf-8")


def test_the_command_prints_the_first_sentences_and_writes_them_as_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(case: int, value: str, label: str, repeat: int) -> str:
        del case, label, repeat
        return verdict(42 if value == "55" else 36)

    with make(Made({"m": answer}, labels=("judge_age",), cases=12), tmp_path) as made:
        code(made, ("corrected",), rebuild=False)
        analyze.run(made, specifications_path(), codings=["corrected"], audit=False, draws=999)
        first = opening(made, specifications_path())
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(
        command, ["--db", "s.duckdb", "--format", "json", "--out", "out"], catch_exceptions=False
    )
    assert done.exit_code == 0
    assert done.stdout.splitlines() == [*first, str(Path("out") / "report.json")]
    written = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    (coding,) = written["models"][0]["codings"]
    assert [line.partition(": ")[2] for line in first[:1]] == coding["minute"][:1]
    assert [line.strip() for line in first[1:]] == coding["minute"][1:]
    assert coding["findings"][0]["state"] == "confirmed"


def test_tables_of_findings_carry_every_row(study: store.Study, tmp_path: Path) -> None:
    rows = confirmed(held())
    put(study, rows)
    (first, *_) = write_tables(study, specifications_path(), tmp_path, format="csv")
    assert first.name == "findings.csv"
    assert len(first.read_text(encoding="utf-8-sig").splitlines()) == 1 + len(rows)


def test_the_glossary_explains_what_the_first_screen_uses() -> None:
    terms = " | ".join(term.term for term in glossary.terms(Texts()))
    for word in (
        "Confirmatory test", "Confirmed", "Sign flip", "Holm", "Noise floor", "Equivalence", "Coding",
        "Counterfactual", "Declined", "Pair compared", "Detectable effect", "False coverage rate",
    ):  # fmt: skip
        assert word in terms


@pytest.mark.parametrize(
    ("number", "text"), [(0.0, "0.0"), (0.04, "fewer than 0.1"), (0.05, "0.1"), (4.71, "4.7"), (None, "–")]
)
def test_what_chance_would_give_is_never_rounded_to_none(number: float | None, text: str) -> None:
    assert numbers.expected(number) == text


@pytest.mark.parametrize(
    ("low", "high", "places"), [(-1.0, 1.0, 2), (4.0001, 4.0049, 3), (0.00001, 0.00002, 5), (1.0, 1.0, 2)]
)
def test_ends_of_an_interval_are_seen_as_two(low: float, high: float, places: int) -> None:
    assert numbers.apart(low, high, 2) == places
