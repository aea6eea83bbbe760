-- The statements that make the study's schema anew, in an order in which each finds what it needs (views and macros may
-- use each other: those that fail are tried again after the others).
WITH parts AS (
    SELECT 1 AS step, oid AS id, format('CREATE SCHEMA "{}"', replace(schema_name, '"', '""')) AS statement
    FROM duckdb_schemas()
    WHERE NOT internal AND database_name = current_database()
    UNION ALL
    SELECT 2, sequence_oid, sql FROM duckdb_sequences() WHERE NOT temporary AND database_name = current_database()
    UNION ALL
    SELECT 3, table_oid, sql
    FROM duckdb_tables()
    WHERE NOT internal AND NOT temporary AND database_name = current_database()
    UNION ALL
    SELECT 4, view_oid, sql
    FROM duckdb_views()
    WHERE NOT internal AND NOT temporary AND database_name = current_database()
    UNION ALL
    SELECT
        4,
        function_oid,
        format(
            'CREATE MACRO "{}"."{}"({}) AS {}{}',
            schema_name, function_name, array_to_string(parameters, ', '),
            CASE function_type WHEN 'table_macro' THEN 'TABLE ' ELSE '' END, macro_definition
        )
    FROM duckdb_functions()
    WHERE NOT internal AND function_type IN ('macro', 'table_macro') AND database_name = current_database()
    UNION ALL
    SELECT 5, index_oid, sql FROM duckdb_indexes() WHERE sql IS NOT NULL AND database_name = current_database()
)
SELECT step, statement FROM parts ORDER BY step, id
