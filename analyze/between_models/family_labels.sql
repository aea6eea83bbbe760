-- The tested labels of all models of a body, with their p.
SELECT model_key, label, flip_p
FROM label_tests
WHERE collection = $collection AND coding = $coding AND arm = $arm AND outcome = $outcome
    AND model_key <> $together AND flip_p IS NOT NULL
ORDER BY model_key, label
