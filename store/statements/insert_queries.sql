INSERT INTO queries (
    query_id, collection, doc_id, label, value, prompt_hash, template_hash, fills, ordinal, retired_at
)
SELECT query_id, $1, doc_id, label, value, prompt_hash, template_hash, fills, ordinal, NULL
FROM staged_queries
ON CONFLICT DO NOTHING;
