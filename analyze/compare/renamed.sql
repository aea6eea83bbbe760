-- The names under the coding before that stand for one treated value's answers, all of them and no others, while that
-- value is another treated value's name.
WITH pairs AS (
    SELECT b.label, b.value AS name, a.value, bool_and(b.is_treated AND a.is_treated) AS treated
    FROM {view} AS b
    JOIN {view} AS a USING (collection, model_key, arm, outcome, prediction_id, label)
    WHERE b.coding = $before AND a.coding = $after AND collection = $collection AND model_key = $model_key
        AND arm = $arm AND outcome = $outcome
    GROUP BY b.label, b.value, a.value
)
SELECT label, name, value
FROM pairs
QUALIFY
    name <> value AND treated
    AND count(*) OVER (PARTITION BY label, name) = 1
    AND count(*) OVER (PARTITION BY label, value) = 1
ORDER BY label, name
