"""The summary in a terminal: models, labels and the values that moved, in rich tables.

Chinese is aligned by the width it takes on the screen. Where a terminal is too narrow, columns go, the least
needed first, and the line below the table says which; a table is never broken. Where output is no terminal,
tables are plain text, their lines whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from analyze.findings import codes
from analyze.report import conclusions, data_flow, minute, model_comparison, sheets
from analyze.report.data import Connection, read
from analyze.report.shapes import Audit, Reading, Results
from analyze.report.sheets import Column, Sheet
from analyze.specification import Specifications

MOST_LABELS = 20
MOST_VALUES = 40
MOST_REASONS = 3
SHOWN_BELOW = 0.1
"""Values with a smaller p are listed where no confirmatory test was made."""

PLAIN_WIDTH = 160
"""Cells of a line where output is no terminal; longer only if texts make it so."""

_MOST_TEXT = 34
"""Texts longer than this many cells are folded."""

_MOST_NOTE = 26
_LEAST_TEXT = 6
_GAP = 3
"""Cells between columns."""


def print_summary(
    study: Connection,
    specifications: Specifications | Path | str,
    console: Console | None = None,
    *,
    models: Sequence[str] | None = None,
    codings: Sequence[str] | None = None,
    everything: bool = False,
) -> None:
    """Print what the analysis found. With `everything`, all labels and all values, whatever their p.

    Raises BadInput where nothing has been analysed.
    """
    console = console or Console(highlight=False)
    results = read(study, specifications, models=models, codings=codings)
    for notice in results.notices():
        console.print(Text(notice, style="bold"), soft_wrap=not console.is_terminal)
        console.print()
    if len(results.audits) > 1:
        for number, sentence in enumerate(model_comparison.compare(results).plain()):
            _say(console, sentence, "bold" if not number else "")
        console.print()
    for audit in results.audits:
        for reading in audit.readings:
            _minute(console, results, audit, reading)
    show(console, sheets.models(results))
    for audit in results.audits:
        for reading in audit.readings:
            _tables(console, results, audit, reading, everything=everything)


def opening(
    study: Connection,
    specifications: Specifications | Path | str,
    *,
    models: Sequence[str] | None = None,
    codings: Sequence[str] | None = None,
) -> tuple[str, ...]:
    """The first sentences of a report: the comparison of models, if there are several, and each one's minute.

    Raises BadInput where nothing has been analysed.
    """
    results = read(study, specifications, models=models, codings=codings)
    several = model_comparison.compare(results).plain() if len(results.audits) > 1 else ()
    return (
        *several,
        *(
            line
            for audit in results.audits
            for reading in audit.readings
            for line in _lines(results, audit, reading)
        ),
    )


def _lines(results: Results, audit: Audit, reading: Reading) -> list[str]:
    first, *rest = minute.of(results, audit, reading).plain()
    return [f"{_name(results, audit, reading)}: {first}", *(f"  {sentence}" for sentence in rest)]


def _name(results: Results, audit: Audit, reading: Reading) -> str:
    coding = f", {results.texts.coding(reading.coding).lower()} coding" if len(results.codings) > 1 else ""
    return f"{audit.name}{coding}"


def _say(console: Console, text: str, style: str = "") -> None:
    console.print(Text(text, style=style), soft_wrap=not console.is_terminal)


def _minute(console: Console, results: Results, audit: Audit, reading: Reading) -> None:
    """What is confirmed, and what could not be seen: the sentences of the page's first screen."""
    for number, line in enumerate(_lines(results, audit, reading)):
        _say(console, line, "bold" if not number else "")
    console.print()


def _tables(console: Console, results: Results, audit: Audit, reading: Reading, *, everything: bool) -> None:
    name = _name(results, audit, reading)
    alone = results.of(audit, reading)
    _findings(console, alone, name, everything=everything)
    labels = _only(sheets.labels(alone))
    rows = labels.rows
    keys = [c.key for c in labels.columns]
    order = [keys.index("p_adjusted"), keys.index("smallest_p")]
    if not everything and len(rows) > MOST_LABELS:
        by_p = sorted(rows, key=lambda row: tuple(1.0 if row[at] is None else row[at] for at in order))
        rows = tuple(by_p[:MOST_LABELS])
    show(console, Sheet("labels", f"{name}: labels", labels.columns, rows))
    if len(rows) < len(labels.rows):
        larger = (
            ", with a larger p," if any(row[at] is not None for row in labels.rows for at in order) else ""
        )
        _say(console, f"{len(labels.rows) - len(rows)} more labels{larger} are in the report.\n")
    if not reading.findings and not everything:
        _uncorrected(console, alone, audit, name)
    if everything:
        values = _only(sheets.values(alone))
        show(
            console,
            Sheet("values", f"{name}: regression of every value, uncorrected", values.columns, values.rows),
        )


