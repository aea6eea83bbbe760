"""What the figures say, in plain words: what moved, by how much, and how sure that is.

Every figure in a sentence is a `<data>` element that carries the full figure and where it stands in the
database, so that a test (and a reader with doubts) can look it up.
"""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from analyze.report import headline, numbers, uncertainty
from analyze.report.figures import estimate, figure, further_rows, metric, p_of
from analyze.report.shapes import IMPORTED, Audit, Reading, Results

SHOWN = 5
"""How many effects the plain-language reading names; the table has all."""


@dataclass(frozen=True, slots=True)
class Story:
    """The reading of one audit: sentences for what moved and for how sure that is."""

    moved: tuple[Markup, ...]
    effects: tuple[Markup, ...]
    sure: tuple[Markup, ...]


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
        effects=tuple(effects(results, audit, reading)),
        sure=tuple(uncertainty.sentences(results, audit, reading)),
    )


def _moved(results: Results, audit: Audit, reading: Reading) -> list[Markup]:
    first = headline.sentences(results, audit, reading)
    return [
        *first,
        *_held(results, audit, reading),
        _counted(results, audit, reading, other=bool(headline.alike(results, reading))),
        *_inconsistency(results, audit, reading),
    ]


def _held(results: Results, audit: Audit, reading: Reading) -> list[Markup]:
    """Which labels withstand the correction for testing many: what is to be relied on, so it leads."""
    tests = uncertainty.confirmed(results, audit, reading)
    if not tests:
        return []
    held = [row for row in tests if row["rejected"]]
    names = [reading.designs[r["label"]].name_en for r in held if r["label"] in reading.designs]
    return [
        Markup("{} of {} {} {} {} by the confirmatory test (sign flips, corrected by Holm){}.").format(
            figure(len(held), numbers.count(len(held)), "label_tests/rejected"),
            figure(len(tests), numbers.count(len(tests)), "label_tests/tested"),
            "label" if len(tests) == 1 else "labels",
            "moves" if len(held) == 1 else "move",
            results.texts.measure,
            Markup(": {}").format(Markup(", ").join(Markup("<b>{}</b>").format(name) for name in names))
            if names
            else "",
        )
    ]


def _counted(results: Results, audit: Audit, reading: Reading, *, other: bool) -> Markup:
    """How many labels have a small p in the counting variant; `other`, where values without p came before."""
    texts, primary = results.texts, results.specs.frame.primary
    biased = reading.metric("biased_labels", threshold=0.05)
    if biased is None or not biased.n:
        notes = sorted(
            {
                e.note.split(";")[0]
                for e in reading.estimates
                if e.note and e.variant == primary and e not in headline.alike(results, reading)
            }
        )
        sentence = Markup("No {}effect could be tested in the regression.").format("other " if other else "")
        return sentence + (Markup(" Reasons given: {}.").format("; ".join(notes[:4])) if notes else "")
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
    count = Markup("{} of {} {} that could be tested{}").format(
        metric(biased, numbers.count(biased.value)),
        metric(biased, numbers.count(biased.n), "n"),
        "label" if biased.n == 1 else "labels",
        Markup(" ({})").format(Markup(", ").join(split)) if len(split) > 1 else "",
    )
    said = (
        Markup("By the uncorrected count of the {}, a value with clustered p < 0.05, it is {}.").format(
            texts.counting, count
        )
        if uncertainty.confirmed(results, audit, reading)
        else Markup("{} {} {} at p < 0.05 in the {}, uncorrected for testing many.").format(
            count, "moves" if biased.value == 1 else "move", texts.measure, texts.counting
        )
    )
    doubted = uncertainty.doubted(results, audit, reading)
    if doubted:
        said += Markup(
            " In {} of these few {} carry the effect: the clustered p is not to be trusted there, and the "
            "sign flips lead."
        ).format(figure(len(doubted), numbers.count(len(doubted)), "derived/doubted"), texts.documents)
    return said + (" The values named before have no p and are not among these." if other else "")


