-- The files of which a model has predictions that count in a collection.
SELECT DISTINCT models.seed, predictions.source_hash, predictions.run_id
FROM predictions
JOIN models ON models.model_key = predictions.model_key AND models.kind = 'imported' AND models.model = $model
JOIN queries ON queries.query_id = predictions.query_id AND queries.retired_at IS NULL
    AND queries.collection = $collection AND queries.label IS NULL
JOIN runs ON runs.run_id = predictions.run_id AND runs.set_aside_at IS NULL
ORDER BY ALL