def _uncorrected(console: Console, results: Results, audit: Audit, name: str) -> None:
    """Values with a small p where no confirmatory test was made, under a heading that says so."""
    values = _only(sheets.values(results))
    keys = [c.key for c in values.columns]
    p, note = keys.index("p"), keys.index("note")
    without = [row for row in values.rows if row[p] is None]
    if values.rows and len(without) == len(values.rows):
        why = _why(audit, Counter(row[note] for row in without))
        _say(console, f"{name}: nothing was estimated ({len(without)} values), because {why}.\n", "bold")
        return
    small = sorted(
        (row for row in values.rows if row[p] is not None and row[p] < SHOWN_BELOW), key=lambda row: row[p]
    )
    if not small:
        tested = len(values.rows) - len(without)
        none = f"; {len(without)} more have no p: the report says why" if without else ""
        _say(console, f"{name}: no value has an uncorrected p < {SHOWN_BELOW:g} ({tested} tested{none}).\n")
        return
    caption = f"{name}: NOT confirmed, as no confirmatory test was made (uncorrected p < {SHOWN_BELOW:g})"
    show(console, Sheet("values", caption, values.columns, tuple(small[:MOST_VALUES])))
    if len(small) > MOST_VALUES:
        _say(console, f"{len(small) - MOST_VALUES} more are in the report.\n")


def _why(audit: Audit, notes: Counter[str | None]) -> str:
    """Why no value has an estimate: no query has an answer, or what the estimates' notes say."""
    ended = data_flow.outcome_counts(audit)
    if data_flow.ANSWERED not in ended:
        kinds = (f"{data_flow.OUTCOMES.get(kind, kind).lower()}: {rows:,}" for kind, rows in ended.items())
        return f"no query was answered ({', '.join(kinds) or 'none was asked'})"
    said = [(note or "no reason is noted", count) for note, count in notes.most_common(MOST_REASONS)]
    return "; ".join(note if count == sum(notes.values()) else f"{note} ({count})" for note, count in said)


def _findings(console: Console, results: Results, name: str, *, everything: bool) -> None:
    """The confirmed values and, under a heading of their own, those that are not."""
    sheet = _only(sheets.findings(results))
    keys = [c.key for c in sheet.columns]
    scope, state, p = (keys.index(key) for key in ("scope", "state", "p"))
    held = sheets.STATES[codes.CONFIRMED]
    of_values = [row for row in sheet.rows if row[scope] == codes.VALUE]
    confirmed = tuple(row for row in of_values if row[state] == held)
    if confirmed:
        told = sheet.without(lambda c: c.key in ("state", "reason"))
        at = [keys.index(c.key) for c in told.columns]
        rows = tuple(tuple(row[i] for i in at) for row in confirmed)
        show(console, Sheet("findings", f"{name}: confirmed", told.columns, rows))
    others = [row for row in of_values if row[state] != held]
    if not everything:
        others = [row for row in others if row[p] is not None and row[p] < conclusions.LEVEL]
        others.sort(key=lambda row: row[p])
    if others:
        caption = f"{name}: NOT confirmed" + (
            "" if everything else f" (p < {conclusions.LEVEL:g} taken alone)"
        )
        shown = tuple(others if everything else others[:MOST_VALUES])
        table = Sheet("findings", caption, sheet.columns, shown)
        # What the caption says already makes room for the p that it speaks of.
        show(console, table if everything else table.without(lambda c: c.key == "state"))
        if len(shown) < len(others):
            _say(console, f"{len(others) - len(shown)} more are in the report.\n")


