-- The metrics of each model; of several temperatures the lowest, so that a model counts once.
SELECT
    model, inconsistency, biased_05 / nullif(labels_estimated, 0) AS biased, mae, mape,
    imbalanced_05 / nullif(labels_estimated, 0) AS imbalanced
FROM metric_summary
WHERE collection = $collection AND coding = $coding AND arm = $arm AND outcome = $outcome
QUALIFY row_number() OVER (PARTITION BY model ORDER BY temperature NULLS LAST, model_key) = 1
ORDER BY model
