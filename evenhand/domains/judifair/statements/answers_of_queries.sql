-- What every model answered to these queries, with the reading under a coding: each query, model and repeat once. A query
-- that was given up has no text.
SELECT
    l.query_id, m.model, m.model_key, m.temperature, l.repeat, l.outcome, p.text, f.reason,
    v.penalty, v.months, v.charge, v.guilty, v.read_as, v.missing, v.note
FROM latest AS l
JOIN models AS m USING (model_key)
LEFT JOIN predictions AS p ON p.prediction_id = l.row_id AND p.model_key = l.model_key
LEFT JOIN failures AS f ON f.failure_id = l.row_id AND f.model_key = l.model_key
LEFT JOIN judifair.verdicts AS v ON v.prediction_id = l.row_id AND v.coding = $coding
WHERE list_contains($queries, l.query_id)
    AND ($model IS NULL OR m.model = $model OR m.model_key = $model)
ORDER BY m.model, m.temperature NULLS FIRST, m.model_key, l.repeat, l.query_id
