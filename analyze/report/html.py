"""The report as one HTML file that needs nothing else: no network, no fonts, no library.

Every text is escaped by Jinja; only figures made here (SVG, numbers in their elements) pass as markup. A
number's cell carries the full figure (`data-v`) and its column (`data-c`); its row carries the rest of the
key.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from analyze.between_models.configurations import said
from analyze.counterfactual.pairs import Side
from analyze.findings import FindingRow, codes
from analyze.inference import confirmatory
from analyze.inference.flips import ENUMERATED
from analyze.report import (
    agreement,
    conclusions,
    data_flow,
    extra_tables,
    figures,
    glossary,
    minute,
    model_comparison,
    narrative,
    numbers,
)
from analyze.report.data import Connection, read
from analyze.report.outcomes import OUTCOMES
from analyze.report.shapes import Audit, Design, Estimate, Reading, Results
from analyze.report.sheets import STATES, Column
from analyze.specification import Specifications
from store.errors import BadInput

if TYPE_CHECKING:
    from analyze.report import labels

_TEMPLATES = Path(__file__).parent / "templates"

MOST_ROWS_IN_A_FIGURE = 60
"""A coefficient plot with more rows than this is split by the design's groups."""


COEFFICIENTS = "A line for each value: its effect against the reference, with 90 and 95% intervals."
INCONSISTENCY = "A line for each label: in how many of a hundred the answers are not all the same number."
HEATMAP = "A cell for each label and model: the effect of the value with the smallest p, and its direction."


def write_html(
    study: Connection,
    specifications: Specifications | Path | str,
    folder: Path | str,
    *,
    models: Sequence[str] | None = None,
    codings: Sequence[str] | None = None,
    collections: Sequence[str] | None = None,
    arms: Sequence[str] | None = None,
    texts: bool = True,
    tell: Callable[[str], object] | None = None,
) -> Path:
    """Write `index.html` into `folder` and return its path; `tell` hears what is not up to date.

    Without `texts` no answer of a model is in the page, for studies whose texts must not be shared.

    Raises BadInput where nothing has been analysed, a name is unknown, or the folder cannot be written.
    """
    results = read(
        study,
        specifications,
        models=models,
        codings=codings,
        collections=collections,
        arms=arms,
        pairs=texts,
    )
    if tell is not None:
        for notice in results.of_age():
            tell(notice)
    page = render(results)
    path = Path(folder) / "index.html"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        raise BadInput(
            f"{path} cannot be written: {error.strerror or error}",
            hint="Name a folder that you may write to.",
        ) from error
    return path


def render(results: Results) -> str:
    """The page."""
    script = (_TEMPLATES / "report.js").read_text(encoding="utf-8")
    style = (_TEMPLATES / "report.css").read_text(encoding="utf-8")
    return _environment().get_template("page.html.j2").render(
        results=results,
        texts=results.texts,
        frame=results.specs.frame,
        style=Markup(style),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        written=datetime.now(UTC),
        audits=[_Section(results, audit, number) for number, audit in enumerate(results.audits, 1)],
        comparison=model_comparison.compare(results) if len(results.audits) > 1 else None,
        ranked=model_comparison.ranked(results),
        do_not_conclude=minute.do_not_conclude(results),
        heatmap=_heatmap(results),
        matrix=_matrix(results),
        across=extra_tables.across(results),
        terms=glossary.terms(results.texts),
        enumerated=ENUMERATED,
        confirmatory=confirmatory.TESTS,
        confirmatory_level=confirmatory.LEVEL,
        least_cases=confirmatory.minimum_cases(),
    )  # fmt: skip


class _Section:
    """What the template of one audit shows."""

    def __init__(self, results: Results, audit: Audit, number: int) -> None:
        self.audit = audit
        self.number = number
        self.main = audit.main
        self.others = audit.readings[1:]
        self.switches = results.switches(audit, audit.main)
        self.minute = minute.of(results, audit, audit.main)
        self.conclusions = conclusions.of(audit.main)
        self.findings = [finding_row(results, audit, row) for row in self.conclusions.rows]
        self.unconfirmed = [finding_row(results, audit, row) for row in self.conclusions.unconfirmed]
        self.pairs = [
            (finding_row(results, audit, row), audit.main.pairs[row.position])
            for row in conclusions.notable(audit.main.findings)
            if row.position in audit.main.pairs
        ]
        self.agreement = agreement.of(results, audit.main)
        self.inconsistent = narrative.inconsistency(results, audit, audit.main)
        self.outcomes = data_flow.outcome_counts(audit)
        self.steps = [(r, data_flow.steps(results, audit, r)) for r in audit.readings]
        self.variants = [(r, data_flow.variant_counts(results, r)) for r in audit.readings]
        self.values = data_flow.value_counts(self.main)
        self.kinds = data_flow.missing_kinds(self.values)
        self.read_as = data_flow.read_as_counts(self.main)
        self.rows = value_rows(results, self.main)
        self.compared = compared_rows(results, audit)
        self.figures = _figures(results, audit)
        self.inconsistency = _inconsistency(results, audit)
        self.further = extra_tables.of_audit(results, audit)
        self.comparison = extra_tables.of_audit(results, audit, extra_tables.COMPARISON)

    def value_name(self, label: str, value: str) -> str:
        """A value as the design names it, with what the prompt has where that is something else."""
        design = self.main.designs.get(label)
        english = (design.values.get(value) if design else None) or value
        return english if english == value else f"{english} {value}"


