-- What could not be read, by collection, model, outcome and reason, with the beginnings of the most frequent texts.
WITH rows_that_count AS (
    SELECT frame.collection, frame.model, frame.outcome, frame.missing_kind, left(predictions.text, 200) AS beginning
    FROM {schema}.frame AS frame
    LEFT JOIN predictions
        ON predictions.prediction_id = frame.prediction_id AND predictions.model_key = frame.model_key
    WHERE frame.coding = $coding
), by_text AS (
    SELECT collection, model, outcome, missing_kind, beginning, count(*) AS times
    FROM rows_that_count
    GROUP BY ALL
), totals AS (
    SELECT collection, model, outcome, CAST(sum(times) AS BIGINT) AS answers
    FROM by_text
    GROUP BY ALL
)
SELECT
    by_text.collection, by_text.model, by_text.outcome, missing_kind AS reason, CAST(sum(times) AS BIGINT) AS missing,
    totals.answers,
    list(beginning ORDER BY times DESC, beginning) FILTER (beginning IS NOT NULL)[:$examples]
FROM by_text
JOIN totals USING (collection, model, outcome)
JOIN {schema}.outcomes AS outcomes ON outcomes.outcome = by_text.outcome
WHERE missing_kind IS NOT NULL
GROUP BY by_text.collection, by_text.model, by_text.outcome, missing_kind, totals.answers, outcomes.position
ORDER BY by_text.collection, by_text.model, outcomes.position, missing DESC, reason
