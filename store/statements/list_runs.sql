-- The runs with what each brought back.
WITH answered AS (
    SELECT run_id, count(*) AS rows, list(DISTINCT model_key) AS model_keys FROM predictions GROUP BY run_id
),
given_up AS (
    SELECT run_id, count(*) AS rows, list(DISTINCT model_key) AS model_keys FROM failures GROUP BY run_id
)
SELECT
    runs.run_id,
    runs.kind,
    runs.state,
    runs.started_at,
    runs.ended_at,
    runs.set_aside_at,
    coalesce(answered.rows, 0),
    coalesce(given_up.rows, 0),
    (
        SELECT list(DISTINCT models.model ORDER BY models.model)
        FROM models
        WHERE list_contains(list_concat(answered.model_keys, given_up.model_keys), models.model_key)
    ),
    runs.manifest
FROM runs
LEFT JOIN answered USING (run_id)
LEFT JOIN given_up USING (run_id)
ORDER BY runs.started_at, runs.run_id;
