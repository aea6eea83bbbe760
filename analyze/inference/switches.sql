-- In how many documents the usual kind of answer under a value is another than under the reference. Of several repeats
-- the kind given most often counts; a document with two kinds equally often switches neither way, and is among all.
WITH times AS (
    SELECT label, doc_id, is_reference, CASE WHEN NOT is_reference THEN value END AS value, kind, count(*) AS times
    FROM frame_rows
    WHERE inference_sample AND (is_reference OR is_treated) AND missing IS NULL AND kind IS NOT NULL
    GROUP BY ALL
), usual AS (
    SELECT
        label, doc_id, is_reference, value, arg_max(kind, times) AS kind,
        count(*) FILTER (times = most) = 1 AS clear
    FROM (SELECT *, max(times) OVER (PARTITION BY label, doc_id, is_reference, value) AS most FROM times)
    GROUP BY label, doc_id, is_reference, value
), documents AS (
    SELECT
        v.label, v.value, v.clear AND r.clear AND v.kind <> r.kind AS switches,
        CASE WHEN switches THEN r.kind END AS from_kind, CASE WHEN switches THEN v.kind END AS to_kind
    FROM usual AS v
    JOIN usual AS r ON r.label = v.label AND r.doc_id = v.doc_id AND r.is_reference
    WHERE NOT v.is_reference
)
SELECT
    label, value, from_kind, to_kind, count(*) AS pairs,
    CAST(sum(count(*)) OVER (PARTITION BY label, value) AS BIGINT) AS of_pairs
FROM documents
GROUP BY label, value, from_kind, to_kind
QUALIFY from_kind IS NOT NULL
ORDER BY label, value, pairs DESC, from_kind, to_kind
