-- The paired differences of a pilot: in each case and repeat, the outcome under a treated value less that under the
-- reference. Several repeats of one case are averaged, as the tests do.
WITH answered AS (
    SELECT collection, model_key, doc_id, repeat, label, value, is_reference, {outcome} AS outcome
    FROM {view}
    WHERE coding = $coding AND arm = $arm AND outcome = $outcome
        AND ({sample}) AND ($model IS NULL OR model = $model OR model_key = $model)
)
SELECT
    avg(varied.outcome - reference.outcome) AS difference
FROM answered AS varied
JOIN answered AS reference USING (collection, model_key, doc_id, repeat, label)
WHERE reference.is_reference AND NOT varied.is_reference
    AND isfinite(varied.outcome) AND isfinite(reference.outcome)
GROUP BY collection, model_key, doc_id, label, varied.value
ORDER BY collection, model_key, label, varied.value, doc_id
