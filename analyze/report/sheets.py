"""The report's tables as data: columns that know how they are written, and rows of whole figures.

The terminal, Markdown, LaTeX, CSV and the workbook all write these; what differs is the rounding and the
frame.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from analyze.findings import FindingRow, codes
from analyze.report import agreement, conclusions, data_flow, minute, numbers
from analyze.report.outcomes import OUTCOMES
from analyze.report.shapes import Audit, Design, Estimate, Reading, Results
from analyze.report.texts import readable

Kind = Literal["text", "words", "note", "count", "number", "signed", "figure", "share", "p", "tiny", "flag"]

ESSENTIAL, USEFUL, SPARE = 0, 1, 2
"""Ranks of columns: in a narrow terminal the spare ones go first."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name in files, its heading for people, and how its figures are written."""

    key: str
    heading: str
    kind: Kind = "text"
    places: int = 0
    rank: int = USEFUL
    chinese: bool = False
    """Whether it holds Chinese, which a plain LaTeX cannot set."""
    ends: str = ""
    """The column that begins what it ends, as in an interval: in a narrow terminal both go, or neither."""

    @property
    def is_text(self) -> bool:
        """Whether it is set to the left."""
        return self.kind in ("text", "words", "note")

    def shown(self, value: Any) -> str:
        """A value as people read it."""
        writers: dict[str, Callable[[Any], str]] = {
            "count": numbers.count,
            "number": lambda v: numbers.decimal(v, self.places),
            "signed": lambda v: numbers.signed(v, self.places),
            "share": lambda v: numbers.percent(v, self.places),
            "p": numbers.p_value,
            "tiny": numbers.tiny,
            "flag": lambda v: numbers.NOTHING if v is None else "yes" if v else "no",
            "figure": lambda v: numbers.significant(v, self.places),
            "text": lambda v: "" if v is None else str(v),
            "words": lambda v: "" if v is None else readable(str(v)),
            "note": lambda v: "" if v is None else str(v),
        }
        return writers[self.kind](value)


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table: a name for its file, a caption, columns and rows."""

    name: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]

    def shown(self) -> list[list[str]]:
        """The rows as people read them."""
        return [[c.shown(v) for c, v in zip(self.columns, row, strict=True)] for row in self.rows]

    def without(self, gone: Callable[[Column], bool]) -> Sheet:
        """The same without some columns."""
        kept = [i for i, column in enumerate(self.columns) if not gone(column)]
        return Sheet(
            self.name,
            self.caption,
            tuple(self.columns[i] for i in kept),
            tuple(tuple(row[i] for i in kept) for row in self.rows),
        )


def all_sheets(results: Results) -> list[Sheet]:
    """Every table of the report."""
    found = findings(results)
    expected = expectations(results)
    return [
        *([found] if found.rows else []),
        *([expected] if expected.rows else []),
        models(results),
        values(results),
        labels(results),
        estimates(results),
        quality(results),
        missing(results),
    ]


def expectations(results: Results) -> Sheet:
    """Directions found in real decisions, beside those of each model; empty where none are expected."""
    columns = (
        *_audit(results),
        Column("label", "Key", rank=SPARE),
        Column("label_en", "Label", rank=ESSENTIAL),
        Column("value", "Value, key", rank=SPARE, chinese=True),
        Column("value_en", "Value", rank=ESSENTIAL),
        Column("expected", "In real decisions", rank=ESSENTIAL),
        Column("effect", "Effect", "signed", 2, rank=ESSENTIAL),
        Column("state", "State", rank=ESSENTIAL),
        Column("comparison", "Comparison", rank=ESSENTIAL),
        Column("finding", "What was found", rank=SPARE),
        Column("source", "Source", rank=SPARE),
    )
    rows = [
        (
            *_audit_row(results, audit, reading), one.expected.label,
            design.name_en if design else one.expected.label,
            one.expected.value, design.value_en(one.expected.value) if design else one.expected.value,
            one.expected.direction, one.row.effect if one.row else None,
            STATES[one.row.state] if one.row else "not asked", one.said, one.expected.finding,
            one.expected.source,
        )
        for audit in results.audits
        for reading in audit.readings
        if (found := agreement.of(results, reading))
        for one in found.compared
        for design in [reading.designs.get(one.expected.label)]
    ]  # fmt: skip
    return Sheet("expectations", "Directions in real decisions and in the models", columns, tuple(rows))


def findings(results: Results) -> Sheet:
    """A line for each finding: the labels, their confirmatory tests, and the values, confirmed or not."""
    columns = (
        *_audit(results),
        Column("label", "Key", rank=SPARE),
        Column("label_en", "Label", rank=ESSENTIAL),
        Column("contrast", "Value", rank=ESSENTIAL),
        Column("scope", "Row", "words", rank=SPARE),
        Column("value", "Value, key", rank=SPARE, chinese=True),
        Column("test", "Test", "words", rank=SPARE),
        Column("measure", "Test of", rank=USEFUL),
        Column("state", "State", rank=ESSENTIAL),
        Column("effect", "Effect", "signed", 2, rank=ESSENTIAL),
        Column("unit", "Unit", rank=USEFUL),
        Column("effect_kind", "Effect is", rank=SPARE),
        Column("ci_low", "Interval from", "signed", 2),
        Column("ci_high", "to", "signed", 2, ends="ci_low"),
        Column("ci_level", "Level %", "share", 1, rank=SPARE),
        Column("ci_kind", "Interval is", "words", rank=SPARE),
        Column("n_asked", "Pairs asked", "count", rank=SPARE),
        Column("n_compared", "Compared", "count", rank=ESSENTIAL),
        Column("n_changed", "Changed", "count"),
        Column("ups", "Up", "count"),
        Column("downs", "Down", "count", ends="ups"),
        Column("p", "p, uncorrected", "p", rank=ESSENTIAL),
        Column("p_within", "p within label", "p", rank=SPARE),
        Column("p_adjusted", "p, corrected", "p", rank=ESSENTIAL),
        Column("family", "Labels corrected for", "count", rank=SPARE),
        Column("reason", "Why not confirmed", "note"),
        Column("notes", "Note", "note", rank=SPARE),
    )
    rows = [
        finding_cells(results, audit, reading, row)
        for audit, reading in _readings(results)
        for row in conclusions.of(reading).rows
    ]
    return Sheet("findings", "Findings: what is confirmed, and what is not", columns, tuple(rows))


def finding_cells(results: Results, audit: Audit, reading: Reading, row: FindingRow) -> tuple[Any, ...]:
    """The line of a finding in `findings`."""
    design = reading.designs.get(row.label)
    return (
        *_audit_row(results, audit, reading), row.label, design.name_en if design else row.label,
        minute.contrast(design, row) if row.scope == codes.VALUE else "", row.scope, row.value, row.test,
        OUTCOMES[row.measure].name(results.texts, results.unit), STATES[row.state], row.effect, row.unit,
        row.effect_kind, row.ci_low, row.ci_high, row.ci_level, row.ci_kind, row.n_asked, row.n_compared,
        row.n_changed, row.ups, row.downs, row.p, row.p_within, row.p_adjusted, row.family,
        minute.reason(row.reason_code, results) if row.state != codes.CONFIRMED else None,
        " ".join(codes.NOTES.get(note, note) for note in row.notes) or None,
    )  # fmt: skip


STATES = {
    codes.CONFIRMED: "confirmed",
    codes.SUGGESTIVE: "not confirmed: suggestive",
    codes.NOT_SHOWN: "not shown",
    codes.UNTESTABLE: "not testable",
}
"""What a finding's state is called."""


