-- Queries with a prompt, by the beginning of their id or by what they ask; those in use first, and of these the base
-- arm's. A parameter that is null does not choose.
SELECT query_id, collection, doc_id, arm, label, value, system_text, user_text, text, fills, retired_at IS NOT NULL
FROM main.queries
SEMI JOIN (SELECT collection FROM collections WHERE domain = $domain) USING (collection)
JOIN main.documents USING (collection, doc_id)
JOIN templates USING (template_hash)
WHERE text IS NOT NULL
  AND starts_with(replace(CAST(query_id AS VARCHAR), '-', ''), coalesce($id, ''))
  AND collection = coalesce($collection, collection)
  AND doc_id = coalesce($doc_id, doc_id)
  AND arm = coalesce($arm, arm)
  AND ($label IS NULL OR label = $label)
  AND ($value IS NULL OR value = $value)
ORDER BY retired_at IS NOT NULL, arm <> 'base', arm, retired_at DESC, ordinal, query_id
LIMIT 2
