-- Of the queries that are new here, retire those that would mix templates, or ask a second prompt for the same
-- document, label and value.
UPDATE incoming_queries
SET retired_at = $1
FROM queries
WHERE incoming_queries.retired_at IS NULL
  AND queries.retired_at IS NULL
  AND queries.collection = incoming_queries.collection
  AND queries.label = incoming_queries.label
  AND (
      queries.template_hash IS DISTINCT FROM incoming_queries.template_hash
      OR (queries.doc_id = incoming_queries.doc_id AND queries.value = incoming_queries.value)
  );
