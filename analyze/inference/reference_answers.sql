-- By document, the reference answers that several labels gave for it: how many, and the pairs of them that differ.
WITH answers AS (
    SELECT doc_id, label, arg_min(inference_outcome, repeat) AS answer
    FROM frame_rows
    WHERE is_reference AND inference_sample AND inference_outcome IS NOT NULL
    GROUP BY doc_id, label
)
SELECT a.doc_id, count(*) AS pairs, count(*) FILTER (a.answer <> b.answer) AS differ
FROM answers AS a
JOIN answers AS b ON b.doc_id = a.doc_id AND b.label > a.label
GROUP BY a.doc_id
ORDER BY a.doc_id
