"""Names as they are printed: which label and value a line of a file of printed figures is about.

Letters and digits alone count: case, blanks, underscores and hyphens do not. A name may be the study's own,
one of the design's others (the columns that the specifications call `alias` and `value_alias`, and `name_en`,
`name_zh` and `value_en` where the design has them), or that of a row of a printed table, which says label and
value at once ("Defendant Female"): the column `printed`, of a value, or of a label with a single coefficient.
Where a name could mean several, nothing is guessed.
"""

from __future__ import annotations

import difflib
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

from analyze.specification import FrameNames

_NAMES = (Path(__file__).parent / "names.sql").read_text(encoding="utf-8")

MOST_LISTED = 6
"""Of what a name could mean, so many are told."""

Place = tuple[str, str]
"""A label and one of its values, as the study calls them."""


@dataclass(slots=True)
class Called:
    """A label: its names, and those of its values in the design's order."""

    names: list[str] = field(default_factory=list)
    values: dict[str, list[str]] = field(default_factory=dict)
    reference: set[str] = field(default_factory=set)


class Names:
    """The names of a study's labels and values; `estimated`: label, value and variant of every figure."""

    def __init__(self, rows: Iterable[Mapping[str, Any]], estimated: Set[tuple[str, str, str]]) -> None:
        self._estimated = estimated
        self._places = {(label, value) for label, value, _ in estimated}
        self._labels: defaultdict[str, Called] = defaultdict(Called)
        self._rows: defaultdict[str, set[Place]] = defaultdict(set)
        printed: list[tuple[str, Place]] = []
        for row in rows:
            label, value = row["label"], row["value"]
            called = self._labels[label]
            called.names = list(dict.fromkeys([label, *filter(None, row["label_names"])]))
            if value is not None:
                called.values[value] = list(dict.fromkeys([value, *filter(None, row["value_names"])]))
                if row["is_reference"]:
                    called.reference.add(value)
                if row["value_row"]:
                    printed.append((row["value_row"], (label, value)))
            elif row["label_row"]:
                printed += [(row["label_row"], place) for place in self._places if place[0] == label]
        for label, called in self._labels.items():
            printed += [
                (head + name, (label, value))
                for head in _heads(called.names)
                for value, names in called.values.items()
                for name in names
            ]
        for name, place in printed:
            self._rows[bare(name)].add(place)

    def find(self, label: str, value: str, variant: str) -> tuple[tuple[str, str, str] | None, str]:
        """The study's label, value and variant that a line is about; None and what is wrong where none is."""
        places = self._meant(label, value)
        if len(places) > 1:
            listed = "; ".join(f"{a} = {b}" for a, b in sorted(places)[:MOST_LISTED])
            listed += "; ..." if len(places) > MOST_LISTED else ""
            return None, f"several figures could be meant: {listed}"
        if not places:
            return None, self._why_none(label, value)
        ((found, of),) = places
        if (found, of) not in self._places:
            return None, self._why_not_estimated(found, of)
        variants = {v for a, b, v in self._estimated if (a, b) == (found, of)}
        named = [v for v in variants if bare(v) == bare(variant)]
        if len(named) != 1:
            return None, f"no such variant; there are {', '.join(sorted(variants))}"
        return (found, of, named[0]), ""

    def _meant(self, label: str, value: str) -> set[Place]:
        """The label and values that two cells can mean; either cell may have the name of a printed row."""
        if not bare(label):
            valued = [k for k, called in self._labels.items() if called.values and bare(value)]
            return self._row(value) or {(k, v) for k in valued for v in self._values(k, value)}
        by_label = {(k, v) for k in self._called(label) for v in self._values(k, value)}
        if by_label:
            return by_label
        by_row = self._row(label)
        if bare(value) not in ("", bare(label)):
            by_row = {(k, v) for k, v in by_row if v in self._values(k, value)}
        by_row = by_row or self._row(label + value)
        return by_row if by_row or bare(value) else self._meant("", label)

    def _called(self, label: str) -> set[str]:
        if label in self._labels:
            return {label}
        return {k for k, called in self._labels.items() if bare(label) in map(bare, called.names)}

    def _values(self, label: str, value: str) -> set[str]:
        """The values of a label that a name can mean; no name means the only treated one."""
        called = self._labels[label]
        if not called.values:
            # A label without values of its own has one coefficient, which papers print under many names.
            return {v for k, v in self._places if k == label}
        if value in called.values:
            return {value}
        if not bare(value):
            treated = called.values.keys() - called.reference
            return treated if len(treated) == 1 else set()
        named = {v for v, names in called.values.items() if bare(value) in map(bare, names)}
        if named:
            return named
        rows = self._row(value).union(*(self._row(head + value) for head in _heads(called.names)))
        return {v for k, v in rows if k == label}

    def _row(self, name: str) -> set[Place]:
        """The places that a printed row's name stands for; a reference has no figure, and gives way."""
        found = self._rows.get(bare(name), set()) if bare(name) else set()
        return found & self._places or found

    def _why_none(self, label: str, value: str) -> str:
        known = self._called(label)
        if known:
            has = "; ".join(self._listed(name) for name in sorted(known))
            return (
                f"the label has no such value; it has {has}" if bare(value) else f"no value is named: {has}"
            )
        rows = self._row(label)
        if rows:
            ((of, meant), *_) = sorted(rows)
            return f"{label} is {of} = {meant}, which is not called {value}"
        names = {bare(n): k for k, called in self._labels.items() for n in called.names}
        names |= {row: f"{k} = {v}" for row, places in self._rows.items() for k, v in places & self._places}
        near = difflib.get_close_matches(bare(label or value), names, n=3, cutoff=0.75)
        told = "no such label in the study"
        return f"{told}; near to it: {', '.join(dict.fromkeys(names[n] for n in near))}" if near else told

    def _why_not_estimated(self, label: str, value: str) -> str:
        if not any(k == label for k, _ in self._places):
            return f"the study has no figures of {label} for this model"
        if value in self._labels[label].reference:
            return f"{value} is the reference of {label}: it has no figure of its own"
        return f"the study has no figure of {label} = {value}"

    def _listed(self, label: str) -> str:
        called = self._labels[label]
        return ", ".join(
            f"{value} ({names[-1]})" if len(names) > 1 else value
            for value, names in called.values.items()
            if value not in called.reference
        )