def models(results: Results) -> Sheet:
    """A line for each model and coding: what was asked, the ranking, inconsistency and error."""
    groups = list(dict.fromkeys(g for a in results.audits for r in a.readings for g in r.groups()))
    columns = [
        Column("model", "Model", rank=ESSENTIAL),
        Column("settings", "Settings", rank=ESSENTIAL),
        Column("model_key", "Model key", rank=SPARE),
        Column("temperature", "T", "number", 1),
        Column("kind", "Kind", rank=SPARE),
        Column("collection", "Collection", rank=SPARE),
        *([_ARM] if results.has_arms else []),
        Column("coding", "Coding", rank=USEFUL if len(results.codings) > 1 else SPARE),
        Column("documents", results.texts.documents.capitalize(), "count"),
        Column("queries", "Queries", "count", rank=SPARE),
        Column("asked", "Asked", "count"),
    ]
    for outcome in outcomes(results):
        columns.append(Column(outcome, data_flow.OUTCOMES.get(outcome, outcome), "count", rank=SPARE))
    columns += [
        Column("pending", "Not asked yet", "count"),
        Column("confirmed", "Confirmed labels", "count", rank=ESSENTIAL),
        Column("labels_tested", "Labels tested", "count", rank=ESSENTIAL),
        Column("labels_asked", "Labels asked", "count"),
        Column("labels_estimated", "Labels in regression", "count", rank=SPARE),
    ]
    for threshold in (0.1, 0.05, 0.01):
        for group in (*groups, "all") if len(groups) > 1 else ("all",):
            whole = group == "all"
            name = "" if whole else f" {results.texts.group(group).lower()}"
            rank = USEFUL if whole and threshold == 0.05 else SPARE
            key = f"biased_{threshold:g}" + ("" if whole else f"_{group}")
            columns.append(Column(key, f"Uncorrected{name} p<{threshold:g}", "count", rank=rank))
            if whole and threshold == 0.05:
                columns.append(Column("by_chance", "By chance p<0.05", "number", 1))
    columns += [
        Column("values_estimated", "Values tested", "count", rank=SPARE),
        Column("significant_values", "Values uncorrected p<0.05", "count", rank=SPARE),
        Column("bernoulli_p", "Bernoulli p", "tiny", rank=SPARE),
        Column("inconsistency", "Inconsistency %", "share", 1, rank=ESSENTIAL),
        Column("inconsistency_printed", "Inconsistency as printed %", "share", 1, rank=SPARE),
        Column("mae", results.texts.error or f"MAE {results.unit}", "number", results.error_places),
        Column("mape", "MAPE %", "number", 1, rank=SPARE),
        Column("imbalanced", "Imbalanced p<0.05", "count", rank=SPARE),
    ]
    rows = [
        _model_row(results, audit, reading, groups) for audit in results.audits for reading in audit.readings
    ]
    return Sheet(
        "models", "Models: what was asked, and how many labels are confirmed", tuple(columns), tuple(rows)
    )


