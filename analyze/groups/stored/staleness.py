"""Whether the results of group analysis are of the answers that the study has now."""

from __future__ import annotations

from dataclasses import dataclass

import duckdb

from analyze.groups.stored.run import fingerprint
from analyze.groups.stored.work import Settled, settled


@dataclass(frozen=True, slots=True)
class OutdatedGroups:
    """A model whose group results are not of all that the study has."""

    collection: str
    arm: str
    model: str
    analysed: bool
    """False: it was never analysed."""
    more: int
    """Queries settled since, less those that no longer count."""


def outdated(connection: duckdb.DuckDBPyConnection) -> list[OutdatedGroups]:
    """The models whose answers, or whose cases, are others than when they were analysed."""
    known: dict[tuple[str, str, str], tuple[int, str]] = {
        (collection, arm, model): (number, mark)
        for collection, arm, model, number, mark in connection.execute(
            "SELECT collection, arm, model, settled, fingerprint FROM group_analyses ORDER BY rowid"
        ).fetchall()
    }
    now: dict[tuple[str, str, str], list[Settled]] = {}
    for (collection, arm), of_arm in settled(connection).items():
        for one in of_arm:
            now.setdefault((collection, arm, one.model), []).append(one)
    found = []
    for key in dict.fromkeys([*known, *now]):
        number, mark = known.get(key, (0, ""))
        if fingerprint(now.get(key, [])) != mark:
            more = sum(one.settled for one in now.get(key, [])) - number
            found.append(OutdatedGroups(*key, analysed=key in known, more=more))
    return found