def _inconsistency(results: Results, audit: Audit, reading: Reading) -> list[Markup]:
    """How often the answers to one document are not the same, and how much of that may be noise."""
    texts = results.texts
    weighted = reading.metric("inconsistency_weighted")
    if weighted is None or weighted.value is None:
        return []
    sentence = Markup(
        "In {}% of {} the answer in {} is not the same under all values (mean over labels)."
    ).format(metric(weighted, numbers.percent(weighted.value)), texts.documents, results.unit)
    floors = {row["floor"]: row for row in further_rows(results, audit, reading, "noise")}
    for name, what in (("repeats", "one and the same prompt"), ("placebos", "the same in other words")):
        row = floors.get(name)
        if row is not None and row["share"] is not None:
            at = f"noise_floors/{name}"
            sentence += Markup(
                " Noise: two answers to {} differ in {}% of pairs; two to different values in {}%."
            ).format(
                what,
                figure(row["share"], numbers.percent(row["share"]), f"{at}/share"),
                figure(row["inconsistency"], numbers.percent(row["inconsistency"]), f"{at}/inconsistency"),
            )
    if "repeats" in floors and floors["repeats"]["share"] is None:
        sentence += (
            " There is no noise floor from repeats: no prompt was put twice, so how much of this the model "
            "would do without any change of facts is not known."
        )
    switches = sum(row["pairs"] for row in further_rows(results, audit, reading, "kind_switches"))
    if switches:
        sentence += Markup(
            " Apart from {}, the kind of answer is another than under the reference in {} pairs of answers."
        ).format(results.unit, figure(switches, numbers.count(switches), "derived/switches"))
    return [sentence]


def effects(results: Results, audit: Audit, reading: Reading) -> list[Markup]:
    """The significant values, smallest p first, each in a sentence."""
    frame, texts = results.specs.frame, results.texts
    sentences = []
    leading = {
        (row["label"], row["value"]): row["leading_p"]
        for row in further_rows(results, audit, reading, "flips")
        if row["leading"] == "flip"
    }
    for primary in uncertainty.significant(results, reading)[:SHOWN]:
        level = reading.estimate(primary.label, primary.value, frame.level)
        subject = headline.subject(reading, primary.label, primary.value)
        if level is None or level.coef is None:
            sentences.append(
                Markup("{}: p = {}.").format(subject, estimate(primary, "p", numbers.p_value(primary.p)))
            )
            continue
        # The direction is that of the effect whose p is shown; the mean in the unit may be another, or none.
        direction = texts.higher if (primary.coef or 0) > 0 else texts.lower
        if numbers.direction(level.coef, 2) == numbers.direction(primary.coef, None):
            sentence = Markup("{}: {} is {} by {} {} on average").format(
                subject, texts.measure, direction,
                estimate(level, "coef", numbers.decimal(abs(level.coef), 2)), results.unit,
            )  # fmt: skip
        else:
            sentence = Markup("{}: {} is {} in the {} ({} in {}), but {} {} on average").format(
                subject, texts.measure, direction, texts.counting,
                estimate(primary, "coef", numbers.signed(primary.coef, 3)),
                texts.variant(frame.primary).lower(),
                estimate(level, "coef", numbers.signed(level.coef, 2)), results.unit,
            )  # fmt: skip
        if level.ci_low is not None and level.ci_high is not None:
            sentence += Markup(" (95% interval {} to {})").format(
                estimate(level, "ci_low", numbers.signed(level.ci_low, 2)),
                estimate(level, "ci_high", numbers.signed(level.ci_high, 2)),
            )
        sentence += Markup("; p {}").format(p_of(primary))
        sentence += Markup("; {} of {} {} changed.").format(
            estimate(primary, "changers", numbers.count(primary.changers)),
            estimate(primary, "documents", numbers.count(primary.documents)),
            texts.counted(primary.documents),
        )
        flips = leading.get((primary.label, primary.value))
        if flips is not None:
            at = f"value_tests/{primary.label}/{primary.value}/leading_p"
            sentence += Markup(" As few {} carry this, the sign flips lead: p {}.").format(
                texts.documents, figure(flips, numbers.with_sign(flips), at)
            )
        sentences.append(sentence)
    return sentences


def by_chance(results: Results) -> Markup | None:
    """How many of the values that were tested would have a small p if nothing mattered."""
    tested = [
        found.n
        for audit in results.audits
        if (found := audit.main.metric("significant_values", threshold=0.05)) is not None
    ]
    if not sum(tested):
        return None
    return Markup("Of {} values tested{}, about {} would fall below 0.05 by chance alone.").format(
        figure(sum(tested), numbers.count(sum(tested)), "derived/tested"),
        " in all models" if len(results.audits) > 1 else "",
        figure(0.05 * sum(tested), numbers.decimal(0.05 * sum(tested), 1), "derived/expected"),
    )