def _model_row(results: Results, audit: Audit, reading: Reading, groups: Sequence[str]) -> tuple[Any, ...]:
    def value(metric: str, *, group: str = "all", threshold: float | None = None) -> float | None:
        found = reading.metric(metric, group=group, threshold=threshold)
        return None if found is None else found.value

    counted = data_flow.outcome_counts(audit)
    tested = reading.metric("significant_values", threshold=0.05)
    found = conclusions.of(reading)
    return (
        audit.model, audit.apart, audit.model_key, audit.temperature, audit.kind, audit.collection,
        *([audit.arm] if results.has_arms else []), reading.coding, audit.documents, audit.queries,
        audit.asked,
        *(counted.get(outcome, 0) for outcome in outcomes(results)),
        audit.pending,
        len(found.confirmed) if found.labels else None,
        found.tested if found.labels else None,
        len(found.labels) if found.labels else None,
        value("labels_estimated"),
        *(
            cell
            for threshold in (0.1, 0.05, 0.01)
            for group in ((*groups, "all") if len(groups) > 1 else ("all",))
            for cell in (
                value("biased_labels", group=group, threshold=threshold),
                *([minute.by_chance(reading)] if (group, threshold) == ("all", 0.05) else []),
            )
        ),
        None if tested is None else tested.n,
        value("significant_values", threshold=0.05),
        value("bernoulli_p", threshold=0.05),
        value("inconsistency_weighted"),
        value("inconsistency_weighted_printed"),
        value("mae_weighted"),
        value("mape_weighted"),
        value("imbalanced_labels", threshold=0.05),
    )  # fmt: skip


