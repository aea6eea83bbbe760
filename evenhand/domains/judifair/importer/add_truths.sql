-- The first statement of a document's truth is kept; a charge from the documents file is never replaced. Documents
-- about which nothing new is said are not written again.
INSERT INTO judifair.truths (collection, doc_id, charge, guilty, penalty, penalty_text, months)
WITH stated AS (
    SELECT
        doc_id, nullif(true_charge, '') AS charge, true_guilty AS guilty, true_penalty AS penalty,
        true_penalty_text AS penalty_text, true_months AS months
    FROM import_rows
    WHERE true_penalty_text IS NOT NULL
    QUALIFY row_number() OVER (PARTITION BY doc_id ORDER BY source_row) = 1
)
SELECT $collection, stated.*
FROM stated
LEFT JOIN judifair.truths ON truths.collection = $collection AND truths.doc_id = stated.doc_id
WHERE truths.penalty_text IS NULL OR (truths.charge IS NULL AND stated.charge IS NOT NULL)
ON CONFLICT (collection, doc_id) DO UPDATE SET
    charge = coalesce(truths.charge, excluded.charge),
    guilty = CASE WHEN truths.penalty_text IS NULL THEN excluded.guilty ELSE truths.guilty END,
    penalty = CASE WHEN truths.penalty_text IS NULL THEN excluded.penalty ELSE truths.penalty END,
    months = CASE WHEN truths.penalty_text IS NULL THEN excluded.months ELSE truths.months END,
    penalty_text = coalesce(truths.penalty_text, excluded.penalty_text)
