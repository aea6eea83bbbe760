"""Several models side by side: in how many a label is confirmed, and whether they may be ranked at all.

Arms are other wordings of the instructions. They stand side by side too, each with its own conclusion and its
own correction, and are never ranked among each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from analyze.findings import codes
from analyze.report import conclusions, minute, numbers
from analyze.report.conclusions import Conclusions
from analyze.report.figures import figure
from analyze.report.shapes import Audit, Results


@dataclass(frozen=True, slots=True)
class Compared:
    """One model's line in the first minute of several."""

    audit: Audit
    found: Conclusions
    names: tuple[str, ...]
    """Of the confirmed labels."""
    lines: tuple[Markup, ...]
    """What is confirmed, a sentence each."""
    detectable: float | None
    """The effect that the confirmatory test would find four times in five, the median over values."""
    pairs: int
    """Pairs compared, over all labels and values."""
    missing: float | None
    """The share of answers that hold nothing to compare."""
    pending: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """The first minute of several models."""

    conclusion: Markup
    rows: tuple[Compared, ...]
    alike: bool
    """Whether all were compared on the same pairs of one arm, so that they may be ranked."""
    notes: tuple[Markup, ...]

    def plain(self) -> tuple[str, ...]:
        """Its sentences as text; what is confirmed of each model is said in that model's own."""
        return tuple(" ".join(said.striptags().split()) for said in (self.conclusion, *self.notes))


def compare(results: Results) -> Comparison:
    """The models under their leading codings: ranked by confirmed labels where they were compared alike."""
    rows = [_compared(results, audit) for audit in results.audits]
    same = alike(results.audits)
    if same:
        rows.sort(key=lambda row: -len(row.names))
    arms = dict.fromkeys(row.audit.arm for row in rows)
    if len(arms) > 1:
        said = [
            Markup("Arm {}: {}").format(arm, _conclusion([row for row in rows if row.audit.arm == arm]))
            for arm in arms
        ]
        conclusion = Markup(" ").join(said)
    else:
        conclusion = _conclusion(rows)
    conclusion += minute.so_far(sum(row.pending for row in rows))
    return Comparison(conclusion, tuple(rows), same, tuple(_notes(results, rows)))


def ranked(results: Results) -> list[Audit]:
    """The audits with the most confirmed labels first; in the study's order where they are not alike."""
    return [row.audit for row in compare(results).rows]


def alike(audits: Sequence[Audit]) -> bool:
    """Whether all models were compared in one arm in the same labels and values, by as many pairs each."""
    bodies = {
        (
            audit.collection,
            audit.arm,
            audit.main.coding,
            tuple(
                sorted(
                    (row.label, row.value or "", row.test, row.n_compared)
                    for row in audit.main.findings
                    if row.scope == codes.VALUE
                )
            ),
        )
        for audit in audits
    }
    return len(bodies) == 1 and all(audit.main.findings for audit in audits)


def _compared(results: Results, audit: Audit) -> Compared:
    own = minute.of(results, audit, audit.main)
    found = conclusions.of(audit.main)
    designs = audit.main.designs
    rows = sum(tally.rows for tally in audit.main.tallies)
    usable = sum(tally.usable for tally in audit.main.tallies)
    return Compared(
        audit=audit,
        found=found,
        names=tuple(
            designs[one.label].name_en if one.label in designs else one.label for one in found.confirmed
        ),
        lines=tuple(line.said for line in own.confirmed),
        detectable=found.detectable,
        pairs=conclusions.pairs(audit.main),
        missing=1 - usable / rows if rows else None,
        pending=audit.pending,
    )


def _conclusion(rows: Sequence[Compared]) -> Markup:
    holding = [row for row in rows if row.names]
    models = figure(len(rows), str(len(rows)), "derived/models")
    if not any(row.found.labels for row in rows):
        return Markup("Nothing is confirmed or ruled out: no confirmatory test was made.")
    if len(rows) == 1:
        # Of an arm that one model was asked in.
        (row,) = rows
        if row.names:
            return Markup("{} confirmed to change the answers.").format(
                "1 label is" if len(row.names) == 1 else f"{len(row.names)} labels are"
            )
        if not row.found.tested:
            return Markup("nothing could be tested. {}").format(minute.NO_PROOF)
        return Markup("no effect is confirmed. {}").format(minute.NO_PROOF)
    if not holding:
        if not any(row.found.tested for row in rows):
            return Markup("In none of the {} models could anything be tested. {}").format(
                models, minute.NO_PROOF
            )
        return Markup("No effect is confirmed in any of the {} models. {}").format(models, minute.NO_PROOF)
    return Markup("In {} of {} models labels are confirmed to change the answers.").format(
        figure(len(holding), str(len(holding)), "derived/models_confirmed"), models
    )


def _notes(results: Results, rows: Sequence[Compared]) -> list[Markup]:
    said = []
    arms = dict.fromkeys(row.audit.arm for row in rows)
    by_arm = [[row.audit for row in rows if row.audit.arm == arm] for arm in arms]
    if len(arms) > 1:
        said.append(
            Markup(
                "An arm is a wording of the instructions ({}). Each is asked, analysed and corrected by "
                "itself: they are not ranked among each other, and a label that is confirmed in one arm and "
                "not in another is no proof that the wording matters."
            ).format(", ".join(arms))
        )
    if not all(alike(audits) for audits in by_arm) and any(row.found.labels for row in rows):
        pairs = sorted(row.pairs for row in rows)
        said.append(
            Markup(
                "The models are not ranked: they were not compared on the same pairs of answers ({} to {} "
                "pairs a model). Their effects on the {} that all of them have stand under Labels and models."
            ).format(
                figure(pairs[0], numbers.count(pairs[0]), "derived/least_pairs"),
                figure(pairs[-1], numbers.count(pairs[-1]), "derived/most_pairs"),
                results.texts.documents,
            )
        )
    said += _corrections(results, rows)
    if len({row.audit.model for row in rows}) > 1:
        said.append(
            Markup(
                "Models are not independent of each other: they share training texts, and here they share {}."
            ).format(results.texts.documents)
        )
    return said


def _corrections(results: Results, rows: Sequence[Compared]) -> list[Markup]:
    """Over how many labels each family of tests is corrected: those of a collection in an arm."""
    families: dict[tuple[str, str], int] = {}
    for row in rows:
        body = (row.audit.collection, row.audit.arm)
        families[body] = max(families.get(body, 0), row.found.family)
    if not any(families.values()):
        return []
    whom = "models and outcomes" if len(results.outcomes) > 1 else "models"
    counts = [figure(n, numbers.count(n), "derived/family") for n in families.values()]
    if len(families) == 1:
        return [Markup("All labels of all {} are corrected for together, {} in all.").format(whom, *counts)]
    collections, arms = ({body[i] for body in families} for i in (0, 1))
    each = [
        Markup("{}: {}").format(
            ", ".join(
                [*([collection] if len(collections) > 1 else []), *([f"arm {arm}"] if len(arms) > 1 else [])]
            ),
            count,
        )
        for (collection, arm), count in zip(families, counts, strict=True)
    ]
    several = [("collection", len(collections)), ("arm", len(arms))]
    unit = " and ".join(name for name, count in several if count > 1)
    return [
        Markup("All labels of all {} of one {} are corrected for together ({}).").format(
            whom, unit, Markup("; ").join(each)
        )
    ]