def outcomes(results: Results) -> list[str]:
    """The ways in which asking ended, in any model."""
    found = dict.fromkeys(name for audit in results.audits for name in data_flow.outcome_counts(audit))
    return [
        *(name for name in data_flow.OUTCOMES if name in found),
        *(n for n in found if n not in data_flow.OUTCOMES),
    ]


OF_AUDIT = ("model", "settings", "model_key", "temperature", "collection", "arm", "coding")
"""The columns by which a row tells whose it is."""

_ARM = Column("arm", "Arm", rank=ESSENTIAL)
"""Only where there are others than the base."""


def _audit(results: Results) -> tuple[Column, ...]:
    return (
        Column("model", "Model", rank=SPARE),
        Column("settings", "Settings", rank=USEFUL),
        Column("model_key", "Model key", rank=SPARE),
        Column("temperature", "T", "number", 1, rank=SPARE),
        Column("collection", "Collection", rank=SPARE),
        *([_ARM] if results.has_arms else []),
        Column("coding", "Coding", rank=SPARE),
    )


def _audit_row(results: Results, audit: Audit, reading: Reading) -> tuple[Any, ...]:
    return (
        audit.model, audit.apart, audit.model_key, audit.temperature, audit.collection,
        *([audit.arm] if results.has_arms else []), reading.coding,
    )  # fmt: skip


def labels(results: Results) -> Sheet:
    """A line for each model, coding and label."""
    columns = (
        *_audit(results),
        Column("label", "Key", rank=SPARE),
        Column("label_en", "Label", rank=ESSENTIAL),
        Column("label_zh", "Chinese", chinese=True),
        Column("group", "Group", rank=SPARE),
        Column("state", "State", rank=ESSENTIAL),
        Column("p_adjusted", "p, corrected", "p", rank=ESSENTIAL),
        Column("compared", "Compared", "count"),
        Column("changed", "Changed", "count"),
        Column("values_estimated", "Values in regression", "count", rank=SPARE),
        Column("values_designed", "Values designed", "count", rank=SPARE),
        Column("smallest_p", "Smallest p, uncorrected", "p"),
        Column("biased_10", "p<0.1", "flag", rank=SPARE),
        Column("biased_05", "p<0.05", "flag", rank=SPARE),
        Column("biased_01", "p<0.01", "flag", rank=SPARE),
        Column("inconsistency", "Inconsistent %", "share", 1, rank=ESSENTIAL),
        Column("inconsistent_documents", "Inconsistent", "count", rank=SPARE),
        Column("kind_switches", "Other kind", "count", rank=SPARE),
        Column("documents", results.texts.documents.capitalize(), "count"),
        Column("mae", results.texts.error or f"MAE {results.unit}", "number", 1 + results.error_places),
        Column("mae_n", "MAE n", "count", rank=SPARE),
        Column("mape", "MAPE %", "number", 1, rank=USEFUL if results.specs.kind == codes.AMOUNT else SPARE),
        Column("mape_n", "MAPE n", "count", rank=SPARE),
        Column("answers", "Answers", "count"),
        Column("note", "Note", "note"),
    )
    rows = []
    for audit, reading in _readings(results):
        switches = results.switches(audit, reading) or {}
        states = {one.label: one.row for one in conclusions.of(reading).labels}
        for row in reading.labels:
            design = reading.designs.get(row.label)
            state = states.get(row.label)
            rows.append(
                (
                    *_audit_row(results, audit, reading), row.label, design.name_en if design else row.label,
                    design.name_zh if design else "", results.texts.group(row.group),
                    STATES[state.state] if state else "", state.p_adjusted if state else None,
                    state.n_compared if state else None, state.n_changed if state else None,
                    row.values_estimated,
                    row.values_designed, row.smallest_p, row.biased_10, row.biased_05, row.biased_01,
                    row.inconsistency, row.inconsistent_documents, switches.get(row.label), row.documents,
                    row.mae, row.mae_n, row.mape, row.mape_n, row.answers, row.note,
                )
            )  # fmt: skip
    return Sheet("labels", "Labels: state, inconsistency and error", columns, tuple(rows))


