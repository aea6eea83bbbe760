-- Rows that state no truth, or another than the document's: the published figures go by what each row states.
INSERT INTO judifair.truth_exceptions (prediction_id, penalty_text, months)
SELECT rows.prediction_id, rows.true_penalty_text, rows.true_months
FROM import_rows AS rows
LEFT JOIN judifair.truths ON truths.collection = $collection AND truths.doc_id = rows.doc_id
WHERE rows.true_penalty_text IS NULL
   OR rows.true_penalty_text IS DISTINCT FROM truths.penalty_text
   OR rows.true_months IS DISTINCT FROM truths.months
