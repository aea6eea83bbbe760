-- Of the queries that are new here, retire those that would mix templates, or ask a second prompt for the same
-- document, label and value.
UPDATE incoming_queries
SET retired_at = $1
WHERE retired_at IS NULL
  AND query_id IN (
      SELECT incoming.query_id
      FROM incoming_queries AS incoming
      JOIN (SELECT DISTINCT collection, label, template_hash FROM queries WHERE retired_at IS NULL) AS here
        ON here.collection = incoming.collection
       AND here.label = incoming.label
       AND here.template_hash IS DISTINCT FROM incoming.template_hash
      UNION
      SELECT incoming.query_id
      FROM incoming_queries AS incoming
      JOIN queries AS here USING (collection, doc_id, label, value)
      WHERE here.retired_at IS NULL
  );
