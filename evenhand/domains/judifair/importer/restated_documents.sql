-- Documents whose truth, as the first row of the file that goes by it has it, is another than the study's. Charge, guilt
-- and kind of penalty are compared where it is known that the file states something new: files differ in them from the
-- start, and the first one's count.
CREATE OR REPLACE TEMP TABLE restated_documents AS
WITH stated AS (
    SELECT rows.*
    FROM import_rows AS rows
    ANTI JOIN judifair.truth_exceptions USING (prediction_id)
    WHERE rows.true_penalty_text IS NOT NULL
    QUALIFY row_number() OVER (PARTITION BY rows.doc_id ORDER BY rows.source_row) = 1
)
SELECT
    stated.doc_id, stated.true_guilty AS guilty, stated.true_penalty AS penalty,
    stated.true_penalty_text AS penalty_text, stated.true_months AS months,
    -- A charge from the documents file is never replaced.
    CASE
        WHEN truths.case_number IS NULL THEN coalesce(nullif(stated.true_charge, ''), truths.charge)
        ELSE truths.charge
    END AS charge
FROM stated
JOIN judifair.truths ON truths.collection = $collection AND truths.doc_id = stated.doc_id
WHERE (truths.penalty_text, truths.months) IS DISTINCT FROM (stated.true_penalty_text, stated.true_months)
   OR ($states_new AND (
        (truths.guilty, truths.penalty) IS DISTINCT FROM (stated.true_guilty, stated.true_penalty)
        OR (truths.case_number IS NULL AND nullif(stated.true_charge, '') IS DISTINCT FROM truths.charge
            AND stated.true_charge <> '')))
