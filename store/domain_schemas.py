"""Names without a schema: in a study of one domain they are that domain's, in any other the store's alone.

What only a domain has stands in a schema of the study (`judifair.answers`). Where the study holds one domain,
`SELECT ... FROM answers` finds it without the prefix; where it holds several, the prefix says which is meant.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from store.errors import BadInput

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

_UNKNOWN = re.compile(r"(?:Table|Scalar Function|Table Function) with name \"?([\w.]+)\"? does not exist")


def domain_schema(domain: str) -> str:
    """The schema that holds what only this domain has."""
    return domain.replace("-", "_")


def schemas(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """The schemas of the study's domains, in order: those that have a collection, or else all there are."""
    present = [
        str(row[0])
        for row in connection.execute(
            "SELECT schema_name FROM duckdb_schemas() "
            "WHERE NOT internal AND schema_name <> 'main' AND database_name = current_database() ORDER BY 1"
        ).fetchall()
    ]
    if len(present) < 2:
        return present
    rows = connection.execute("SELECT DISTINCT domain FROM collections WHERE domain IS NOT NULL").fetchall()
    used = {domain_schema(str(row[0])) for row in rows}
    return [name for name in present if name in used] if used else present


def refuse_clash(connection: duckdb.DuckDBPyConnection, where: Path) -> None:
    """Raise BadInput where a study is called like a domain that it holds.

    DuckDB could not tell the file from the schema.
    """
    clashing = connection.execute(
        "SELECT schema_name FROM duckdb_schemas() WHERE NOT internal AND schema_name <> 'main' "
        "AND database_name = current_database() AND lower(schema_name) = lower(current_database())"
    ).fetchall()
    if clashing:
        name = clashing[0][0]
        raise BadInput(
            f"{where} is called like the domain {name}, whose tables it holds",
            hint=f"Rename the file, for instance: mv {where.name} {name}-study.duckdb",
        )


def search_path(connection: duckdb.DuckDBPyConnection) -> str:
    """Where names without a schema are looked for: the store's tables, then those of the only domain."""
    found = schemas(connection)
    return ",".join(["main", *(found if len(found) == 1 else [])])


def search(connection: duckdb.DuckDBPyConnection, path: str) -> None:
    """Look for names there, on this connection alone."""
    connection.execute(f"SET search_path = '{path}'")


def whose(connection: duckdb.DuckDBPyConnection, error: str) -> str | None:
    """What to write instead, where DuckDB does not know a name that some of the study's domains have."""
    unknown = _UNKNOWN.search(error)
    if unknown is None:
        return None
    rows = connection.execute(
        "SELECT schema_name FROM duckdb_tables() WHERE table_name = $name AND NOT internal "
        "UNION SELECT schema_name FROM duckdb_views() WHERE view_name = $name AND NOT internal "
        "UNION SELECT schema_name FROM duckdb_functions() WHERE function_name = $name AND NOT internal "
        "ORDER BY 1",
        {"name": unknown.group(1)},
    ).fetchall()
    having = [f"{schema}.{unknown.group(1)}" for (schema,) in rows if schema != "main"]
    if not having:
        return None
    said = f"Write {' or '.join(having)}."
    return said if len(schemas(connection)) < 2 else f"The study holds several domains. {said}"
