-- Documents of which a row of the file states another truth, or none, than was stored for that row.
SELECT DISTINCT rows.doc_id
FROM import_rows AS rows
LEFT JOIN judifair.truth_exceptions AS before USING (prediction_id)
LEFT JOIN judifair.truths ON truths.collection = $collection AND truths.doc_id = rows.doc_id
WHERE (rows.true_penalty_text, rows.true_months) IS DISTINCT FROM (
    CASE WHEN before.prediction_id IS NULL THEN truths.penalty_text ELSE before.penalty_text END,
    CASE WHEN before.prediction_id IS NULL THEN truths.months ELSE before.months END
)
UNION
SELECT doc_id FROM restated_documents
