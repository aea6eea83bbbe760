INSERT INTO queries BY NAME
SELECT query_id, $1 AS collection, doc_id, label, value, arm, prompt_hash, template_hash, fills, ordinal
FROM staged_queries
ON CONFLICT DO NOTHING;
