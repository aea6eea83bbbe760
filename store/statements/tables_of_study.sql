-- The tables whose rows a copy needs.
SELECT schema_name, table_name
FROM duckdb_tables()
WHERE NOT internal AND NOT temporary AND database_name = current_database()
ORDER BY table_oid
