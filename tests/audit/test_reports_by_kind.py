"""What a report of a domain without texts of its own says: the right sentence for each kind of outcome."""

from __future__ import annotations

import html
import io
import json
import re
from pathlib import Path

import pytest
from made_domains import GRANTS, KINDS, Judge, make, opened, studied
from rich.console import Console

import analyze
from analyze import report
from evenhand.audit import find, specifications

DOMAINS = Path(__file__).parents[1] / "domains"
SAID = {
    "amount": "the answer to “Size of the grant” is higher by 1,225.00 euros on average over the 60 cases "
    "compared",
    "yes_no": "the share of “yes” is higher by 35.0 percentage points (58.3% against 23.3%) over the 60 "
    "cases compared (22 to “yes”, 1 to “no”, 37 unchanged)",
    "class": "the answer changes in 21 of the 60 cases compared; most often from “refused” to “large "
    "grant”: 7, and back: 0",
    "classes": "the set of classes answered changes in 14 of the 60 cases compared; most often from visit "
    "to visit + audit: 4, and back: 0",
    "ordinal": "the class in “Grade” is higher by 0.48 steps on average over the 60 cases compared",
    "probability": "the probability in “Probability of success” is higher by 9.33 percentage points on "
    "average",
}
"""Counted from the answers of the judge by hand: `test_the_sentences_are_true` counts again."""
ERRORS = {
    "amount": "Mean error, euros",
    "yes_no": "Answers wrong, %",
    "class": "Answers wrong, %",
    "classes": "Classes wrong, %",
    "ordinal": "Mean error, steps",
    "probability": "Brier score",
}


def shown(study, specs) -> str:
    """The terminal's summary, wide enough for whole sentences."""
    out = io.StringIO()
    report.print_summary(study, specs, Console(file=out, width=400))
    return out.getvalue()


def text_of(page: Path) -> str:
    """What a reader of the page sees."""
    source = re.sub(r"<(script|style|svg)\b.*?</\1>", "", page.read_text(), flags=re.DOTALL)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", "", source)))


@pytest.mark.parametrize("kind", KINDS)
async def test_a_planted_effect_is_told_in_the_words_of_its_kind(tmp_path, kind):
    domain = make(tmp_path / "d", kind, 60)
    with opened() as study:
        await studied(study, domain, Judge(kind, moved=0.5))
        (specs,) = specifications(domain)
        analyze.run(study, specs, draws=999, audit=False)
        told = shown(study, specs)
        page = text_of(report.write_html(study, specs, tmp_path / "html"))
        report.write_tables(study, specs, tmp_path / "tables", format="csv")
    for text in (told, page):
        assert "Confirmed: the answers change with 1 of 2 labels" in text
        assert SAID[kind] in text
        assert "Town:" not in text.split("Confirmed:")[1].split("Uncorrected count")[0]
    assert ERRORS[kind] in page
    for word in ("month", "sentence", "the paper", "<b>", "</b>", *(["None"] if kind != "classes" else [])):
        assert word not in page, word
    assert not re.search(r"\bnan\b|\{\w+\}", page, re.IGNORECASE)
    assert ("The share of each class" in page) == (kind not in ("amount", "probability"))


async def test_a_report_says_that_nothing_is_confirmed(tmp_path):
    domain = make(tmp_path / "d", "class", 60)
    with opened() as study:
        await studied(study, domain, Judge("class", seed=3))
        (specs,) = specifications(domain)
        analyze.run(study, specs, draws=999, audit=False)
        assert "Confirmed: the answers change" not in shown(study, specs)


def parole_judge(query) -> str:
    """Releases every third applicant, and two women in three besides."""
    number = int(query.doc_id.split("-")[1])
    released = number % 3 == 0 or query.value == "female"
    return json.dumps({"reasons": "x", "release": "yes" if released else "no", "risk": "low"})


def courses_judge(query) -> str:
    """Takes the same course in every case, and detention where the case was broadcast in two cases of
    three."""
    number = int(query.doc_id.split("-")[1])
    harder = query.label == "broadcast" and query.value == "yes" and number % 3
    return json.dumps({"course": "detention" if harder else "caution"})


@pytest.mark.parametrize(
    ("name", "judge", "label", "said"),
    [
        (
            "parole",
            parole_judge,
            "Sex of the applicant: female instead of male",
            "the share of “yes” is higher by 66.7 percentage points (100.0% against 33.3%) over the 12 cases",
        ),
        (
            "courses",
            courses_judge,
            "yes instead of no",
            "the answer changes in 8 of the 12 cases compared; most often from “Caution” to “Detention”: "
            "8, and back: 0",
        ),
    ],
)
async def test_the_tiny_domains_go_the_whole_road(tmp_path, name, judge, label, said):
    domain = find(str(DOMAINS / name))
    with opened() as study:
        await studied(study, domain, judge)
        for specs in specifications(domain):
            analyze.run(study, specs, draws=999, audit=False)
        first = specifications(domain)[0]
        told = shown(study, first)
        page = text_of(report.write_html(study, first, tmp_path / "html"))
        for text in (told, page):
            assert f"{label}: {said}" in text
        confirmed = study.connection.execute(
            "SELECT outcome, count(*) FROM findings WHERE state = 'confirmed' AND scope = 'label' GROUP BY "
            "ALL"
        ).fetchall()
        assert confirmed == [(first.outcome, 1)]
        if name == "parole":
            assert "All are corrected for the tests of the label." in page  # nothing else varies


def test_the_sentences_are_true(tmp_path):
    """The counts above, from the judge's answers alone."""

    class Asked:
        def __init__(self, number: int, value: str) -> None:
            self.doc_id, self.label, self.value, self.repeat = f"case-{number}", "dress", value, 0

    def answers(kind: str, value: str) -> list:
        judge = Judge(kind, moved=0.5)
        return [next(iter(json.loads(judge(Asked(n, value))).values())) for n in range(60)]  # type: ignore[arg-type]

    plain, moved = answers("yes_no", "overall"), answers("yes_no", "suit")
    assert (plain.count("yes"), moved.count("yes")) == (14, 35)
    plain, moved = answers("class", "overall"), answers("class", "suit")
    assert sum(a != b for a, b in zip(plain, moved, strict=True)) == 21
    assert sum((a, b) == (GRANTS[0], GRANTS[2]) for a, b in zip(plain, moved, strict=True)) == 7
    plain, moved = answers("amount", "overall"), answers("amount", "suit")
    assert sum(b - a for a, b in zip(plain, moved, strict=True)) / 60 == 1225
    plain, moved = answers("probability", "overall"), answers("probability", "suit")
    assert round(100 * sum(b - a for a, b in zip(plain, moved, strict=True)) / 60, 2) == 9.33
