"""How sure the findings are, in plain words: chance, intervals, what was not used, what was not asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from analyze.report import numbers
from analyze.report.figures import figure, further_rows, metric, power
from analyze.report.shapes import Audit, Estimate, ModelMetric, Reading, Results

FEW_DOCUMENTS = 30
"""Below this many documents in a regression the reading warns of it."""


def significant(results: Results, reading: Reading, threshold: float = 0.05) -> list[Estimate]:
    """The values whose p in the primary variant is below the threshold, smallest p first."""
    primary = results.specs.frame.primary
    found = [e for e in reading.estimates if e.variant == primary and e.p is not None and e.p < threshold]
    return sorted(found, key=lambda e: e.p if e.p is not None else 1.0)


def confirmed(results: Results, audit: Audit, reading: Reading) -> list[Mapping[str, Any]]:
    """The confirmatory tests that a label of the audit has, held or not."""
    return [row for row in further_rows(results, audit, reading, "label_tests") if row["holm_p"] is not None]


def doubted(results: Results, audit: Audit, reading: Reading) -> list[str]:
    """Labels that count as biased only by values in which few documents carry the effect."""
    few = {
        (row["label"], row["value"])
        for row in further_rows(results, audit, reading, "flips")
        if row["leading"] == "flip"
    }
    flags: dict[str, list[bool]] = {}
    for e in significant(results, reading):
        flags.setdefault(e.label, []).append((e.label, e.value) in few)
    return [label for label, flagged in flags.items() if all(flagged)]


def chance(results: Results, audit: Audit, reading: Reading) -> Mapping[str, Any] | None:
    """The test of how many values are significant in the primary outcome, by signs common to all of them.

    Its row has its own count: that of the variant by whose p labels are counted is another.
    """
    for row in further_rows(results, audit, reading, "global"):
        if (row["test"], row["threshold"]) == ("significant_values", 0.05) and row["p"] is not None:
            return row
    return None


def bernoulli(reading: Reading) -> ModelMetric | None:
    """The paper's test of its own count, which takes the tests as independent; None where none was tested."""
    found = reading.metric("bernoulli_p", threshold=0.05)
    return None if found is None or found.value is None or not found.n else found


def _beyond_chance(results: Results, audit: Audit, reading: Reading) -> list[Markup]:
    """Each count with the p that is its own, and what it counts."""
    texts, said = results.texts, []
    row = chance(results, audit, reading)
    if row is not None:
        at = "global_tests/significant_values/0.05"
        said.append(
            Markup(
                "{} of {} values fall below p = 0.05 by their tests in {}; {} would if nothing mattered. "
                "Were there no effect at all, that many or more would be seen with probability {} (sign "
                "flips common to all values, which allow for their dependence)."
            ).format(
                figure(row["observed"], numbers.count(row["observed"]), f"{at}/observed"),
                figure(row["n"], numbers.count(row["n"]), f"{at}/n"),
                results.unit,
                figure(row["expected"], numbers.decimal(row["expected"], 1), f"{at}/expected"),
                figure(row["p"], power(row["p"]), f"{at}/p"),
            )
        )
    values, test = reading.metric("significant_values", threshold=0.05), bernoulli(reading)
    if values is not None and values.n:
        sentence = Markup(
            "In the {} ({}), {} of {} tested values fall below p = 0.05; about {} would by chance alone."
        ).format(
            texts.counting,
            texts.variant(results.specs.frame.primary).lower(),
            metric(values, numbers.count(values.value)),
            metric(values, numbers.count(values.n), "n"),
            figure(0.05 * values.n, numbers.decimal(0.05 * values.n, 1), "derived/expected"),
        )
        if test is not None:
            sentence += Markup(
                " Bernoulli test of this count, which takes values as independent (they are not): p = {}."
            ).format(metric(test, power(test.value)))
        said.append(sentence)
    return said


def sentences(results: Results, audit: Audit, reading: Reading) -> list[Markup]:
    """Of one audit under one coding."""
    texts = results.texts
    said = _beyond_chance(results, audit, reading)
    none = not significant(results, reading)
    widest = _widest(results, reading)
    if none and widest is not None:
        ends = max(abs(widest.ci_low or 0.0), abs(widest.ci_high or 0.0))
        said.append(
            Markup(
                "This is no proof of even-handedness: the intervals leave open effects of up to {} {}."
            ).format(figure(ends, numbers.decimal(ends, 1), "derived/widest"), results.unit)
        )
    documents = [
        e.documents for e in reading.estimates if e.variant == results.specs.frame.primary and e.documents
    ]
    if documents:
        low, high = min(documents), max(documents)
        span = figure(high, numbers.count(high), "derived/most_documents")
        if low < high:
            span = Markup("{} to {}").format(figure(low, numbers.count(low), "derived/least_documents"), span)
        sentence = Markup("Each effect rests on {} {}").format(span, texts.counted(high))
        if high < FEW_DOCUMENTS:
            sentence += Markup(
                ", which is few: single p values are rough, and only large effects can be seen"
            )
        said.append(sentence + ".")
    rows, usable = sum(t.rows for t in reading.tallies), sum(t.usable for t in reading.tallies)
    if rows and rows == usable:
        whole = figure(rows, numbers.count(rows), "frame/rows")
        said.append(Markup("All {} answers could be used.").format(whole))
    elif rows:
        gone = rows - usable
        said.append(
            Markup("{} of {} answers could not be used ({}%); the section on data quality says why.").format(
                figure(gone, numbers.count(gone), "frame/missing"),
                figure(rows, numbers.count(rows), "frame/rows"),
                figure(gone / rows, numbers.percent(gone / rows), "frame/missing_share"),
            )
        )
    if audit.answered_by_several:
        names = [
            Markup("{} ({})").format(name, figure(answers, numbers.count(answers), f"returned/{name}"))
            for name, answers in audit.returned.items()
        ]
        said.append(
            Markup("More than one model answered: {}. The figures are of all of them together.").format(
                Markup(", ").join(names)
            )
        )
    if audit.asked < audit.queries:
        left = audit.queries - audit.asked
        said.append(
            Markup("{} of {} queries have not been asked yet.").format(
                figure(left, numbers.count(left), "queries/pending"),
                figure(audit.queries, numbers.count(audit.queries), "queries/built"),
            )
        )
    return said


def _widest(results: Results, reading: Reading) -> Estimate | None:
    level = [e for e in reading.estimates if e.variant == results.specs.frame.level and e.ci_low is not None]
    return max(level, key=lambda e: max(abs(e.ci_low or 0.0), abs(e.ci_high or 0.0)), default=None)
