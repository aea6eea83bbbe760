-- The files whose answers the study has, by the hash of their content, and what they say of the truths (null: unknown).
SELECT
    predictions.source_hash, any_value(queries.collection), any_value(models.model), any_value(models.temperature),
    any_value(file_labels.published_label), any_value(queries.label), count(*), any_value(imported_files.truths_hash)
FROM predictions
JOIN models USING (model_key)
JOIN queries USING (query_id)
LEFT JOIN judifair.imported_files USING (source_hash)
LEFT JOIN judifair.file_labels USING (source_hash)
WHERE predictions.source_hash IS NOT NULL
GROUP BY predictions.source_hash
