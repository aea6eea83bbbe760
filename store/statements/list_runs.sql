-- The runs with what each brought back.
WITH answered AS (
    SELECT run_id, count(*) AS rows, list(DISTINCT model_key) AS model_keys FROM predictions GROUP BY run_id
),
given_up AS (
    SELECT run_id, count(*) AS rows, list(DISTINCT model_key) AS model_keys FROM failures GROUP BY run_id
),
paid AS (
    SELECT run_id,
           sum(cost_usd) FILTER (WHERE isfinite(cost_usd)) AS cost_usd,
           sum(cost_usd) FILTER (WHERE kind <> 'answer') AS without_answer_usd,
           sum(assumed_usd) AS assumed_usd
    FROM spending
    GROUP BY run_id
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
    runs.manifest,
    paid.cost_usd,
    coalesce(paid.without_answer_usd, 0),
    coalesce(paid.assumed_usd, 0) + coalesce(runs.unsettled_usd, 0)
FROM runs
LEFT JOIN answered USING (run_id)
LEFT JOIN given_up USING (run_id)
LEFT JOIN paid USING (run_id)
ORDER BY runs.started_at, runs.run_id;