class ValueRow:
    """A line of the table of effects: a value with its estimate in every variant."""

    def __init__(self, results: Results, found: Reading, design: Design, value: str) -> None:
        self.design = design
        self.value = value
        self.by_variant = {
            s.name: e
            for s in results.specs.of_coding(found.coding)
            if (e := found.estimate(design.label, value, s.name)) is not None
        }

    def __getitem__(self, variant: str) -> Estimate | None:
        return self.by_variant.get(variant)


@dataclass(frozen=True, slots=True)
class FindingLine:
    """A line of a table of findings."""

    finding: FindingRow
    label: str
    contrast: str
    outcome: str
    state: str
    size: str
    interval: str
    reason: str


def finding_row(results: Results, audit: Audit, row: FindingRow) -> FindingLine:
    """A finding as the table shows it; an interval that selection was allowed for is marked by a star."""
    design = audit.main.designs.get(row.label)
    words = OUTCOMES[row.measure]
    interval = numbers.NOTHING
    if row.ci_low is not None and row.ci_high is not None and row.ci_low < row.ci_high:
        scale, least = (100.0, 1) if row.unit == codes.SHARE else (1.0, 2)
        least = 1 if row.measure == codes.YES_NO else least
        low, high = scale * row.ci_low, scale * row.ci_high
        places = numbers.apart(low, high, least)
        mark = "*" if row.ci_kind == codes.SELECTED else ""
        interval = f"{numbers.signed(low, places)} to {numbers.signed(high, places)}{mark}"
    return FindingLine(
        finding=row,
        label=design.name_en if design else row.label,
        contrast=minute.contrast(design, row) if row.scope == codes.VALUE else f"all values ({row.scope})",
        outcome=words.name(results.texts, results.unit),
        state=STATES[row.state],
        size=words.size(row) if row.effect is not None else numbers.NOTHING,
        interval=interval,
        reason="" if row.state == codes.CONFIRMED else minute.reason(row.reason_code, results),
    )


def value_rows(results: Results, found: Reading) -> list[ValueRow]:
    """Every value that has an estimate row, in the design's order."""
    named = {(e.label, e.value): None for e in found.estimates}
    return [
        ValueRow(results, found, found.designs[label], value)
        for label, value in named
        if label in found.designs
    ]


def compared_rows(results: Results, audit: Audit) -> list[tuple[ValueRow | None, ValueRow | None, str]]:
    """Values under the first two codings, and under which of them p is below 0.05."""
    if len(audit.readings) < 2:
        return []
    first, second = (
        {(r.design.label, r.value): r for r in value_rows(results, x)} for x in audit.readings[:2]
    )
    names = [results.texts.coding(r.coding).lower() for r in audit.readings[:2]]
    primary = results.specs.frame.primary
    found = []
    for key in dict.fromkeys([*first, *second]):
        one, two = first.get(key), second.get(key)
        p = [None if row is None or (e := row[primary]) is None else e.p for row in (one, two)]
        below = [x is not None and x < 0.05 for x in p]
        conclusion = (
            "both" if all(below) else "neither" if not any(below) else f"{names[below.index(True)]} only"
        )
        found.append((one, two, conclusion))
    return found


def _figures(results: Results, audit: Audit) -> list[tuple[str, Markup]]:
    from analyze.report import drawing, forest  # noqa: PLC0415  (matplotlib: a second of import)

    beside = audit.readings[1].coding if len(audit.readings) > 1 else None
    rows = forest.rows(results, audit.main)
    groups: Sequence[str | None] = [None]
    if len(rows) > MOST_ROWS_IN_A_FIGURE:
        groups = audit.main.groups()
    found = []
    for i, group in enumerate(groups):
        figure = forest.coefficients(results, audit, beside=beside, group=group, chinese=True)
        if figure is None:
            continue
        name = (
            f"Effects of every value, {audit.name}, {results.texts.coding(audit.main.coding).lower()} coding"
        )
        if group is not None:
            name += f", {results.texts.group(group)}"
        drawn = forest.rows(results, audit.main, group=group)
        text = drawing.svg(
            figure,
            title=name,
            description=COEFFICIENTS,
            salt=f"{audit.anchor}c{i}",
            tips=forest.tips(results, drawn),
        )
        found.append((results.texts.group(group) if group else "", Markup(text)))
    return found


