-- The models that answered something or were asked in vain, by collection and arm, and when.
SELECT
    q.collection,
    m.model_key,
    q.arm,
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
WHERE q.retired_at IS NULL AND q.label IS NOT NULL
GROUP BY q.collection, m.model_key, q.arm, m.model, m.temperature, m.kind
ORDER BY q.collection, q.arm <> 'base', q.arm, m.model, m.temperature NULLS FIRST, m.model_key
