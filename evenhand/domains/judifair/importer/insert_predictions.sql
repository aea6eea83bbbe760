-- The rows of a file, at most one chunk of it. A row whose question this model has answered already (a duplicate in
-- the file, or the row of a mislabelled file) becomes its next repeat.
INSERT INTO predictions (
    prediction_id, query_id, model_key, run_id, repeat, outcome, text, finish_reason, created_at,
    source_hash, source_row
)
WITH asked AS (
    SELECT rows.*, queries.query_id
    FROM import_rows AS rows
    JOIN queries
        ON queries.collection = $collection AND queries.label = $label AND queries.prompt_hash IS NULL
        AND queries.doc_id = rows.doc_id AND queries.value = rows.value
), before AS (
    SELECT predictions.query_id, max(predictions.repeat) + 1 AS next
    FROM predictions
    SEMI JOIN asked USING (query_id)
    WHERE predictions.model_key = $model_key
    GROUP BY predictions.query_id
)
SELECT
    asked.prediction_id, asked.query_id, $model_key, $run_id,
    coalesce(before.next, 0) + row_number() OVER (PARTITION BY asked.query_id ORDER BY asked.source_row) - 1,
    asked.outcome, asked.text, asked.finish_reason, $now, $source_hash, asked.source_row
FROM asked
LEFT JOIN before USING (query_id)
ORDER BY asked.source_row