def _only(sheet: Sheet) -> Sheet:
    """Without the columns that say the same in every row where a sheet is of one audit under one coding."""
    return sheet.without(lambda c: c.key in (*sheets.OF_AUDIT, "label"))


def show(console: Console, sheet: Sheet) -> None:
    """Print a sheet so that it fits, and say what did not."""
    sheet = sheet.without(lambda c: c.kind == "text" and _empty(sheet, c))
    terminal = console.is_terminal
    shown, gone = fitted(sheet, console.width if terminal else max(console.width, PLAIN_WIDTH), fold=terminal)
    table = Table(
        box=box.SIMPLE_HEAD if terminal else None,
        title=Text(sheet.caption),
        title_justify="left",
        title_style="bold",
        pad_edge=False,
        padding=(0, 1) if terminal else (0, 2, 0, 0),
    )
    texts = shown.shown()
    widths = _widths(shown, texts, fold=terminal)
    if terminal:
        widths = squeezed(shown, widths, console.width)
    for column, cells in zip(shown.columns, widths, strict=True):
        justify: Literal["left", "right"] = "left" if column.is_text else "right"
        table.add_column(Text(column.heading), justify=justify, overflow="fold", width=cells)
    state = next((i for i, c in enumerate(shown.columns) if c.key == "state"), None)
    for row, line in zip(shown.rows, texts, strict=True):
        strong = state is not None and row[state] == sheets.STATES[codes.CONFIRMED]
        table.add_row(*(Text(text) for text in line), style="bold" if strong else None)
    width = console.width
    try:
        if not terminal:
            console.width = max(width, _width(shown, fold=False))
        console.print(table)
    finally:
        console.width = width
    if gone:
        named = ", ".join(column.heading for column in gone[:4])
        left = len(gone) - 4
        more = f" and {left} more {'column' if left == 1 else 'columns'}" if left > 0 else ""
        where = "the terminal is too narrow" if terminal else "the table would be too wide"
        console.print(Text(f"Columns hidden, as {where}: {named}{more}.", style="dim"))
    console.print()


def fitted(sheet: Sheet, width: int, *, fold: bool = True) -> tuple[Sheet, tuple[Column, ...]]:
    """The sheet with as many of its columns as fit, and those that had to go, the most needed first."""
    gone: list[Column] = []
    for rank in (sheets.SPARE, sheets.USEFUL):
        for column in reversed([c for c in sheet.columns if c.rank == rank]):
            if _width(sheet, fold=fold) <= width:
                return sheet, tuple(gone)
            if column not in sheet.columns:
                continue
            leaving = [c for c in sheet.columns if c is column or (column.ends and c.key == column.ends)]
            leaving += [c for c in sheet.columns if c.ends == column.key and c not in leaving]
            gone[:0] = leaving
            sheet = sheet.without(leaving.__contains__)
    return sheet, tuple(gone)


def squeezed(sheet: Sheet, widths: Sequence[int], limit: int) -> list[int]:
    """Widths that fit the limit, if they can, by folding the widest texts. Figures are never folded."""
    found = list(widths)
    texts = [i for i, column in enumerate(sheet.columns) if column.is_text]
    while texts and sum(found) + _GAP * len(found) > limit:
        widest = max(texts, key=lambda i: found[i])
        if found[widest] <= _LEAST_TEXT:
            break
        found[widest] -= 1
    return found


def _widths(sheet: Sheet, texts: Sequence[Sequence[str]], *, fold: bool) -> list[int]:
    """Cells that each column takes; with `fold`, headings by the word and texts up to a limit."""
    found = []
    for i, column in enumerate(sheet.columns):
        cells = max((cell_len(row[i]) for row in texts), default=0)
        if fold and column.is_text:
            cells = min(cells, _MOST_NOTE if column.key == "note" else _MOST_TEXT)
        words = column.heading.split() if fold else [column.heading]
        found.append(max(cells, *(cell_len(word) for word in words)))
    return found


def _width(sheet: Sheet, *, fold: bool) -> int:
    """Cells that a sheet takes, with its gaps."""
    return sum(_widths(sheet, sheet.shown(), fold=fold)) + _GAP * len(sheet.columns)


def _empty(sheet: Sheet, column: Column) -> bool:
    at = sheet.columns.index(column)
    return not any(row[at] for row in sheet.rows)
