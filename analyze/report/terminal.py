"""The summary in a terminal: models, labels and the values that moved, in rich tables.

Chinese is aligned by the width it takes on the screen. Where a terminal is too narrow, columns go, the least
needed first, and the line below the table says which; a table is never broken. Where output is no terminal,
tables are plain text, their lines whole.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Literal

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from analyze.estimate import NO_SPREAD
from analyze.report import data_flow, headline, sheets
from analyze.report.data import Connection, read
from analyze.report.shapes import Audit, Reading, Results
from analyze.report.sheets import Column, Sheet

MOST_LABELS = 20
MOST_VALUES = 40
MOST_REASONS = 3
SHOWN_BELOW = 0.1
"""Values with a smaller p in the primary variant are listed."""

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
    specifications: Path | str,
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
    show(console, sheets.models(results))
    for audit in results.audits:
        for reading in audit.readings:
            _audit(console, results, audit, reading, everything=everything)


def _audit(console: Console, results: Results, audit: Audit, reading: Reading, *, everything: bool) -> None:
    coding = f", {results.texts.coding(reading.coding).lower()} coding" if len(results.codings) > 1 else ""
    name = f"{audit.name}{coding}"
    alone = results.of(audit, reading)
    for sentence in headline.sentences(alone, alone.audits[0], reading):
        console.print(
            Text(f"{name}: {sentence.striptags()}\n", style="bold"), soft_wrap=not console.is_terminal
        )
    labels = _only(sheets.labels(alone))
    rows = labels.rows
    smallest = [c.key for c in labels.columns].index("smallest_p")
    if not everything and len(rows) > MOST_LABELS:
        rows = tuple(sorted(rows, key=lambda row: (row[smallest] is None, row[smallest] or 0.0)))[
            :MOST_LABELS
        ]
    show(console, Sheet("labels", f"{name}: labels", labels.columns, rows))
    if len(rows) < len(labels.rows):
        larger = ", with a larger p," if any(row[smallest] is not None for row in labels.rows) else ""
        console.print(Text(f"{len(labels.rows) - len(rows)} more labels{larger} are in the report.\n"))
    values = _only(sheets.values(alone))
    p = [c.key for c in values.columns].index("p")
    note = [c.key for c in values.columns].index("note")
    without = [row for row in values.rows if row[p] is None]
    count = len(headline.alike(alone, reading))
    beside = "other " if count else ""
    if values.rows and len(without) == len(values.rows) and not everything:
        notes = Counter(row[note] for row in without if not (row[note] or "").startswith(NO_SPREAD))
        if notes or not count:
            text = (
                f"{name}: nothing {'else ' if count else ''}could be estimated ({len(without) - count} "
                f"{beside}values), because {_why(audit, notes)}.\n"
            )
            console.print(Text(text, style="bold"), soft_wrap=not console.is_terminal)
        return
    moved = [row for row in values.rows if everything or (row[p] is not None and row[p] < SHOWN_BELOW)]
    if not everything:
        moved.sort(key=lambda row: row[p])
    shown = moved if everything else moved[:MOST_VALUES]
    if not shown:
        tested = len(values.rows) - len(without)
        none = f"; {len(without)} more have no p: the report says why" if without else ""
        text = f"{name}: no {beside}value has p < {SHOWN_BELOW:g} ({tested} tested{none}).\n"
        console.print(Text(text), soft_wrap=not console.is_terminal)
        return
    caption = f"{name}: values" if everything else f"{name}: values with p < {SHOWN_BELOW:g}"
    show(console, Sheet("values", caption, values.columns, tuple(shown)))
    if len(shown) < len(moved):
        console.print(
            Text(f"{len(moved) - len(shown)} more values below {SHOWN_BELOW:g} are in the report.\n")
        )


def _why(audit: Audit, notes: Counter[str | None]) -> str:
    """Why no value has an estimate: no query has an answer, or what the estimates' notes say."""
    ended = data_flow.outcome_counts(audit)
    if data_flow.ANSWERED not in ended:
        kinds = (f"{data_flow.OUTCOMES.get(name, name).lower()}: {rows:,}" for name, rows in ended.items())
        return f"no query was answered ({', '.join(kinds) or 'none was asked'})"
    said = [(note or "no reason is noted", count) for note, count in notes.most_common(MOST_REASONS)]
    return "; ".join(note if count == sum(notes.values()) else f"{note} ({count})" for note, count in said)


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
    p = next((i for i, c in enumerate(shown.columns) if c.key in ("p", "smallest_p")), None)
    for row, line in zip(shown.rows, texts, strict=True):
        strong = p is not None and row[p] is not None and row[p] < 0.05
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
        more = f" and {len(gone) - 4} more columns" if len(gone) > 4 else ""
        console.print(Text(f"Left out for want of width: {named}{more}.", style="dim"))
    console.print()


def fitted(sheet: Sheet, width: int, *, fold: bool = True) -> tuple[Sheet, tuple[Column, ...]]:
    """The sheet with as many of its columns as fit, and those that had to go, the most needed first."""
    gone: list[Column] = []
    for rank in (sheets.SPARE, sheets.USEFUL):
        for column in reversed([c for c in sheet.columns if c.rank == rank]):
            if _width(sheet, fold=fold) <= width:
                return sheet, tuple(gone)
            gone.insert(0, column)
            sheet = sheet.without(partial(operator.is_, column))
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