def values(results: Results) -> Sheet:
    """A line for each model, coding and value: its effect in the unit and in the primary variant."""
    frame = results.specs.frame
    columns = (
        *_audit(results),
        Column("label", "Key", rank=SPARE),
        Column("label_en", "Label", rank=ESSENTIAL),
        Column("label_zh", "Label, Chinese", chinese=True, rank=SPARE),
        Column("value_en", "Value", rank=ESSENTIAL),
        Column("value_zh", "Chinese", chinese=True),
        Column("reference_en", "Reference", rank=SPARE),
        Column("group", "Group", rank=SPARE),
        Column("effect_unit", f"Effect {results.unit}", "signed", 2, rank=ESSENTIAL),
        Column("unit_low", "95% from", "signed", 2),
        Column("unit_high", "to", "signed", 2, ends="unit_low"),
        Column("effect_primary", f"Effect {frame.primary}", "signed", 3, rank=SPARE),
        Column("primary_low", "95% from", "signed", 3, rank=SPARE),
        Column("primary_high", "to", "signed", 3, rank=SPARE, ends="primary_low"),
        Column("p", f"{results.texts.p_heading(frame.primary)}, uncorrected", "p", rank=ESSENTIAL),
        Column("state", "State", rank=ESSENTIAL),
        Column("compared", "Compared", "count", rank=ESSENTIAL),
        Column("changed", "Changed", "count"),
        Column("n", "Answers in regression", "count", rank=SPARE),
        Column("documents", f"{results.texts.documents.capitalize()} in regression", "count", rank=SPARE),
        Column("note", "Note", "note"),
    )
    rows = []
    for audit, reading in _readings(results):
        for label, value in dict.fromkeys((e.label, e.value) for e in reading.estimates):
            level = reading.estimate(label, value, frame.level)
            primary = reading.estimate(label, value, frame.primary)
            design = reading.designs.get(label)
            found = conclusions.value_row(reading.findings, label, value)
            rows.append(
                (
                    *_audit_row(results, audit, reading), label, *_names(results, design, label, value),
                    *_effect(level), *_effect(primary), primary.p if primary else None,
                    STATES[found.state] if found else "", found.n_compared if found else None,
                    found.n_changed if found else None,
                    primary.n if primary else 0, primary.documents if primary else 0,
                    primary.note if primary else None,
                )
            )  # fmt: skip
    return Sheet("values", "Regression of every value, uncorrected", columns, tuple(rows))


def _effect(estimate: Estimate | None) -> tuple[float | None, float | None, float | None]:
    return (None, None, None) if estimate is None else (estimate.coef, estimate.ci_low, estimate.ci_high)


def _names(
    results: Results, design: Design | None, label: str, value: str
) -> tuple[str, str, str, str, str, str]:
    if design is None:
        return label, "", value, value, "", ""
    reference = "" if design.continuous else ", ".join(design.value_en(v) for v in design.reference)
    return (
        design.name_en, design.name_zh, design.value_en(value), design.value_zh(value), reference,
        results.texts.group(design.group),
    )  # fmt: skip


