-- The rows that count of every model to the cases as they are, in one arm, each with its reading of an outcome.
SELECT
    q.doc_id, l.model_key, l.repeat, l.is_prediction, r.number, r.class, r.classes
FROM latest AS l
JOIN queries AS q ON q.query_id = l.query_id AND q.collection = $collection AND q.arm = $arm
    AND q.label IS NULL AND q.retired_at IS NULL
LEFT JOIN {schema}.readings AS r
    ON l.is_prediction AND r.prediction_id = l.row_id AND r.coding = $coding AND r.outcome = $outcome
ORDER BY l.model_key, l.repeat, q.doc_id
