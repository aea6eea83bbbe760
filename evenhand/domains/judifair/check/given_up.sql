-- Queries that were given up, by reason.
SELECT
    queries.collection, models.model, models.temperature, queries.label, NULL AS value,
    count(*) AS n, NULL AS of, NULL AS p, latest.outcome AS note,
    list(DISTINCT left(failures.reason, 80))[:3] AS examples
FROM latest
JOIN failures ON failures.failure_id = latest.row_id
JOIN judifair.queries ON queries.query_id = latest.query_id AND queries.retired_at IS NULL
JOIN models ON models.model_key = latest.model_key
WHERE NOT latest.is_prediction
  AND queries.arm = $arm
  AND ($collection IS NULL OR queries.collection = $collection)
  AND ($model IS NULL OR models.model = $model)
GROUP BY queries.collection, models.model, models.temperature, queries.label, latest.outcome
ORDER BY ALL
