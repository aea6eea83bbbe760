"""The options that say which queries: shared by `run` and `estimate`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from evenhand.cli.options import split_list

if TYPE_CHECKING:
    from store import Selection, Study

Command = TypeVar("Command", bound=Callable[..., Any])


def _shard(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[int, int] | None:
    """Read `2/4` as (2, 4)."""
    del ctx, param
    if value is None:
        return None
    part, slash, parts = value.partition("/")
    if not (slash and part.isdigit() and parts.isdigit() and 1 <= int(part) <= int(parts)):
        raise click.BadParameter(f"{value!r} is not a part: write 2/4 for the second of four.")
    return (int(part), int(parts))


def selection_options(command: Command) -> Command:
    """Add --collection, --labels, --documents, --arm, --limit and --shard."""
    for option in (
        click.option(
            "--shard",
            metavar="I/N",
            callback=_shard,
            help="Only the i-th of n parts, by document; see `merge`.",
        ),
        click.option(
            "--limit",
            type=click.IntRange(min=1),
            help="At most this many queries of the selection, counting those already answered (so the "
            "same limit asks nothing new). Cut after whole document x label sets; the first set alone is cut "
            "where it is larger.",
        ),
        click.option("--arm", "arms", help="Only these arms, separated by commas. [default: all]"),
        click.option("--documents", help="Only these documents: ids, separated by commas."),
        click.option("--labels", help="Only these labels, separated by commas."),
        click.option("--collection", help="Only this collection. [default: all]"),
        click.option(
            "--domain", metavar="NAME|FOLDER", help="Only the collection of this domain. [default: all]"
        ),
    ):
        command = option(command)
    return command


def selection(
    collection: str | None,
    labels: str | None,
    documents: str | None,
    limit: int | None,
    shard: tuple[int, int] | None,
    arms: str | None = None,
) -> Selection:
    """Make a selection of what was typed; labels may be given by their published keys too."""
    from evenhand.domains.judifair.catalogue import by_key  # noqa: PLC0415
    from store import Selection  # noqa: PLC0415

    wanted = split_list(labels)
    if wanted is not None:
        known = by_key()
        # An unknown label is left as it is: the store says that the study does not have it, and what it has.
        wanted = tuple(known[name].key if name in known else name for name in wanted)
    return Selection(
        collection=collection,
        labels=wanted,
        documents=split_list(documents),
        arms=arms_of(arms),
        limit=limit,
        shard=shard,
    )


def arms_of(text: str | None) -> tuple[str, ...] | None:
    """The arms that were typed; None for all. Raises BadInput where the option is there and names none."""
    from store.errors import BadInput  # noqa: PLC0415

    arms = split_list(text)
    if arms == ():
        raise BadInput(
            "--arm names no arm.", hint="Write them with commas between; without it, all arms are taken."
        )
    return arms


def collection_of(study: Study, domain: str | None, collection: str | None) -> str | None:
    """The collection that was typed, or the only one of the domain that was.

    Raises:
        BadInput: the study has no collection of the domain, or several.
    """
    from evenhand.services import domains  # noqa: PLC0415
    from store.errors import BadInput  # noqa: PLC0415

    if domain is None:
        return collection
    (audit,) = domains.of_study(study, domain)
    rows = study.connection.execute(
        "SELECT collection FROM collections WHERE domain = ? ORDER BY collection", [audit.name]
    ).fetchall()
    found = [str(row[0]) for row in rows]
    if collection is not None:
        if collection not in found:
            raise BadInput(f"The domain '{audit.name}' has no collection '{collection}' in this study.")
        return collection
    if len(found) != 1:
        raise BadInput(
            f"The study has {len(found)} collections of the domain '{audit.name}'.",
            hint=f"Name one with --collection: {', '.join(found)}." if found else "Build it first.",
        )
    return found[0]
