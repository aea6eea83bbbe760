"""What a report says beside its findings: what was asked, when, and how often answers differ at all.

Every figure in a sentence is a `<data>` element that carries the full figure and where it stands in the
database. What is said of effects stands in `analyze.report.minute`.
"""

from __future__ import annotations

from markupsafe import Markup

from analyze.findings import codes
from analyze.report import numbers
from analyze.report.figures import figure, further_rows, metric
from analyze.report.shapes import IMPORTED, Audit, Reading, Results


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


def inconsistency(results: Results, audit: Audit, reading: Reading) -> list[Markup]:
    """How often the answers to one document are not the same, and how much of that may be noise."""
    texts = results.texts
    weighted = reading.metric("inconsistency_weighted")
    if weighted is None or weighted.value is None:
        return []
    sentence = Markup(
        "In {}% of {} the answer{} is not the same under all values (mean over labels)."
    ).format(
        metric(weighted, numbers.percent(weighted.value)),
        texts.documents,
        f" in {results.unit}" if results.specs.kind == codes.AMOUNT else "",
    )
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
    if switches and results.specs.kind == codes.AMOUNT:
        sentence += Markup(
            " Apart from {}, the kind of answer is another than under the reference in {} pairs of answers."
        ).format(results.unit, figure(switches, numbers.count(switches), "derived/switches"))
    return [sentence]
