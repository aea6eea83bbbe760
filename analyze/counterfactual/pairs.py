"""Counterfactual pairs: two answers to the same case between which one fact was changed, side by side.

They are shown in the order of the cases, not chosen by size, so that they are examples and no selection.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import duckdb

from analyze.counterfactual.frame import Cell, HoldsConnection, connection_of, key_of
from analyze.specification import Specifications
from store.errors import BadInput

Which = Literal["all", "changed", "incomplete", "unreadable", "declined"]
"""All pairs; those of which both answers were read and differ; those of which one alone was not, or both for
different reasons; those with an answer whose text nobody can read; those with one that was declined."""

_PAIRS = (Path(__file__).parent / "pairs.sql").read_text(encoding="utf-8")
_WHERE: Mapping[str, str] = {
    "all": "true",
    "changed": "differs AND NOT incomplete",
    "incomplete": "incomplete AND (r.missing IS DISTINCT FROM v.missing)",
    "unreadable": "(r.missing IS NOT NULL AND r.text IS NOT NULL AND NOT r.declined) "
    "OR (v.missing IS NOT NULL AND v.text IS NOT NULL AND NOT v.declined)",
    "declined": "r.declined OR v.declined",
}


@dataclass(frozen=True, slots=True)
class Side:
    """One answer of a pair."""

    value: str
    text: str | None
    """As the model gave it; None where the study does not have it."""
    amount: float | None
    """What was read, in the frame's unit."""
    kind: str | None
    missing: str | None
    """Why nothing was read; None where something was."""
    fact: str | None
    """The text in the prompt that the other side has otherwise; None where the prompt is not known."""
    declined: bool = False
    """The model would not give an answer."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two answers to one case."""

    doc_id: str
    repeat: int
    reference: Side
    varied: Side


def pairs(
    study: HoldsConnection | duckdb.DuckDBPyConnection,
    specs: Specifications,
    cell: Cell,
    label: str,
    value: str,
    references: Sequence[str],
    *,
    which: Which = "changed",
    limit: int | None = 3,
) -> list[Pair]:
    """Pairs of a value and its reference, in the order of the cases; all of them where `limit` is None.

    Empty where the frame does not say which stored answer a row is of, or the specifications have no
    [inference], which says what is read of an answer.
    """
    inference = specs.inference
    if inference is None:
        return []
    connection = connection_of(study)
    statement = _PAIRS.format(
        view=specs.frame.view,
        outcome=inference.outcome,
        sample=inference.sample,
        kind=inference.kind or "NULL",
        missing=inference.missing or "NULL",
        declined=inference.declined or "false",
        where=_WHERE[which],
    )
    key = [*key_of(cell), label]
    try:
        described = connection.execute(f"DESCRIBE {specs.frame.view}").fetchall()
        if "prediction_id" not in {str(row[0]) for row in described}:
            return []
        rows = connection.execute(
            statement, [*key, list(references), value, cell.collection, limit]
        ).fetchall()
    except (duckdb.CatalogException, duckdb.BinderException, duckdb.ParserException) as error:
        raise BadInput(f"{specs.path} does not fit the database: {error}") from error
    return [_pair(row) for row in rows]


def _pair(row: Sequence[object]) -> Pair:
    doc_id, repeat, *sides = row
    first, second = sides[:7], sides[7:]
    own, other = (_fills(side[6]) for side in (first, second))
    return Pair(
        str(doc_id),
        int(str(repeat)),
        _side(first, _differing(own, other)),
        _side(second, _differing(other, own)),
    )


def _side(parts: Sequence[object], fact: str | None) -> Side:
    value, text, amount, kind, missing, declined, _ = parts
    return Side(
        value=str(value),
        text=None if text is None else str(text),
        amount=None if amount is None else float(str(amount)),
        kind=None if kind is None else str(kind),
        missing=None if missing is None else str(missing),
        fact=fact,
        declined=bool(declined),
    )


def _fills(stored: object) -> Mapping[str, str]:
    found = json.loads(str(stored)) if stored is not None else {}
    return {str(name): str(text) for name, text in found.items()} if isinstance(found, dict) else {}


def _differing(own: Mapping[str, str], other: Mapping[str, str]) -> str | None:
    """The texts of the slots that the other prompt fills otherwise."""
    texts = [text for name, text in own.items() if other.get(name) != text]
    return " … ".join(texts) or None
