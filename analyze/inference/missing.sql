-- For each value, kind of absence and document: the share of its answers missing under it, and under the reference. A
-- document is one observation, however often it was asked.
WITH answers AS (
    SELECT label, doc_id, value, is_reference, missing
    FROM frame_rows
    WHERE inference_sample AND (is_reference OR is_treated)
), kinds AS (
    SELECT label, missing AS kind FROM answers WHERE missing IS NOT NULL
    UNION
    SELECT label, $any FROM answers
), shares AS (
    SELECT
        label, kind, doc_id, is_reference, CASE WHEN NOT is_reference THEN value END AS value,
        avg(CAST(missing IS NOT NULL AND kind IN ($any, missing) AS INTEGER)) AS missing
    FROM answers JOIN kinds USING (label)
    GROUP BY ALL
)
SELECT v.label, v.value, v.kind, v.doc_id, v.missing AS value_missing, r.missing AS reference_missing
FROM shares AS v
JOIN shares AS r ON r.label = v.label AND r.kind = v.kind AND r.doc_id = v.doc_id AND r.is_reference
WHERE NOT v.is_reference
ORDER BY v.label, v.value, v.kind, v.doc_id
