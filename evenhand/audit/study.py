"""A domain in a study: its schema, and the tables that describe it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.audit import outcome_views
from evenhand.audit.folder_files import Scoring
from evenhand.audit.outcomes import Amount, Classes
from store.migrate import MigrationSet, applied, migrate, quoted, read

if TYPE_CHECKING:
    import duckdb

    from evenhand.audit.domain import Domain
    from store import Study

_MADE_VIEWS = """\
SELECT view_name FROM duckdb_views()
WHERE schema_name = ? AND database_name = current_database() AND regexp_matches(view_name,
'_(frame|placebos)$')
"""
_FOLDER = Path(__file__).parent / "migrations"


def migrations(domain: Domain) -> MigrationSet:
    """The tables of a domain that has no tables of its own kind."""
    return MigrationSet(f"domain {domain.name}", _FOLDER, domain.schema)


def describe(study: Study, domain: Domain) -> None:
    """Make the domain's tables where they are missing, and write down its outcomes, labels and attributes.

    The whole catalogue is written, also where a build takes a part of it: a study names things in one way.
    """
    import pyarrow as pa  # noqa: PLC0415  (keeps the import of this package light)

    from store.sql import registered, transaction  # noqa: PLC0415

    migrate(study.connection, [migrations(domain)])
    scoring = domain.scoring or Scoring()
    outcomes = [
        {
            "none_class": outcome.none if isinstance(outcome, Classes) else None,
            "positive_class": scoring.positive.get(outcome.name),
            "rule": scoring.rule,
            "minimum_n": scoring.minimum_n,
            "outcome": outcome.name,
            "kind": outcome.kind,
            "unit": outcome.unit if isinstance(outcome, Amount) else None,
            "title": _json(outcome.title),
            "classes": list(outcome.names()) if hasattr(outcome, "names") else None,
            "position": position,
        }
        for position, outcome in enumerate(domain.outcomes)
    ]
    labels = [
        {
            "label": label.key,
            "title": _json(label.names),
            "treatment": label.treatment,
            "splits": _json(label.splits),
            "position": position,
        }
        for position, label in enumerate(domain.labels)
    ]
    values = [
        {
            "label": label.key,
            "value": value.name,
            "title": _json(value.names),
            "number": value.number,
            "is_reference": value.name == label.reference,
            "position": position,
        }
        for label in domain.labels
        for position, value in enumerate(label.values)
    ]
    attributes = [
        {
            "attribute": attribute.name,
            "group_name": group,
            "is_identified": group not in attribute.unidentified,
            "is_printed": group not in attribute.omitted_in_print,
            "position": position,
        }
        for attribute in domain.attributes
        for position, group in enumerate(attribute.groups)
    ]
    described = [{"name": domain.name, "title": _json(domain.title)}]
    tables = {
        "domain": described,
        "outcomes": outcomes,
        "labels": labels,
        "label_values": values,
        "attributes": attributes,
    }
    with transaction(study.connection) as connection:
        for table, rows in tables.items():
            into = f"{quoted(domain.schema)}.{table}"
            connection.execute(f"DELETE FROM {into}")
            if rows:
                with registered(connection, written=pa.Table.from_pylist(rows)):
                    connection.execute(f"INSERT INTO {into} BY NAME SELECT * FROM written")
        for (name,) in connection.execute(_MADE_VIEWS, [domain.schema]).fetchall():
            connection.execute(f"DROP VIEW {quoted(domain.schema)}.{quoted(name)}")
        for outcome in domain.outcomes:
            connection.execute(outcome_views.statements(domain.schema, outcome))


def is_described(connection: duckdb.DuckDBPyConnection, domain: Domain) -> bool:
    """Whether a study has the tables of a domain, of this version."""
    known = applied(connection).get(migrations(domain).room, {})
    return len(known) == len(read(migrations(domain)))


def _json(found: Any) -> str:
    return json.dumps(dict(found), ensure_ascii=False)
