"""What `evenhand compare-published --paper fairlex` prints: the paper's tables, and what contradicts."""

from __future__ import annotations

import csv
from dataclasses import asdict
from pathlib import Path
from typing import Any

from evenhand.cli.options import console, counted, print_json, sentence


def compare_fairlex(*, folder: Path | None, as_json: bool) -> None:
    """Print the tables; write them as CSV files into a folder where one is given.

    Raises:
        BadInput: the folder cannot be written.
    """
    from evenhand.domains.fairlex import published  # noqa: PLC0415

    cells = [asdict(cell) for cell in published.cells()]
    disparities = [
        {
            **{key: value for key, value in asdict(one).items() if key != "floor"},
            "floor_mean": one.floor.mean,
            "floor_95": one.floor.percentile_95,
            "worst_group_bias": one.floor.worst_group_bias,
            "reading": one.reading,
        }
        for one in published.disparities()
    ]
    found = [asdict(one) for one in published.contradictions()]
    if folder is not None:
        _write(folder, {"cells": cells, "disparities": disparities, "contradictions": found})
    if as_json:
        print_json(
            {
                "source": published.source(),
                "cells": cells,
                "disparities": disparities,
                "contradictions": found,
            }
        )
        return
    _print(cells, disparities, found, published.source())


def _print(
    cells: list[dict[str, Any]], disparities: list[dict[str, Any]], found: list[dict[str, Any]], source: str
) -> None:
    from rich.table import Table  # noqa: PLC0415

    out = console()
    sentence(out, f"Source: {source}.")
    noise = sum(one["reading"] == "within noise" for one in disparities)
    sentence(
        out,
        f"Of {len(disparities)} disparities in Table 4, {noise} are within what chance alone gives on a "
        "test set of that size.",
        "bold",
    )
    table = Table(title="Table 4, with the noise floor of each disparity, in points", title_justify="left")
    for name in ("set", "attribute", "method"):
        table.add_column(name, overflow="fold")
    for name in ("mean", "GD", "worst", "floor, mean", "floor, 95%"):
        table.add_column(name, justify="right")
    table.add_column("reading")
    for one in disparities:
        numbers = (one[name] for name in ("mean", "gd", "worst", "floor_mean", "floor_95"))
        table.add_row(one["set"], one["attribute"], one["method"], *map(str, numbers), one["reading"])
    out.print(table)
    for number in ("2", "3", "6", "7", "8", "9", "10", "11"):
        of_table = [cell for cell in cells if cell["table"] == number]
        fields = list(dict.fromkeys(cell["field"] for cell in of_table))
        table = Table(title=f"Table {number}", title_justify="left")
        for name in ("set", "attribute", "row"):
            table.add_column(name, overflow="fold")
        for name in fields:
            table.add_column(name, justify="right")
        rows: dict[tuple[str, str, str], dict[str, Any]] = {}
        for cell in of_table:
            key = (cell["set"], cell["attribute"], cell["row"])
            rows.setdefault(key, {})[cell["field"]] = cell["value"]
        for key, values in rows.items():
            table.add_row(*key, *(_shown(values.get(name)) for name in fields))
        out.print(table)
    kinds = ("contradiction", "conditional", "rounding")
    numbers_of = ", ".join(f"{sum(one['kind'] == kind for one in found)} {kind}" for kind in kinds)
    sentence(out, f"Cells that contradict each other: {counted(len(found), 'case')} ({numbers_of}).", "bold")
    for one in found:
        implied = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in one["implied"].items())
        printed = "; ".join(
            f"Table {cell.get('table')} {cell.get('row')} {cell.get('field')} {cell.get('printed')}"
            for cell in one["cells"]
        )
        sentence(out, f"{one['id']} ({one['kind']}): printed {printed}. Implied: {implied}. {one['why']}")
    sentence(
        out,
        "The floors come from simulation with error models tuned to the paper's scores, and test groups "
        "sized by their training shares: they are assumptions, not data of the paper.",
    )


def _shown(value: Any) -> str:
    return "–" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:g}"


def _write(folder: Path, tables: dict[str, list[dict[str, Any]]]) -> None:
    from store.errors import BadInput  # noqa: PLC0415

    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, rows in tables.items():
            with (folder / f"fairlex_{name}.csv").open("w", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, list(rows[0]))
                writer.writeheader()
                writer.writerows(rows)
    except OSError as error:
        raise BadInput(f"{folder} cannot be written: {error.strerror or error}.") from error