def _inconsistency(results: Results, audit: Audit) -> Markup | None:
    from analyze.report import drawing, labels  # noqa: PLC0415  (matplotlib: a second of import)

    figure = labels.inconsistency(results, audit, chinese=True)
    if figure is None:
        return None
    return Markup(
        drawing.svg(
            figure,
            title=f"Inconsistency by label, {audit.name}",
            description=INCONSISTENCY,
            salt=f"{audit.anchor}i",
        )
    )


def _heatmap(results: Results) -> Markup | None:
    from analyze.report import drawing, labels  # noqa: PLC0415  (matplotlib: a second of import)

    if len(results.audits) < 2:
        return None
    figure = labels.heatmap(results, chinese=True)
    return (
        None
        if figure is None
        else Markup(drawing.svg(figure, title="Labels against models", description=HEATMAP, salt="hm"))
    )


def _matrix(results: Results) -> list[tuple[Design, list[labels.Cell | None], int, int, int, int]]:
    """Label, its strongest effect in each model, in how many models its uncorrected p is below 0.05, of how
    many; and in how many it is confirmed, of how many in which it could be tested.
    """
    from analyze.report import labels  # noqa: PLC0415  (matplotlib: a second of import)

    coding = results.codings[0]
    readings = [audit.reading(coding) for audit in results.audits]
    if len(readings) < 2:
        return []
    designs = {label: d for r in readings if r is not None for label, d in r.designs.items()}
    found = []
    for label, design in designs.items():
        cells = [None if r is None else labels.strongest(results, r, label) for r in readings]
        flags = [row.biased_05 for r in readings if r is not None for row in r.labels if row.label == label]
        known = [flag for flag in flags if flag is not None]
        if known or any(cells):
            states = [
                row.state
                for r in readings
                if r is not None
                for row in r.findings
                if (row.scope, row.label) == (codes.LABEL, label)
            ]
            tested = [state for state in states if state != codes.UNTESTABLE]
            held = tested.count(codes.CONFIRMED)
            found.append((design, cells, sum(known), len(known), held, len(tested)))
    return found


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for function in (
        numbers.count,
        numbers.decimal,
        numbers.signed,
        numbers.percent,
        numbers.p_value,
        numbers.stars,
        numbers.exact,
        numbers.expected,
    ):
        environment.filters[function.__name__] = function
    environment.filters["tiny"] = figures.power
    environment.filters["shortened"] = _shortened
    environment.globals |= {
        "states": STATES,
        "td": _td,
        "bare": _bare_td,
        "effect_cell": _effect_cell,
        "interval_cell": _interval_cell,
        "figure": figures.figure,
        "by_chance": minute.by_chance,
        "conclusions_of": conclusions.of,
        "pairs": conclusions.pairs,
        "value_row": conclusions.value_row,
        "read_of": _read_of,
        "question": narrative.question,
        "said": said,
        "when": narrative.when,
        "OUTCOMES": data_flow.OUTCOMES,
        "metric_cell": _metric_cell,
        "span": _span,
        "share_cell": _share_cell,
        "further_cell": _further_cell,
        "variant_cell": _variant_cell,
    }
    return environment


MOST_TEXT = 600
"""Characters of an answer that are shown."""


def _shortened(text: str) -> str:
    """The beginning of a long text."""
    return text if len(text) <= MOST_TEXT else text[:MOST_TEXT] + " […]"


def _read_of(side: Side, results: Results) -> str:
    """What was read of an answer: the kind and the amount, or why nothing was."""
    if side.missing is not None or side.amount is None:
        return f"nothing: {results.texts.absence(side.missing or '')}"
    if side.kind and results.specs.kind != codes.AMOUNT:
        return results.texts.kind(side.kind)
    amount = f"{numbers.significant(side.amount, 4)} {results.unit}"
    return f"{results.texts.kind(side.kind)}, {amount}" if side.kind else amount


# Cells are put together as strings, which is several times faster than Markup.format; what is no figure is
# escaped.


def _td(column: str, value: Any, text: object, extra: str = "") -> Markup:
    """A cell with a figure."""
    kind = f"n {extra}" if extra else "n"
    data = numbers.behind(value, str(text))
    return Markup(f'<td class="{kind}" data-c="{escape(column)}"{data}>{escape(text)}</td>')


def _bare_td(value: Any, text: object, extra: str = "") -> Markup:
    """A cell whose heading names the column; the whole figure is left out where the text says it already."""
    kind = f"n {extra}" if extra else "n"
    return Markup(f'<td class="{kind}"{numbers.behind(value, str(text))}>{escape(text)}</td>')


