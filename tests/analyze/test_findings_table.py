"""The table of findings: columns and rows are the same, its codes have texts, its order is fixed."""

from __future__ import annotations

from dataclasses import fields

import analyze
import store
from analyze.counterfactual.frame import CELL_KEY, Cell
from analyze.findings import Finding, FindingRow, codes, read_findings
from analyze.stored import tables


def row(position: int, label: str, **others: object) -> FindingRow:
    given: dict = {
        "position": position, "label": label, "group": "vessel", "scope": codes.LABEL, "value": None,
        "contrast": None, "test": "outcome", "measure": codes.AMOUNT, "unit": "points", "n_asked": 30,
        "n_compared": 19, "n_changed": 19, "state": codes.CONFIRMED,
    }  # fmt: skip
    return FindingRow(**(given | others))


def test_rows_come_back_as_they_were_in_a_fixed_order() -> None:
    first, second = (Cell("c", name, 0.0, name, "plain", "base", "points") for name in ("a", "b"))
    glass, music = row(0, "glass", effect=-6.5, note="no_spread; few_changers"), row(1, "music", value="loud")
    with store.open_study(":memory:", migrations=[analyze.MIGRATIONS]) as study:
        given = [(second, glass), (first, music), (first, glass)]
        new = {"findings": tables.arrow(Cell, FindingRow, given)}
        tables.replace(study.connection, new, [], CELL_KEY)
        found = read_findings(study)
        assert [(one.cell.model, one.label) for one in found] == [
            ("a", "glass"), ("a", "music"), ("b", "glass"),
        ]  # fmt: skip
        assert found[0] == Finding(
            cell=first, **{field.name: getattr(glass, field.name) for field in fields(FindingRow)}
        )
        assert found[0].notes == ("no_spread", "few_changers")
        assert found[1].notes == ()
        assert [one.cell for one in read_findings(study, model_key="b")] == [second]
        columns = {name for (name,) in study.connection.execute(
            "SELECT column_name FROM duckdb_columns() WHERE table_name = 'findings'").fetchall()}  # fmt: skip
    assert columns == {field.name for kind in (Cell, FindingRow) for field in fields(kind)}


def test_codes_are_declared_once_with_a_text() -> None:
    for texts in (codes.STATES, codes.REASONS, codes.NOTES):
        assert all(text.endswith(".") for text in texts.values())
        assert len(set(texts.values())) == len(texts)
