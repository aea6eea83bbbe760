-- Retire what the staged queries replace in their arms: their labels' queries with another template, and other prompts
-- for the same document, label and value (the document was edited). A query without a label stands for itself.
UPDATE queries
SET retired_at = $1
WHERE collection = $2
  AND retired_at IS NULL
  AND query_id NOT IN (SELECT query_id FROM staged_queries)
  AND (
      (
          (arm, coalesce(label, '')) IN (SELECT (arm, coalesce(label, '')) FROM staged_queries)
          AND (arm, coalesce(template_hash, '')) NOT IN (SELECT (arm, coalesce(template_hash, '')) FROM staged_queries)
      )
      OR (arm, doc_id, coalesce(label, ''), coalesce(value, '')) IN (
          SELECT (arm, doc_id, coalesce(label, ''), coalesce(value, '')) FROM staged_queries
      )
  );