def bare(name: str) -> str:
    """The letters and digits of a name, in lower case: what a printer cannot change."""
    return "".join(c for c in unicodedata.normalize("NFKC", name).casefold() if c.isalnum())


def _heads(names: Iterable[str]) -> set[str]:
    """What may stand before a value's name in a row's: the label, or its first word (whose trait it is)."""
    return {head for name in names for head in (name, *name.replace("_", " ").split()[:1])}


def read(connection: duckdb.DuckDBPyConnection, frame: FrameNames, before: str) -> list[dict[str, Any]]:
    """The rows of `names.sql`: a line for each value of each label under the coding `before`."""
    designs, values = (_columns(connection, view) for view in (frame.designs, frame.values))
    statement = _NAMES.format(
        designs=frame.designs,
        values=frame.values,
        label_names=_list("d", {frame.alias, "name_en", "name_zh"} & {frame.alias, *designs}),
        value_names=_list("v", {frame.value_alias, "value_en"} & {frame.value_alias, *values}),
        label_row="d.printed" if "printed" in designs else "NULL",
        value_row="v.printed" if "printed" in values else "NULL",
        note=f"d.{frame.note}" if frame.note else "NULL",
    )
    rows: list[dict[str, Any]] = (
        connection.sql(statement, params={"before": before}).to_arrow_table().to_pylist()
    )
    return rows


def _columns(connection: duckdb.DuckDBPyConnection, view: str) -> set[str]:
    return {str(row[0]) for row in connection.execute(f"DESCRIBE {view}").fetchall()}


def _list(of: str, columns: Iterable[str | None]) -> str:
    texts = ", ".join(f"CAST({of}.{name} AS VARCHAR)" for name in sorted(filter(None, columns)))
    return f"CAST([{texts}] AS VARCHAR[])"
