-- Puts what was made again over all models of a body into their rows, and takes the max-t back.
UPDATE label_tests
SET
    models_family = adjusted_rows.family, models_holm_p = adjusted_rows.holm_p, models_bh_p = adjusted_rows.bh_p,
    models_max_t_p = NULL
FROM adjusted_rows
WHERE label_tests.collection = $collection AND label_tests.coding = $coding
    AND label_tests.arm = $arm AND label_tests.outcome = $outcome
    AND label_tests.model_key = adjusted_rows.model_key AND label_tests.label = adjusted_rows.label
