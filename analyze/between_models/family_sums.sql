-- What the count tests of all models of a body counted, and expected, together.
SELECT test, threshold, sum(observed), sum(expected), CAST(sum(n) AS BIGINT)
FROM global_tests
WHERE collection = $collection AND coding = $coding AND arm = $arm AND outcome = $outcome
    AND model_key <> $together AND threshold IS NOT NULL
GROUP BY test, threshold
ORDER BY test DESC, threshold DESC
