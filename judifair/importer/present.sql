-- The files whose answers the study has, by the hash of their content.
SELECT
    predictions.source_hash, any_value(queries.collection), any_value(models.model), any_value(models.temperature),
    any_value(predictions.published_label), any_value(queries.label), count(*)
FROM predictions
JOIN models USING (model_key)
JOIN queries USING (query_id)
WHERE predictions.source_hash IS NOT NULL
GROUP BY predictions.source_hash
