"""What there is to analyse: collections whose cases have groups, how they are scored, and who answered."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from analyze.groups.data import Classes
from analyze.groups.rules import Rule
from store.migrate import quoted

_SETTLED = (Path(__file__).parent / "settled.sql").read_text(encoding="utf-8")
_SCORED = ("class", "classes", "ordinal", "yes_no")
"""Kinds of outcomes that have classes; amounts and probabilities have no macro-F1."""


@dataclass(frozen=True, slots=True)
class AttributeDesign:
    """One way to group cases."""

    name: str
    groups: tuple[str, ...]
    unidentified: frozenset[int]
    unprinted: frozenset[int]
    """Groups that a published table leaves out."""


@dataclass(frozen=True, slots=True)
class Design:
    """How one outcome of a collection is scored."""

    collection: str
    schema: str
    outcome: str
    kind: str
    classes: Classes
    rule: Rule
    minimum_n: int
    attributes: tuple[AttributeDesign, ...]


@dataclass(frozen=True, slots=True)
class Settled:
    """What a model has answered in an arm of a collection."""

    collection: str
    arm: str
    model_key: str
    model: str
    seed: int | None
    settled: int
    fingerprint: str


def has_groups(connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether the study has cases in the groups design: queries without a label."""
    row = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM queries WHERE label IS NULL AND retired_at IS NULL)"
    ).fetchall()
    return bool(row[0][0])


def designs(connection: duckdb.DuckDBPyConnection) -> list[Design]:
    """Every scored outcome of every collection whose cases are asked as they are."""
    schemas = connection.execute(
        "SELECT schema_name FROM duckdb_columns() WHERE table_name = 'outcomes' AND column_name = 'rule' "
        "AND database_name = current_database() ORDER BY schema_name"
    ).fetchall()
    found: list[Design] = []
    for (schema,) in schemas:
        where = quoted(schema)
        collections = connection.execute(
            f"SELECT collection FROM collections JOIN {where}.domain AS d ON d.name = collections.domain "
            "WHERE collection IN (SELECT collection FROM queries WHERE label IS NULL AND retired_at IS NULL) "
            "ORDER BY collections.created_at, collection"
        ).fetchall()
        if not collections:
            continue
        attributes = _attributes(
            connection.execute(
                "SELECT attribute, group_name, is_identified, coalesce(is_printed, true) "
                f"FROM {where}.attributes ORDER BY position, attribute"
            ).fetchall(),
            _order(connection, where),
        )
        outcomes = connection.execute(
            "SELECT outcome, kind, classes, none_class, positive_class, rule, minimum_n "
            f"FROM {where}.outcomes ORDER BY position"
        ).fetchall()
        for (collection,) in collections:
            for outcome, kind, names, none, positive, rule, minimum_n in outcomes:
                if kind in _SCORED and attributes:
                    found.append(
                        Design(
                            collection=collection,
                            schema=schema,
                            outcome=outcome,
                            kind=kind,
                            classes=_classes(kind, names, none, positive),
                            rule=Rule(rule or "support"),
                            minimum_n=minimum_n or 1,
                            attributes=attributes,
                        )
                    )
    return found


def settled(connection: duckdb.DuckDBPyConnection) -> dict[tuple[str, str], list[Settled]]:
    """Who answered, by collection and arm; models of one name with other settings are told apart."""
    rows = connection.execute(_SETTLED).fetchall()
    series: dict[tuple[str, str], dict[str, dict[str, None]]] = {}
    for collection, arm, _, model, _, _, settings, *_ in rows:
        series.setdefault((collection, arm), {}).setdefault(model, {})[_series(settings)] = None
    found: dict[tuple[str, str], list[Settled]] = {}
    for collection, arm, key, model, temperature, seed, settings, number, fingerprint in rows:
        known = list(series[collection, arm][model])
        place = known.index(_series(settings))
        name = model
        if len(known) > 1:
            name += f" (temperature {temperature:g})" if temperature is not None else f" ({place + 1})"
        found.setdefault((collection, arm), []).append(
            Settled(collection, arm, key, name, seed, number, fingerprint)
        )
    return {where: _distinct(of_arm) for where, of_arm in found.items()}


def _series(settings: str) -> str:
    """Everything but the seed that can change an answer."""
    given: dict[str, Any] = json.loads(settings)
    return json.dumps({key: value for key, value in given.items() if key != "seed"}, sort_keys=True)


def _distinct(found: list[Settled]) -> list[Settled]:
    """The same, where one name and seed would stand for two keys, with the key in the name."""
    taken: dict[tuple[str, int | None], int] = {}
    for one in found:
        taken[one.model, one.seed] = taken.get((one.model, one.seed), 0) + 1
    return [
        one
        if taken[one.model, one.seed] == 1
        else Settled(
            one.collection,
            one.arm,
            one.model_key,
            f"{one.model} [{one.model_key[:8]}]",
            one.seed,
            one.settled,
            one.fingerprint,
        )
        for one in found
    ]


def _order(connection: duckdb.DuckDBPyConnection, schema: str) -> list[str]:
    """The attributes in the domain's order: that in which they were written."""
    rows = connection.execute(
        f"SELECT attribute FROM {schema}.attributes GROUP BY attribute ORDER BY min(rowid)"
    ).fetchall()
    return [row[0] for row in rows]


def _attributes(rows: Iterable[tuple[str, str, bool, bool]], order: list[str]) -> tuple[AttributeDesign, ...]:
    by_name: dict[str, list[tuple[str, bool, bool]]] = {name: [] for name in order}
    for name, group, identified, printed in rows:
        by_name[name].append((group, identified, printed))
    return tuple(
        AttributeDesign(
            name,
            tuple(group for group, _, _ in groups),
            frozenset(code for code, (_, identified, _) in enumerate(groups) if not identified),
            frozenset(code for code, (_, _, printed) in enumerate(groups) if not printed),
        )
        for name, groups in by_name.items()
    )


def _classes(kind: str, names: list[str] | None, none: str | None, positive: str | None) -> Classes:
    if kind == "yes_no":
        return Classes(("no", "yes"), positive=1)
    listed = tuple(names or ())
    if kind == "classes":
        return Classes(listed, several=True, none_name=none)
    return Classes(listed, positive=None if positive is None else listed.index(positive))


def codings(connection: duckdb.DuckDBPyConnection, schema: str) -> list[str]:
    """The ways in which the domain's answers were read."""
    rows = connection.execute(f"SELECT coding FROM {quoted(schema)}.codings ORDER BY coding").fetchall()
    return [row[0] for row in rows]
