"""`evenhand show`: one prompt, with its difference from the reference marked."""

from __future__ import annotations

from pathlib import Path

import click

from evenhand.commands.options import console, db_option, json_option, print_json, read_study


@click.command(
    epilog="""\b
Examples:
  evenhand show theft-ebike:defendant_sex:女
  evenhand show theft-ebike:defendant_sex:female
  evenhand show theft-ebike:judge_age
  evenhand show 1f3c9a
"""
)
@click.argument("query")
@db_option
@json_option
def command(query: str, db: Path, as_json: bool) -> None:
    """Print one prompt as the model gets it, with its difference from the reference marked.

    QUERY is an id (or the beginning of one), or DOCUMENT, DOCUMENT:LABEL or DOCUMENT:LABEL:VALUE, VALUE in
    Chinese or English (`evenhand labels`). The text in the first brackets is this prompt's, the one in the
    second its counterpart's.
    """
    from judifair.show import show  # noqa: PLC0415

    with read_study(db) as study:
        shown = show(study, query)
    if as_json:
        print_json(shown.as_dict())
    else:
        console().print(shown.as_text())
