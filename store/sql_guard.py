"""Which SQL may run on the read-only path: one statement, SELECT or EXPLAIN of one, with no side effects.

Four fences stand one behind another: the statement's type as DuckDB's own parser has it, the functions in its
syntax tree (here), a transaction that is READ ONLY, and a database without access to other files. None is
enough
alone: `EXPLAIN ANALYZE COMMIT` is of type EXPLAIN and ends the transaction, `SELECT * FROM
enable_logging(...)` is a SELECT and can abort the process, `SELECT * FROM read_blob(<the database>)` reads a
file that is always allowed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import duckdb

from store.errors import BadInput

_SELECT = duckdb.StatementType.SELECT
_EXPLAIN = duckdb.StatementType.EXPLAIN

# Only what is surely the head of an EXPLAIN is cut off, and no comment: DuckDB nests comments and has its own
# idea of where a line ends, and whoever reads them otherwise than DuckDB checks another statement than it
# runs.
_EXPLAIN_HEAD = re.compile(r"\s*explain\b\s*(?:analyze\b\s*)?", re.I)
_OPTIONS = re.compile(r"\([\w\s,]*\)\s*")

TABLE_FUNCTIONS = frozenset(
    {"range", "generate_series", "unnest", "repeat", "repeat_row", "json_each", "json_tree", "query_table"}
    | {
        "summary",
        "show",
        "show_tables",
        "show_tables_expanded",
        "show_databases",
        "table_info",
        "storage_info",
    }
    | {"database_list", "database_size", "version", "platform", "pg_timezone_names", "icu_calendar_names"}
    | {"pragma_table_info", "pragma_storage_info", "pragma_database_size", "pragma_show", "pragma_version"}
    | {"duckdb_columns", "duckdb_constraints", "duckdb_databases", "duckdb_functions", "duckdb_indexes"}
    | {"duckdb_keywords", "duckdb_memory", "duckdb_schemas", "duckdb_sequences", "duckdb_settings"}
    | {"duckdb_tables", "duckdb_temporary_files", "duckdb_types", "duckdb_views"}
)
"""The table functions that only read the database. All others are refused, those of later versions too."""

HARMLESS = frozenset(
    {"random", "uuid", "uuidv4", "uuidv7", "gen_random_uuid", "error", "vector_type", "stats"}
    | {"current_query", "current_query_id", "current_connection_id", "current_transaction_id"}
)
"""Scalar functions that DuckDB counts as having side effects and that have none."""


def vet(cursor: duckdb.DuckDBPyConnection, sql: str) -> str:
    """Return the statement, without a final semicolon, if it may run on the read-only path.

    Raises:
        BadInput: it does not parse, is more than one statement, is not a SELECT or EXPLAIN, or calls a
            function that can do more than read the tables.
    """
    try:
        sql.encode()
    except UnicodeEncodeError as error:
        raise BadInput(
            f"the SQL is not UTF-8 text (at character {error.start + 1})", hint="Save it as UTF-8."
        ) from None
    try:
        statements = duckdb.extract_statements(sql)
    except duckdb.Error as error:
        raise BadInput(f"the SQL cannot be read: {error}") from None
    if not statements:
        raise BadInput("there is no SQL statement", hint="Try SELECT count(*) FROM predictions")
    if len(statements) > 1:
        raise BadInput(f"these are {len(statements)} statements", hint="Give one at a time.")
    kind = statements[0].type
    text = statements[0].query.strip().rstrip(";").strip()
    if kind == _SELECT:
        _check_functions(cursor, text)
    elif kind == _EXPLAIN:
        _check_functions(cursor, _explained(text))
    else:
        raise BadInput(
            f"only SELECT and EXPLAIN are allowed here, and this is {str(kind).rpartition('.')[2]}",
            hint="The database is read, never changed, by this command.",
        )
    return text


def _explained(text: str) -> str:
    """The SELECT that an EXPLAIN explains."""
    head = _EXPLAIN_HEAD.match(text)
    inner = text[head.end() :] if head else ""
    options = _OPTIONS.match(inner)
    for candidate in (inner, inner[options.end() :] if options else ""):
        try:
            statements = duckdb.extract_statements(candidate)
        except duckdb.Error:
            continue
        if len(statements) == 1 and statements[0].type == _SELECT:
            return candidate
    raise BadInput("only a SELECT can be explained here", hint="Write EXPLAIN SELECT ..., without comments.")


def _check_functions(cursor: duckdb.DuckDBPyConnection, select: str) -> None:
    tree = json.loads(cursor.execute("SELECT json_serialize_sql(?::VARCHAR)", [select]).fetchall()[0][0])
    if tree.get("error"):
        raise BadInput(
            f"this form of SELECT is not allowed here: {tree.get('error_message')}",
            hint="A PIVOT must list its values: PIVOT ... ON column IN (...).",
        )
    tables, scalars = _refused(cursor)
    for is_table, name in _calls(tree):
        if (is_table and name not in tables) or (not is_table and name in scalars):
            raise BadInput(
                f"the function {name}() is not allowed here", hint="Only the study's tables are read."
            )


def _refused(cursor: duckdb.DuckDBPyConnection) -> tuple[frozenset[str], frozenset[str]]:
    """(table functions allowed, scalar functions refused), by what this DuckDB and this study have."""
    rows = cursor.execute(
        "SELECT function_type = 'table_macro', lower(function_name) FROM duckdb_functions() "
        "WHERE (function_type = 'table_macro' AND NOT internal) "
        "OR (function_type IN ('scalar', 'aggregate') AND has_side_effects)"
    ).fetchall()
    macros = {name for is_macro, name in rows if is_macro}
    effects = {name for is_macro, name in rows if not is_macro}
    return TABLE_FUNCTIONS | macros, frozenset(effects - HARMLESS)


def _calls(node: Any) -> Iterator[tuple[bool, str]]:
    """(is a table function, name) of every function call in a syntax tree, at any depth."""
    stack: list[tuple[Any, bool]] = [(node, False)]
    while stack:
        item, of_table = stack.pop()
        if isinstance(item, dict):
            name = item.get("function_name")
            if isinstance(name, str):
                yield of_table, name.lower()
            is_table = item.get("type") == "TABLE_FUNCTION"
            stack += [(value, is_table and key == "function") for key, value in item.items()]
        elif isinstance(item, list):
            stack += [(value, False) for value in item]
