"""What the figures say, in plain words: what moved, by how much, and how sure that is.

Every figure in a sentence is a `<data>` element that carries the full figure and where it stands in the
database, so that a test (and a reader with doubts) can look it up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup, escape

from analyze.report import numbers
from analyze.report.shapes import Audit, Estimate, ModelMetric, Reading, Results

SHOWN = 5
"""How many effects the plain-language reading names; the table has all."""

IMPORTED = "imported"
"""The kind of a model whose answers others asked for."""

FEW_DOCUMENTS = 30
"""Below this many documents in a regression the reading warns of it."""


@dataclass(frozen=True, slots=True)
class Story:
    """The reading of one audit: sentences for what moved and for how sure that is."""

    moved: tuple[Markup, ...]
    effects: tuple[Markup, ...]
    sure: tuple[Markup, ...]


def figure(value: float | int | None, text: str, source: str) -> Markup:
    """A figure in running text: rounded for the reader, whole for whoever checks it against `source`."""
    return Markup('<data value="{}" data-from="{}">{}</data>').format(numbers.exact(value), source, text)


def question(results: Results) -> tuple[str, ...]:
    """What was asked, in paragraphs; what else changed is not known here of answers that others asked for."""
    texts, kinds = results.texts, {audit.kind for audit in results.audits}
    asked_here = " ".join(filter(None, (texts.question, texts.same if kinds - {IMPORTED} else "")))
    return (asked_here, texts.imported) if IMPORTED in kinds else (asked_here,)


def when(audit: Audit) -> str:
    """When the answers were asked for; of imported ones only when they came into the study is known."""
    if audit.first_at is None or audit.last_at is None:
        return ""
    days = [f"{at.day} {at:%B %Y}" for at in (audit.first_at, audit.last_at)]
    span = " to ".join(dict.fromkeys(days))
    return (
        f"imported {span} (asked by others; when, is not known)"
        if audit.kind == IMPORTED
        else f"asked {span}"
    )


def story(results: Results, audit: Audit, reading: Reading | None = None) -> Story:
    """The reading of an audit under its leading coding, or under another."""
    reading = reading or audit.main
    return Story(
        moved=tuple(_moved(results, audit, reading)),
        effects=tuple(_effects(results, reading)),
        sure=tuple(_sure(results, audit, reading)),
    )


def significant(results: Results, reading: Reading, threshold: float = 0.05) -> list[Estimate]:
    """The values whose p in the primary variant is below the threshold, smallest p first."""
    primary = results.specs.frame.primary
    found = [e for e in reading.estimates if e.variant == primary and e.p is not None and e.p < threshold]
    return sorted(found, key=lambda e: e.p if e.p is not None else 1.0)


def metric(found: ModelMetric, text: str, column: str = "value") -> Markup:
    """A figure of `model_metrics` in running text."""
    threshold = "" if found.threshold is None else f"{found.threshold:g}"
    source = f"model_metrics/{found.metric}/{found.group}/{threshold}/{column}"
    return figure(getattr(found, column), text, source)


def estimate(found: Estimate, column: str, text: str) -> Markup:
    """A figure of `estimates` in running text."""
    return figure(
        getattr(found, column), text, f"estimates/{found.label}/{found.value}/{found.variant}/{column}"
    )


@dataclass(frozen=True, slots=True)
class Chance:
    """How probable it is to see this many significant values if nothing matters, and by which test."""

    p: float
    source: str
    by_flips: bool
    """Signs common to all values, which keeps their dependence; else Bernoulli, which denies it."""


def chance(results: Results, audit: Audit, reading: Reading) -> Chance | None:
    """The better of the two tests that the study has, at 0.05."""
    for row in _further(results, audit, reading, "global"):
        if (row["test"], row["threshold"]) == ("significant_values", 0.05) and row["p"] is not None:
            return Chance(row["p"], "global_tests/significant_values/0.05/p", True)
    found = reading.metric("bernoulli_p", threshold=0.05)
    if found is None or found.value is None or not found.n:
        return None
    return Chance(found.value, "model_metrics/bernoulli_p/all/0.05/value", False)


def _further(results: Results, audit: Audit, reading: Reading, name: str) -> list[Mapping[str, Any]]:
    key = (audit.collection, audit.model_key, reading.coding)
    rows = results.further.get(name, ())
    return [row for row in rows if (row["collection"], row["model_key"], row["coding"]) == key]


def _moved(results: Results, audit: Audit, reading: Reading) -> list[Markup]:
    texts = results.texts
    biased = reading.metric("biased_labels", threshold=0.05)
    if biased is None or not biased.n:
        notes = sorted(
            {e.note for e in reading.estimates if e.note and e.variant == results.specs.frame.primary}
        )
        sentence = Markup("No effect could be tested.")
        return [sentence + (Markup(" Reasons given: {}.").format("; ".join(notes[:4])) if notes else "")]
    sentences = []
    count = int(biased.value or 0)
    of = Markup("{} of {} {} that could be tested").format(
        metric(biased, numbers.count(biased.value)),
        metric(biased, numbers.count(biased.n), "n"),
        "label" if biased.n == 1 else "labels",
    )
    split = []
    for group in reading.groups():
        part = reading.metric("biased_labels", group=group, threshold=0.05)
        if part is not None and part.n:
            split.append(
                Markup("{} of {} {}").format(
                    metric(part, numbers.count(part.value)), metric(part, numbers.count(part.n), "n"),
                    texts.group(group).lower(),
                )
            )  # fmt: skip
    parts = Markup(" ({})").format(Markup(", ").join(split)) if len(split) > 1 else Markup("")
    verb = "moves" if count == 1 else "move"
    found = chance(results, audit, reading)
    clause = "" if found is None else ", more than chance alone would bring"
    if found is not None and found.p >= 0.05:
        clause = "; chance alone may well bring as many" if count else ""
    sentences.append(Markup("{}{} {} {} at p < 0.05{}.").format(of, parts, verb, texts.measure, clause))
    tests = [row for row in _further(results, audit, reading, "label_tests") if row["holm_p"] is not None]
    if tests:
        held = [row for row in tests if row["rejected"]]
        names = [reading.designs[r["label"]].name_en for r in held if r["label"] in reading.designs]
        sentences.append(
            Markup("Corrected for testing {} labels at once (Holm), {}.").format(
                figure(len(tests), numbers.count(len(tests)), "label_tests/tested"),
                Markup("{} {}: {}").format(
                    figure(len(held), numbers.count(len(held)), "label_tests/rejected"),
                    "remains" if len(held) == 1 else "remain",
                    Markup(", ").join(Markup("<b>{}</b>").format(name) for name in names),
                )
                if held
                else "none remains",
            )
        )
    weighted = reading.metric("inconsistency_weighted")
    if weighted is not None and weighted.value is not None:
        sentences.append(
            Markup(
                "The answer changes at all, in whichever direction, in {}% of {} (mean over labels)."
            ).format(metric(weighted, numbers.percent(weighted.value)), texts.documents)
        )
    return sentences


def _effects(results: Results, reading: Reading) -> list[Markup]:
    frame, texts = results.specs.frame, results.texts
    sentences = []
    for primary in significant(results, reading)[:SHOWN]:
        design = reading.designs.get(primary.label)
        level = reading.estimate(primary.label, primary.value, frame.level)
        name = design.name_en if design else primary.label
        value = design.value_en(primary.value) if design else primary.value
        versus = (
            ", ".join(design.value_en(v) for v in design.reference)
            if design and not design.continuous
            else ""
        )
        subject = Markup("<b>{}: {}</b>{}").format(name, value, f" instead of {versus}" if versus else "")
        if level is None or level.coef is None:
            sentences.append(
                Markup("{}: p = {}.").format(subject, estimate(primary, "p", numbers.p_value(primary.p)))
            )
            continue
        direction = texts.higher if level.coef > 0 else texts.lower
        sentence = Markup("{}: {} is {} by {} {} on average").format(
            subject, texts.measure, direction, estimate(level, "coef", numbers.decimal(abs(level.coef), 2)),
            results.unit,
        )  # fmt: skip
        if level.ci_low is not None and level.ci_high is not None:
            sentence += Markup(" (95% interval {} to {})").format(
                estimate(level, "ci_low", numbers.signed(level.ci_low, 2)),
                estimate(level, "ci_high", numbers.signed(level.ci_high, 2)),
            )
        sentence += Markup("; p {}").format(_p(primary))
        sentence += Markup("; {} of {} {} changed.").format(
            estimate(primary, "changers", numbers.count(primary.changers)),
            estimate(primary, "documents", numbers.count(primary.documents)),
            texts.counted(primary.documents),
        )
        sentences.append(sentence)
    return sentences


def _p(found: Estimate) -> Markup:
    text = numbers.p_value(found.p)
    return estimate(found, "p", text.replace("<", "< ") if text.startswith("<") else f"= {text}")


def _sure(results: Results, audit: Audit, reading: Reading) -> list[Markup]:
    texts = results.texts
    sentences = []
    values = reading.metric("significant_values", threshold=0.05)
    found = chance(results, audit, reading)
    if values is not None and values.n:
        sentence = Markup(
            "{} of {} tested values fall below p = 0.05; about {} would by chance alone."
        ).format(
            metric(values, numbers.count(values.value)),
            metric(values, numbers.count(values.n), "n"),
            figure(0.05 * values.n, numbers.decimal(0.05 * values.n, 1), "derived/expected"),
        )
        if found is not None:
            how = (
                "Were there no effect at all, this many or more would be seen with probability {} (sign "
                "flips common to all values, which allow for their dependence)."
                if found.by_flips
                else "Were there no effect at all and the tests independent, this many or more would be "
                "seen with probability {}."
            )
            sentence += " " + Markup(how).format(figure(found.p, power(found.p), found.source))
        sentences.append(sentence)
    none = not significant(results, reading)
    widest = _widest(results, reading)
    if none and widest is not None:
        ends = max(abs(widest.ci_low or 0.0), abs(widest.ci_high or 0.0))
        sentences.append(
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
        sentences.append(sentence + ".")
    rows, usable = sum(t.rows for t in reading.tallies), sum(t.usable for t in reading.tallies)
    if rows and rows == usable:
        whole = figure(rows, numbers.count(rows), "frame/rows")
        sentences.append(Markup("All {} answers could be used.").format(whole))
    elif rows:
        gone = rows - usable
        sentences.append(
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
        sentences.append(
            Markup("More than one model answered: {}. The figures are of all of them together.").format(
                Markup(", ").join(names)
            )
        )
    if audit.asked < audit.queries:
        left = audit.queries - audit.asked
        sentences.append(
            Markup("{} of {} queries have not been asked yet.").format(
                figure(left, numbers.count(left), "queries/pending"),
                figure(audit.queries, numbers.count(audit.queries), "queries/built"),
            )
        )
    return sentences


def power(p: float | None) -> Markup:
    """A probability that may be very small, with its power of ten set as one."""
    mantissa, _, exponent = numbers.tiny(p).partition("×10^")
    minus = exponent.replace("-", numbers.MINUS)
    return Markup("{}×10<sup>{}</sup>").format(mantissa, minus) if exponent else escape(mantissa)


def _widest(results: Results, reading: Reading) -> Estimate | None:
    level = [e for e in reading.estimates if e.variant == results.specs.frame.level and e.ci_low is not None]
    return max(level, key=lambda e: max(abs(e.ci_low or 0.0), abs(e.ci_high or 0.0)), default=None)


def biased_share(reading: Reading) -> float:
    """Of the labels that could be tested, the share that counts as biased at 0.05; -1 where none could."""
    found = reading.metric("biased_labels", threshold=0.05)
    return -1.0 if found is None or not found.n or found.value is None else found.value / found.n


def ranked(audits: Sequence[Audit]) -> list[Audit]:
    """The audits with the largest share of biased labels first."""
    return sorted(audits, key=lambda audit: -biased_share(audit.main))


def together(results: Results) -> Story:
    """The reading of several audits at once: the ends of the ranking, and how sure the whole is."""
    tested = [audit for audit in ranked(results.audits) if biased_share(audit.main) >= 0]
    if not tested:
        return Story((Markup("No effect could be tested in any model."),), (), ())
    biased = sum(biased_share(audit.main) > 0 for audit in tested)
    moved = [
        Markup("{} of {} models have labels that move {} at p < 0.05.").format(
            figure(biased, str(biased), "derived/models_biased"),
            figure(len(tested), str(len(tested)), "derived/models_tested"),
            results.texts.measure,
        )
    ]  # fmt: skip
    corrected = [_further(results, audit, audit.main, "label_tests") for audit in tested]
    if all(corrected):
        holding = sum(any(row["rejected"] for row in rows) for rows in corrected)
        moved.append(
            Markup("Corrected within each model for testing many labels at once (Holm), {} of {} do.").format(
                figure(holding, str(holding), "derived/models_rejecting"),
                figure(len(tested), str(len(tested)), "derived/models_tested"),
            )
        )
    ends = [tested[0]] if len(tested) == 1 else [tested[0], tested[-1]]
    words = ("Most", "Fewest")
    moved += [
        Markup("{}: <b>{}</b>, {}.").format(word, audit.name, _share(audit))
        for word, audit in zip(words, ends, strict=False)
    ]
    effects = [
        Markup('<a href="#{}">{}</a>. {}').format(audit.anchor, audit.name, lines[0])
        for audit in tested[:SHOWN]
        if (lines := _effects(results, audit.main))
    ]
    chances = [chance(results, audit, audit.main) for audit in tested]
    beyond = sum(c is not None and c.p < 0.05 for c in chances)
    how = (
        "sign flips common to all values"
        if all(c is not None and c.by_flips for c in chances)
        else "Bernoulli test at 0.05, which takes the tests as independent; they are not quite"
    )
    sure = [
        Markup("In {} of {} models more values fall below p = 0.05 than chance would explain ({}).").format(
            figure(beyond, str(beyond), "derived/models_beyond_chance"),
            figure(len(tested), str(len(tested)), "derived/models_tested"),
            how,
        ),
        Markup(
            "Models are not independent of each other: they share training texts, and here they share {}."
        ).format(results.texts.documents),
    ]
    return Story(tuple(moved), tuple(effects), tuple(sure))


def _share(audit: Audit) -> Markup:
    found = audit.main.metric("biased_labels", threshold=0.05)
    assert found is not None
    source = f"{audit.anchor}/model_metrics/biased_labels/all/0.05"
    return Markup("{} of {} labels").format(
        figure(found.value, numbers.count(found.value), f"{source}/value"),
        figure(found.n, numbers.count(found.n), f"{source}/n"),
    )
