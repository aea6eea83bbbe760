-- Retire what the staged queries replace: their labels' queries with another template, and other prompts for the
-- same document, label and value (the document was edited).
UPDATE queries
SET retired_at = $1
WHERE collection = $2
  AND retired_at IS NULL
  AND query_id NOT IN (SELECT query_id FROM staged_queries)
  AND (
      (
          label IN (SELECT label FROM staged_queries)
          AND coalesce(template_hash, '') NOT IN (SELECT coalesce(template_hash, '') FROM staged_queries)
      )
      OR (doc_id, label, value) IN (SELECT (doc_id, label, value) FROM staged_queries)
  );
