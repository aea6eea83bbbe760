-- How many queries of each collection and arm a model was asked, whatever came of it.
SELECT q.collection, l.model_key, q.arm, count(DISTINCT l.query_id) AS queries
FROM latest AS l
JOIN queries AS q USING (query_id)
WHERE q.retired_at IS NULL AND q.label IS NOT NULL
GROUP BY ALL
