"""Further tables of results: what `tables.toml` declares, read and shown where the study has rows for it."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import duckdb

from analyze.findings import codes
from analyze.report import undefined_values
from analyze.report.shapes import IMPORTED, Audit, Design, Reading, Results
from analyze.report.sheets import SPARE, USEFUL, Column, Kind, Sheet
from analyze.report.texts import Texts
from store.identity import BASE_ARM

AUDIT, ACROSS, COMPARISON = "audit", "across", "comparison"
_FILE = Path(__file__).parent / "tables.toml"
_KEYS = {
    AUDIT: ("collection", "model_key", "arm", "coding"),
    ACROSS: ("collection", "arm", "coding"),
    COMPARISON: ("collection", "model_key", "arm"),
}

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Further:
    """A table as it is declared; see the head of `tables.toml`."""

    name: str
    table: str
    scope: str
    title: str
    text: str
    keys: tuple[str, ...]
    columns: tuple[Column, ...]
    where: str = "true"
    order: str = ""
    fold: bool = False
    imported: str = ""
    """Said besides, of answers that others asked for."""

    def in_words_of(self, results: Results) -> Further:
        """The same with the domain's words in the place of the slots."""
        texts, unit = results.texts, results.unit
        words = {
            "{document}": texts.document,
            "{documents}": texts.documents,
            "{Documents}": texts.documents.capitalize(),
            "{unit}": unit,
            "{in_unit}": f" in {unit}" if results.specs.kind == "amount" else "",
            "{measure}": texts.measure,
        }

        def said(text: str) -> str:
            for slot, word in words.items():
                text = text.replace(slot, word)
            return text

        columns = tuple(replace(column, heading=said(column.heading)) for column in self.columns)
        return replace(
            self,
            title=said(self.title),
            text=said(self.text),
            imported=said(self.imported),
            columns=columns,
        )

    def without_empty(self, rows: Sequence[Row]) -> Further:
        """The same without the columns in which no row has anything."""
        columns = tuple(c for c in self.columns if any(row[c.key] not in (None, "") for row in rows))
        return replace(self, columns=columns)


@cache
def declared() -> tuple[Further, ...]:
    """Every table that is declared, in the order in which they are shown."""
    found = []
    for entry in tomllib.loads(_FILE.read_text(encoding="utf-8"))["table"]:
        columns = []
        for key, heading, *rest in entry.pop("columns"):
            kind: Kind = rest[0] if rest else "text"
            columns.append(Column(key, heading, kind, rest[1] if len(rest) > 1 else 0))
        for key in ("text", "imported"):
            entry[key] = " ".join(entry.get(key, "").split())
        found.append(Further(**{**entry, "keys": tuple(entry["keys"]), "columns": tuple(columns)}))
    return tuple(found)


def read(connection: duckdb.DuckDBPyConnection, texts: Texts, outcome: str) -> dict[str, tuple[Row, ...]]:
    """An outcome's rows of every declared table that the study has, by the table's name in the report.

    Notes and conclusions are in the domain's words.
    """
    present = {
        name
        for (name,) in connection.execute(
            "SELECT table_name FROM duckdb_tables() UNION SELECT view_name FROM duckdb_views()"
        ).fetchall()
    }
    found: dict[str, tuple[Row, ...]] = {}
    for shown in declared():
        if shown.table not in present:
            continue
        order = f"ORDER BY {shown.order}" if shown.order else ""
        of_outcome = f"(SELECT * FROM {shown.table} WHERE outcome = ?)"
        cursor = connection.execute(f"SELECT * FROM {of_outcome} WHERE {shown.where} {order}", [outcome])
        names = [column[0] for column in cursor.description or ()]
        said = {column.key for column in shown.columns if column.is_text} - set(shown.keys)
        rows = tuple(
            {
                name: texts.noted(value) if name in said and isinstance(value, str) else value
                for name, value in undefined_values.further(dict(zip(names, row, strict=True))).items()
            }
            for row in cursor.fetchall()
        )
        if rows:
            found[shown.name] = rows
    return found


def with_kinds(
    found: Mapping[str, tuple[Row, ...]], audits: Sequence[Audit], unit: str
) -> dict[str, tuple[Row, ...]]:
    """The tables, whose conclusions do not say "no change" of a value under which the kind of answer changes.

    A conclusion is on the amount alone; an acquittal in the place of a fine leaves that where it is.
    """
    changed = {
        (*audit.answers, reading.coding, row.label, row.value): row.n_changed
        for audit in audits
        for reading in audit.readings
        for row in reading.findings
        if row.measure == codes.KIND and row.scope == codes.VALUE and row.n_changed
    }
    key = (*_KEYS[AUDIT], "label", "value")
    return {
        name: tuple(
            {**row, "conclusion": f"on {unit} alone: {row['conclusion']}; the kind of answer changes"}
            if row.get("conclusion") and tuple(row[part] for part in key) in changed
            else row
            for row in rows
        )
        for name, rows in found.items()
    }


