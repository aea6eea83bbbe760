-- The metrics of a model under both codings.
WITH b AS (
    SELECT metric, coalesce(threshold, -1) AS threshold, "group", value, n, rowid AS position FROM model_metrics
    WHERE collection = $collection AND model_key = $model_key AND coding = $before
        AND arm = $arm AND outcome = $outcome
), a AS (
    SELECT metric, coalesce(threshold, -1) AS threshold, "group", value, n, rowid AS position FROM model_metrics
    WHERE collection = $collection AND model_key = $model_key AND coding = $after
        AND arm = $arm AND outcome = $outcome
)
SELECT
    metric, nullif(threshold, -1) AS threshold, "group",
    b.value AS before_value, b.n AS before_n, a.value AS after_value, a.n AS after_n
FROM b
FULL JOIN a USING (metric, threshold, "group")
ORDER BY coalesce(b.position, a.position), a.position
