"""Findings as a study has them."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import duckdb

from analyze.counterfactual.frame import Cell, HoldsConnection, connection_of
from analyze.findings.rows import Finding, FindingRow

_FINDINGS = (Path(__file__).parent / "findings.sql").read_text(encoding="utf-8")


def read_findings(
    study: HoldsConnection | duckdb.DuckDBPyConnection,
    *,
    collection: str | None = None,
    coding: str | None = None,
    model_key: str | None = None,
    arm: str | None = None,
    outcome: str | None = None,
) -> list[Finding]:
    """The findings of a study, or of a part of it.

    Their order is fixed: by collection, coding, arm, model, temperature, key and outcome; within these by
    label in the design's order, each label first, then its tests, each with its values.
    """
    return stored_findings(
        connection_of(study),
        collection=collection,
        coding=coding,
        model_key=model_key,
        arm=arm,
        outcome=outcome,
    )


def stored_findings(
    connection: duckdb.DuckDBPyConnection,
    *,
    collection: str | None = None,
    coding: str | None = None,
    model_key: str | None = None,
    arm: str | None = None,
    outcome: str | None = None,
) -> list[Finding]:
    """The same by this connection, whose open transaction may have written them."""
    key = [field.name for field in fields(Cell)]
    own = [field.name for field in fields(FindingRow)]
    columns = ", ".join(f'"{name}"' for name in (*key, *own))
    rows = connection.execute(_FINDINGS.format(columns=columns)).fetchall()
    found = [
        Finding(cell=Cell(*row[: len(key)]), **dict(zip(own, row[len(key) :], strict=True))) for row in rows
    ]
    return [
        one
        for one in found
        if collection in (None, one.cell.collection)
        and coding in (None, one.cell.coding)
        and model_key in (None, one.cell.model_key)
        and arm in (None, one.cell.arm)
        and outcome in (None, one.cell.outcome)
    ]
