"""What is still to be asked: a model asked half of its queries is not to be ranked beside the others."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import duckdb

from analyze.counterfactual.frame import HoldsConnection, connection_of

_PENDING = (Path(__file__).parent / "pending.sql").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Pending:
    """How far a model is with one repeat of a collection's queries in an arm."""

    collection: str
    model: str
    temperature: float | None
    model_key: str
    arm: str
    repeat: int
    queries: int
    answered: int
    otherwise: int
    """Refused by a filter, cut off, empty, or given up: asked, and no answer."""
    pending: int


def read_pending(study: HoldsConnection | duckdb.DuckDBPyConnection) -> list[Pending]:
    """Counts by collection, model, arm and repeat begun, in this order. Reads the study's own tables."""
    return [Pending(*row) for row in connection_of(study).execute(_PENDING).fetchall()]
