"""What `evenhand analyze` and `evenhand report` print of groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.cli.options import console, sentence

if TYPE_CHECKING:
    from store import Study


def groups_json(study: Study) -> dict[str, Any]:
    """The disparities of the default rule, and what is said of them."""
    from analyze.groups.report import disparities, sentences  # noqa: PLC0415

    return {
        "findings": sentences(study.connection),
        "group_disparities": [row.as_dict() for row in disparities(study.connection)],
    }


def print_groups(study: Study) -> None:
    """The findings in words, then a table of disparities."""
    from rich.table import Table  # noqa: PLC0415

    from analyze.groups.report import disparities, sentences, shown  # noqa: PLC0415

    out = console()
    for line in sentences(study.connection):
        sentence(out, line)
    table = Table(title="Scores and disparities between groups, in points of macro-F1", title_justify="left")
    for name in ("collection", "model", "attribute"):
        table.add_column(name, overflow="fold")
    for name in ("mean", "GD", "floor", "p", "p, Holm", "p within labels"):
        table.add_column(name, justify="right")
    table.add_column("worst group")
    table.add_column("reading")
    for row in disparities(study.connection):
        table.add_row(*shown(row))
    if table.row_count:
        out.print(table)
