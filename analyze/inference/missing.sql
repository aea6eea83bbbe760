-- For each value and document: was the answer missing under it, under the reference, and how.
SELECT v.label, v.value, v.doc_id, v.missing AS value_missing, r.missing AS reference_missing
FROM frame_rows AS v
JOIN frame_rows AS r
    ON r.label = v.label AND r.doc_id = v.doc_id AND r.repeat = v.repeat AND r.is_reference
WHERE v.is_treated AND NOT v.is_reference AND v.inference_sample AND r.inference_sample
ORDER BY v.label, v.value, v.doc_id
