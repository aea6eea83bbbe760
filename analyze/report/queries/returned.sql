-- The names under which servers answered, by collection, model and arm, the most frequent first.
SELECT q.collection, p.model_key, q.arm, p.returned_model, count(*) AS answers
FROM predictions AS p
SEMI JOIN latest AS l ON l.row_id = p.prediction_id AND l.model_key = p.model_key
JOIN queries AS q ON q.query_id = p.query_id
WHERE q.retired_at IS NULL AND q.label IS NOT NULL AND p.returned_model IS NOT NULL
GROUP BY ALL
ORDER BY answers DESC, p.returned_model
