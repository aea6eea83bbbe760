-- Retire what the collection has beyond the staged queries, in their arms and their design (with or without a label).
-- Imported queries (without a template) were never asked.
UPDATE queries
SET retired_at = $1
WHERE collection = $2
  AND retired_at IS NULL
  AND template_hash IS NOT NULL
  AND (arm, label IS NULL) IN (SELECT (arm, label IS NULL) FROM staged_queries)
  AND query_id NOT IN (SELECT query_id FROM staged_queries);