def estimates(results: Results) -> Sheet:
    """Every estimate of every variant, in long form."""
    columns = (
        *_audit(results),
        Column("label", "Label", rank=ESSENTIAL),
        Column("value", "Value", rank=ESSENTIAL, chinese=True),
        Column("value_en", "Value", rank=ESSENTIAL),
        Column("variant", "Variant", rank=ESSENTIAL),
        Column("coef", "Effect", "signed", 4, rank=ESSENTIAL),
        Column("se", "s.e.", "number", 4),
        Column("t", "t", "signed", 2),
        Column("df", "df", "number", 0),
        Column("p", "p", "p", rank=ESSENTIAL),
        Column("ci_low", "95% from", "signed", 4),
        Column("ci_high", "to", "signed", 4, ends="ci_low"),
        Column("n", "n", "count"),
        Column("documents", results.texts.documents.capitalize(), "count"),
        Column("clusters", "Clusters", "count", rank=SPARE),
        Column("changers", "Changed", "count"),
        Column("note", "Note", "note"),
    )
    rows = []
    for audit, reading in _readings(results):
        for e in reading.estimates:
            design = reading.designs.get(e.label)
            rows.append(
                (
                    *_audit_row(results, audit, reading), e.label, e.value,
                    design.value_en(e.value) if design else e.value,
                    e.variant, e.coef, e.se, e.t, e.df, e.p, e.ci_low, e.ci_high, e.n, e.documents,
                    e.clusters, e.changers, e.note,
                )
            )  # fmt: skip
    return Sheet("estimates", "All estimates in all variants", columns, tuple(rows))


def quality(results: Results) -> Sheet:
    """From the queries down to the answers in the regressions, step by step."""
    columns = (
        *_audit(results),
        Column("step", "Step", rank=ESSENTIAL),
        Column("left", "Left", "count", rank=ESSENTIAL),
        Column("lost", "Lost", "note", rank=ESSENTIAL),
    )
    rows = [
        (
            *_audit_row(results, audit, reading),
            step.name,
            step.rows,
            "; ".join(f"{numbers.count(loss.rows)} {loss.reason}" for loss in step.losses),
        )
        for audit, reading in _readings(results)
        for step in data_flow.steps(results, audit, reading)
    ]
    return Sheet("quality", "From queries to estimates", columns, tuple(rows))


def missing(results: Results) -> Sheet:
    """Answers and missing ones of every value."""
    kinds = list(
        dict.fromkeys(
            kind
            for _, reading in _readings(results)
            for kind in data_flow.missing_kinds(data_flow.value_counts(reading))
        )
    )
    columns = (
        *_audit(results),
        Column("label", "Label", rank=ESSENTIAL),
        Column("value", "Value", chinese=True),
        Column("value_en", "Value", rank=ESSENTIAL),
        Column("rows", "Answers", "count", rank=ESSENTIAL),
        Column("usable", "Usable", "count", rank=ESSENTIAL),
        Column("used", "In the sample", "count"),
        *(Column(f"missing_{k}", results.texts.absence(k) if k else "no outcome", "count") for k in kinds),
    )
    rows = []
    for audit, reading in _readings(results):
        for row in data_flow.value_counts(reading):
            design = reading.designs.get(row.label)
            english = (design.values.get(row.value) or row.value) if design else row.value
            rows.append(
                (
                    *_audit_row(results, audit, reading), row.label, row.value, english, row.rows, row.usable,
                    row.used, *(row.missing.get(kind, 0) for kind in kinds),
                )
            )  # fmt: skip
    return Sheet("missing", "Missing answers by value", columns, tuple(rows))


def _readings(results: Results) -> Iterable[tuple[Audit, Reading]]:
    return ((audit, reading) for audit in results.audits for reading in audit.readings)
