-- The models that answered something or were asked in vain, by collection, and when.
SELECT
    q.collection,
    m.model_key,
    m.model,
    m.temperature,
    m.kind,
    min(l.created_at) AS first_at,
    max(l.created_at) AS last_at,
    max(l.repeat) + 1 AS repeats,
    count(DISTINCT q.doc_id) AS documents
FROM latest AS l
JOIN queries AS q USING (query_id)
JOIN models AS m USING (model_key)
WHERE q.retired_at IS NULL
GROUP BY ALL
ORDER BY q.collection, m.model, m.temperature NULLS FIRST, m.model_key
