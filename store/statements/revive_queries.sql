-- A query that is asked again counts again, with the order and the parts now given to it (the same prompt can be
-- made of other parts, so that they change together with the document).
UPDATE queries
SET retired_at = NULL,
    ordinal = staged_queries.ordinal,
    template_hash = staged_queries.template_hash,
    fills = staged_queries.fills
FROM staged_queries
WHERE queries.query_id = staged_queries.query_id
  AND (
      queries.retired_at IS NOT NULL
      OR queries.ordinal <> staged_queries.ordinal
      OR queries.template_hash IS DISTINCT FROM staged_queries.template_hash
      OR queries.fills::VARCHAR IS DISTINCT FROM staged_queries.fills
  );
