-- What the collection has beyond the staged queries, in their arms and their design, and still asks.
SELECT count(*), count(DISTINCT doc_id)
FROM queries
WHERE collection = $1
  AND retired_at IS NULL
  AND template_hash IS NOT NULL
  AND (arm, label IS NULL) IN (SELECT (arm, label IS NULL) FROM staged_queries)
  AND query_id NOT IN (SELECT query_id FROM staged_queries);
