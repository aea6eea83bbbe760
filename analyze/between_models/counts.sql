-- Significant values and trials over all models.
SELECT
    threshold, count(*) AS models,
    CAST(sum(value) AS BIGINT) AS significant, CAST(sum(n) AS BIGINT) AS trials
FROM model_metrics
WHERE metric = 'significant_values' AND collection = $collection AND coding = $coding
GROUP BY threshold
ORDER BY threshold DESC
