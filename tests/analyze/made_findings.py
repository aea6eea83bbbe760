"""Findings of any make, put into a study: what a report may say is tested apart from how they come to be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import store
from analyze.findings import FindingRow, codes

LABEL = "defendant_religion"


def finding(**parts: Any) -> FindingRow:
    """A finding of the primary outcome over 30 cases, nothing changed, unless said otherwise."""
    usual: dict[str, Any] = {
        "position": 0,
        "label": LABEL,
        "group": "substantive",
        "scope": codes.VALUE,
        "value": None,
        "contrast": None,
        "test": "outcome",
        "measure": codes.AMOUNT,
        "unit": "months",
        "n_asked": 30,
        "n_compared": 30,
        "n_changed": 0,
        "state": codes.NOT_SHOWN,
    }
    return FindingRow(**(usual | parts))


def of_value(value: str = "伊斯兰教", reference: str = "无神论", **parts: Any) -> FindingRow:
    """A finding of one value."""
    return finding(value=value, contrast=f"{reference} -> {value}", **parts)


def of_label(**parts: Any) -> FindingRow:
    """The finding of a label."""
    return finding(**({"scope": codes.LABEL, "family": 1, "weight": 1.0} | parts))


def of_test(**parts: Any) -> FindingRow:
    """The finding of one test of a label."""
    return finding(**({"scope": codes.TEST} | parts))


def confirmed(*values: FindingRow, **parts: Any) -> list[FindingRow]:
    """A label that is confirmed by one test, with its values."""
    held = {"state": codes.CONFIRMED, "p": 0.0001, "p_within": 0.0001, "p_adjusted": 0.0002} | parts
    first = values[0]
    held = {"test": first.test, "measure": first.measure, "unit": first.unit, "label": first.label} | held
    return [of_label(**held), of_test(**held), *values]


def put(study: store.Study, rows: Sequence[FindingRow]) -> None:
    """Replace the study's findings by these, of its first model."""
    connection = study.connection
    connection.execute("DELETE FROM findings")
    key = connection.execute(
        "SELECT collection, model_key, model, temperature, coding, arm, outcome FROM label_metrics LIMIT 1"
    ).fetchall()[0]
    for position, row in enumerate(rows):
        columns = asdict(replace(row, position=position))
        names = ("collection", "model_key", "model", "temperature", "coding", "arm", "outcome", *columns)
        marks = ", ".join("?" * len(names))
        quoted = ", ".join(f'"{name}"' for name in names)
        connection.execute(f"INSERT INTO findings ({quoted}) VALUES ({marks})", [*key, *columns.values()])
