"""Whether the results in a study are of the answers that it has now.

A study goes on: more answers come, a run is set aside, true judgments are corrected. Its tables of results
stay what they were until the next analysis, so each analysis notes which answers it knew.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from analyze.counterfactual.frame import CELL_KEY, Cell

_HERE = Path(__file__).parent
_SETTLED = (_HERE / "settled.sql").read_text(encoding="utf-8")
_UNANALYSED = (_HERE / "unanalysed.sql").read_text(encoding="utf-8")
_NEWER = (_HERE / "newer.sql").read_text(encoding="utf-8")
_OUTDATED = (_HERE / "outdated.sql").read_text(encoding="utf-8").format(settled=_SETTLED)


@dataclass(frozen=True, slots=True)
class Analysed:
    """A row of `analyses`: when (UTC), and on what."""

    analysed_at: dt.datetime
    settled: int
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Outdated:
    """An analysis that does not know all that the study has now."""

    collection: str
    model_key: str
    coding: str
    arm: str
    outcome: str
    analysed_at: dt.datetime
    more: int
    """Queries settled since, less those that no longer count."""
    changed: bool
    """The answers are others; if not, an import into the collection came after."""


@dataclass(frozen=True, slots=True)
class Unanalysed:
    """A model whose answers in an arm were never analysed as others of the collection were."""

    collection: str
    coding: str
    outcome: str
    arm: str
    model_key: str
    model: str
    temperature: float | None
    answers: int


def note(connection: duckdb.DuckDBPyConnection, cells: Sequence[Cell]) -> list[tuple[Cell, Analysed]]:
    """What an analysis of these cells knows, to be taken before it reads any answer.

    Nothing, where the frame's answers are not those of a study's queries.
    """
    if not in_a_study(connection):
        return []
    now = dt.datetime.now(dt.UTC).replace(tzinfo=None)
    rows = connection.execute(_SETTLED).fetchall()
    known = {(collection, key, arm): rest for collection, key, arm, *rest in rows}
    return [
        (cell, Analysed(now, *known.get((cell.collection, cell.model_key, cell.arm), (0, ""))))
        for cell in cells
    ]


def outdated(connection: duckdb.DuckDBPyConnection) -> list[Outdated]:
    """The analyses that are no longer of what the study has. None is told of where nothing was noted."""
    if not in_a_study(connection):
        return []
    return [Outdated(*row) for row in connection.execute(_OUTDATED).fetchall()]


def unanalysed(connection: duckdb.DuckDBPyConnection) -> list[Unanalysed]:
    """The models with answers that an analysis of their collection left out, or that came after it."""
    if not in_a_study(connection):
        return []
    return [Unanalysed(*row) for row in connection.execute(_UNANALYSED).fetchall()]


def newer(connection: duckdb.DuckDBPyConnection) -> dict[tuple[str, ...], int]:
    """How many answers an analysis cannot know, by collection, model's key, coding, arm and outcome.

    What was merged in after it bears the date on which it was asked, so the number settled since counts too.
    """
    if not in_a_study(connection):
        return {}
    found = {tuple(key): rows for *key, rows in connection.execute(_NEWER).fetchall()}
    for row in outdated(connection):
        key = tuple(str(getattr(row, name)) for name in CELL_KEY)
        found[key] = max(found.get(key, 0), row.more)
    return found


def in_a_study(connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether the frame stands in a study, which says what was asked and which answers count."""
    views = "SELECT count(*) FROM duckdb_views() WHERE view_name = 'latest'"
    return bool(connection.execute(views).fetchall()[0][0])
