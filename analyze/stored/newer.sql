-- How many of the rows that count came after each analysis.
SELECT a.collection, a.model_key, a.coding, a.arm, a.outcome, count(*) AS newer
FROM analyses AS a
JOIN queries AS q ON q.collection = a.collection AND q.arm = a.arm AND q.retired_at IS NULL AND q.label IS NOT NULL
JOIN latest AS l ON l.query_id = q.query_id AND l.model_key = a.model_key AND l.created_at > a.analysed_at
GROUP BY ALL
