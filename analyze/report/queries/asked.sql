-- How many queries of each collection a model was asked, whatever came of it.
SELECT q.collection, l.model_key, count(DISTINCT l.query_id) AS queries
FROM latest AS l
JOIN queries AS q USING (query_id)
WHERE q.retired_at IS NULL
GROUP BY ALL