@dataclass(frozen=True, slots=True)
class Part:
    """A table with the rows of one audit, or of one collection and arm over their models."""

    shown: Further
    rows: tuple[Row, ...]
    designs: Mapping[str, Design]
    coding: str | None
    collection: str
    arm: str

    def key_of(self, row: Row) -> str:
        """What tells a row from the others: the values of its keys, as JSON."""
        return json.dumps([row[key] for key in self.shown.keys], ensure_ascii=False, separators=(",", ":"))


def of_audit(results: Results, audit: Audit, scope: str = AUDIT) -> list[Part]:
    """The tables that have rows for an audit: under each of its codings, or on its codings compared."""
    found = []
    for shown in declared():
        if shown.scope != scope:
            continue
        for reading in audit.readings if scope == AUDIT else audit.readings[:1]:
            key = dict(zip(_KEYS[scope], (*audit.answers, reading.coding), strict=False))
            rows = tuple(row for row in results.further.get(shown.name, ()) if _matches(row, key))
            if rows:
                rows = _by_design(shown, rows, reading)
                words = shown.in_words_of(results).without_empty(rows)
                if audit.kind == IMPORTED and shown.imported:
                    words = replace(words, text=f"{words.text} {words.imported}")
                coding = reading.coding if scope == AUDIT else None
                found.append(Part(words, rows, reading.designs, coding, audit.collection, audit.arm))
    return found


def across(results: Results) -> list[Part]:
    """The tables over models, for each collection and arm under the leading coding."""
    coding = results.codings[0]
    designs = next(r.designs for a in results.audits for r in a.readings if r.coding == coding)
    found = []
    for shown in declared():
        if shown.scope != ACROSS:
            continue
        for collection, arm in dict.fromkeys((audit.collection, audit.arm) for audit in results.audits):
            key = {"collection": collection, "arm": arm, "coding": coding}
            rows = tuple(row for row in results.further.get(shown.name, ()) if _matches(row, key))
            if rows:
                words = shown.in_words_of(results).without_empty(rows)
                if arm != BASE_ARM:
                    words = replace(words, title=f"{words.title} (arm {arm})")
                found.append(Part(words, rows, designs, coding, collection, arm))
    return found


def _matches(row: Row, key: Mapping[str, Any]) -> bool:
    return all(row[name] == value for name, value in key.items())


def _by_design(shown: Further, rows: Sequence[Row], reading: Reading) -> tuple[Row, ...]:
    """In the design's order where rows are of labels and no other order is declared."""
    if shown.order or "label" not in shown.keys:
        return tuple(rows)
    place = {
        (label, value): (i, j)
        for i, (label, design) in enumerate(reading.designs.items())
        for j, value in enumerate(("", *design.treated))
    }
    late = (len(reading.designs), 0)
    return tuple(
        sorted(rows, key=lambda row: place.get((row["label"], row.get("value") or ""), late))
        if "value" in shown.keys
        else sorted(rows, key=lambda row: place.get((row["label"], ""), late))
    )


def sheets(results: Results) -> list[Sheet]:
    """The same as sheets, for files: names in both languages, and the key of what each row is of."""
    found = []
    for shown in declared():
        rows = results.further.get(shown.name, ())
        if not rows:
            continue
        words = shown.in_words_of(results)
        designs = {d.label: d for a in results.audits for r in a.readings for d in r.designs.values()}
        apart = {a.answers: a.apart for a in results.audits}
        if "model_key" in rows[0]:
            rows = tuple(
                {**row, "settings": apart.get((row["collection"], row["model_key"], row["arm"]), "")}
                for row in rows
            )
        keyed = [
            Column(key, key.replace("_", " ").capitalize(), rank=USEFUL if key == "settings" else SPARE)
            for key in ("collection", "model", "settings", "model_key", "temperature", "arm", "coding")
            if key in rows[0] and key not in shown.keys and (key != "arm" or results.has_arms)
        ]
        columns: list[Column] = [*keyed]
        for column in words.columns:
            columns.append(replace(column, chinese=column.key == "value"))
            if column.key in ("label", "value"):
                columns.append(Column(f"{column.key}_en", f"{column.heading}, English"))
        found.append(
            Sheet(
                shown.name,
                shown.title,
                tuple(columns),
                tuple(tuple(_cell(row, column.key, designs) for column in columns) for row in rows),
            )
        )
    return found


def _cell(row: Row, key: str, designs: Mapping[str, Design]) -> Any:
    if key in row:
        return row[key]
    design = designs.get(row["label"])
    if key == "label_en":
        return design.name_en if design else row["label"]
    return design.value_en(row["value"]) if design and row["value"] else row["value"]