def _further_cell(part: extra_tables.Part, column: Column, row: extra_tables.Row) -> Markup:
    """A cell of a further table: names in both languages, figures with the whole figure behind them."""
    value = row[column.key]
    design = part.designs.get(row["label"]) if "label" in row else None
    if column.key == "label" and design is not None:
        return _names(design.name_en, design.name_zh)
    if column.key == "value" and design is not None and isinstance(value, str) and value:
        return _names(design.value_en(value), design.value_zh(value))
    if column.is_text:
        kind = ' class="note"' if column.kind == "note" else ""
        return Markup(f"<td{kind}>{escape(column.shown(value))}</td>")
    strong = "sig" if column.kind == "p" and value is not None and value < 0.05 else ""
    # The heading has the column's name: in tables this long, saying it in every cell doubles the page.
    return _bare_td(value, figures.power(value) if column.kind == "tiny" else column.shown(value), strong)


def _names(english: str, chinese: str) -> Markup:
    beside = f' <span lang="zh">{escape(chinese)}</span>' if chinese else ""
    return Markup(f"<td>{escape(english)}{beside}</td>")


def _effect_cell(estimate: Estimate | None, places: int, *, mark: bool = True) -> Markup:
    """An effect; with `mark`, its direction as a triangle where it is significant."""
    if estimate is None:
        return Markup('<td class="n"></td>')
    text = numbers.signed(estimate.coef, places)
    mark = mark and estimate.p is not None and estimate.p < 0.05 and estimate.coef is not None
    if mark:
        text = ("▲ " if (estimate.coef or 0) > 0 else "▼ ") + text
    return _bare_td(estimate.coef, text, "sig" if mark else "")


def _variant_cell(estimate: Estimate | None) -> Markup:
    """An effect with its stars; a dash, with the reason behind it, where there is none."""
    if estimate is None or estimate.coef is None:
        reason = f' title="{escape(estimate.note)}"' if estimate and estimate.note else ""
        return Markup(f'<td class="n"{reason}>{numbers.NOTHING}</td>')
    kind = "n sig" if estimate.p is not None and estimate.p < 0.05 else "n"
    p = escape(numbers.p_value(estimate.p))
    return Markup(
        f'<td class="{kind}" data-v="{numbers.exact(estimate.coef)}" title="p {p}">'
        f"{numbers.signed(estimate.coef, 3)}<sup>{numbers.stars(estimate.p)}</sup></td>"
    )


def _interval_cell(estimate: Estimate | None, places: int) -> Markup:
    """A 95% interval."""
    if estimate is None or estimate.ci_low is None or estimate.ci_high is None:
        return Markup('<td class="n"></td>')
    ends = [
        _span(f"{estimate.variant}.{name}", end, numbers.signed(end, places))
        for name, end in (("ci_low", estimate.ci_low), ("ci_high", estimate.ci_high))
    ]
    return Markup(f'<td class="n ci" data-v="{numbers.exact(estimate.ci_low)}">{ends[0]} to {ends[1]}</td>')


def _metric_cell(
    found: Reading, name: str, text: str, group: str = "all", threshold: float | None = None
) -> Markup:
    """A metric of the model; `text` says how it is written: count, percent, tiny or a number of decimals."""
    row = found.metric(name, group=group, threshold=threshold)
    if row is None:
        return Markup('<td class="n">{}</td>').format(numbers.NOTHING)
    shown: object
    if text == "tiny":
        shown = figures.power(row.value)
    elif text == "percent":
        shown = numbers.percent(row.value)
    elif text == "count":
        shown = numbers.count(row.value)
    else:
        shown = numbers.decimal(row.value, int(text))
    column = f"{name}/{group}/{'' if threshold is None else format(threshold, 'g')}"
    return _td(column, row.value, shown)


def _share_cell(found: Reading, name: str, group: str, threshold: float) -> Markup:
    """A count out of n, with per cent: 3/25, 12.0."""
    row = found.metric(name, group=group, threshold=threshold)
    if row is None or row.value is None:
        return Markup('<td class="n">{}</td>').format(numbers.NOTHING)
    column = f"{name}/{group}/{threshold:g}"
    share = f" ({numbers.percent(row.value / row.n, 0)}%)" if row.n else ""
    parts = (
        _span(column, row.value, numbers.count(row.value)),
        _span(f"{column}/n", row.n, numbers.count(row.n)),
    )
    whole = numbers.exact(row.value / row.n if row.n else None)
    return Markup('<td class="n" data-v="{}">{}/{}<small>{}</small></td>').format(whole, *parts, share)


def _span(column: str, value: Any, text: str) -> Markup:
    """A figure within a cell."""
    data = numbers.behind(value, text)
    return Markup(f'<span data-c="{escape(column)}"{data}>{escape(text)}</span>')
