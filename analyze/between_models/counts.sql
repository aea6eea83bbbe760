-- Significant values and trials over all models.
SELECT
    threshold, count(*) AS models,
    CAST(sum(value) AS BIGINT) AS significant, CAST(sum(n) AS BIGINT) AS trials
FROM model_metrics
WHERE collection = $collection AND coding = $coding AND arm = $arm AND outcome = $outcome
    AND metric = 'significant_values'
GROUP BY threshold
ORDER BY threshold DESC
