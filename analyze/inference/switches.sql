-- How the kind of answer under a value compares with that under the reference, in the same document and repeat.
WITH pairs AS (
    SELECT v.label, v.value, r.kind AS from_kind, v.kind AS to_kind
    FROM frame_rows AS v
    JOIN frame_rows AS r
        ON r.label = v.label AND r.doc_id = v.doc_id AND r.repeat = v.repeat AND r.is_reference
    WHERE v.is_treated AND NOT v.is_reference AND v.inference_sample AND r.inference_sample
        AND v.missing IS NULL AND r.missing IS NULL AND v.kind IS NOT NULL AND r.kind IS NOT NULL
)
SELECT
    label, value, from_kind, to_kind, count(*) AS pairs,
    CAST(sum(count(*)) OVER (PARTITION BY label, value) AS BIGINT) AS of_pairs
FROM pairs
GROUP BY label, value, from_kind, to_kind
QUALIFY from_kind <> to_kind
ORDER BY label, value, pairs DESC, from_kind, to_kind
