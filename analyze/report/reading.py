"""What the figures say, in plain words: what moved, by how much, and how sure that is.

Every figure in a sentence is a `<data>` element that carries the full figure and where it stands in the
database, so that a test (and a reader with doubts) can look it up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from analyze.report import headline, numbers, sure
from analyze.report.figures import estimate, figure, further_rows, metric, p_of
from analyze.report.shapes import Audit, Reading, Results

SHOWN = 5
"""How many effects the plain-language reading names; the table has all."""

IMPORTED = "imported"
"""The kind of a model whose answers others asked for."""


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
        effects=tuple(_effects(results, reading)),
        sure=tuple(sure.sentences(results, audit, reading)),
    )


def _moved(results: Results, audit: Audit, reading: Reading) -> list[Markup]:
    first = headline.sentences(results, audit, reading)
    return [
        *first,
        _counted(results, audit, reading, other=bool(headline.alike(results, reading))),
        *_held(results, audit, reading),
        *_inconsistency(results, audit, reading),
    ]


def _counted(results: Results, audit: Audit, reading: Reading, *, other: bool) -> Markup:
    """How many labels count as biased; `other`, where values without a p are named before."""
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
    found = sure.chance(results, audit, reading)
    clause = "" if found is None else ", more than chance alone would bring"
    if found is not None and found.p >= 0.05:
        clause = "; chance alone may well bring as many" if count else ""
    said = Markup("{}{} {} {} at p < 0.05{}.").format(of, parts, verb, texts.measure, clause)
    return said + (" The values named before have no p and are not among these." if other else "")


def _held(results: Results, audit: Audit, reading: Reading) -> list[Markup]:
    """Which labels withstand the correction for testing many."""
    sentences = []
    tests = [row for row in further_rows(results, audit, reading, "label_tests") if row["holm_p"] is not None]
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
    return sentences


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


def _effects(results: Results, reading: Reading) -> list[Markup]:
    frame, texts = results.specs.frame, results.texts
    sentences = []
    for primary in sure.significant(results, reading)[:SHOWN]:
        level = reading.estimate(primary.label, primary.value, frame.level)
        subject = headline.subject(reading, primary.label, primary.value)
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
        sentence += Markup("; p {}").format(p_of(primary))
        sentence += Markup("; {} of {} {} changed.").format(
            estimate(primary, "changers", numbers.count(primary.changers)),
            estimate(primary, "documents", numbers.count(primary.documents)),
            texts.counted(primary.documents),
        )
        sentences.append(sentence)
    return sentences


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
    first = [
        Markup('<a href="#{}">{}</a>. {}').format(audit.anchor, audit.name, sentence)
        for audit in results.audits
        for sentence in headline.sentences(results, audit, audit.main)
    ]
    if not tested:
        other = "other " if any(headline.alike(results, audit.main) for audit in results.audits) else ""
        none = Markup("No {}effect could be tested in the regression in any model.").format(other)
        return Story((*first, none), (), ())
    biased = sum(biased_share(audit.main) > 0 for audit in tested)
    moved = [
        *first,
        Markup("{} of {} models have labels that move {} at p < 0.05.").format(
            figure(biased, str(biased), "derived/models_biased"),
            figure(len(tested), str(len(tested)), "derived/models_tested"),
            results.texts.measure,
        )
    ]  # fmt: skip
    corrected = [further_rows(results, audit, audit.main, "label_tests") for audit in tested]
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
    chances = [sure.chance(results, audit, audit.main) for audit in tested]
    beyond = sum(c is not None and c.p < 0.05 for c in chances)
    how = (
        "sign flips common to all values"
        if all(c is not None and c.by_flips for c in chances)
        else "Bernoulli test at 0.05, which takes the tests as independent; they are not quite"
    )
    how_sure = [
        Markup("In {} of {} models more values fall below p = 0.05 than chance would explain ({}).").format(
            figure(beyond, str(beyond), "derived/models_beyond_chance"),
            figure(len(tested), str(len(tested)), "derived/models_tested"),
            how,
        ),
        Markup(
            "Models are not independent of each other: they share training texts, and here they share {}."
        ).format(results.texts.documents),
    ]
    return Story(tuple(moved), tuple(effects), tuple(how_sure))


def _share(audit: Audit) -> Markup:
    found = audit.main.metric("biased_labels", threshold=0.05)
    assert found is not None
    source = f"{audit.anchor}/model_metrics/biased_labels/all/0.05"
    return Markup("{} of {} labels").format(
        figure(found.value, numbers.count(found.value), f"{source}/value"),
        figure(found.n, numbers.count(found.n), f"{source}/n"),
    )
