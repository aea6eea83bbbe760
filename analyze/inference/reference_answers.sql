-- The reference answers that several labels gave for the same document: those documents, and those that disagree.
WITH answers AS (
    SELECT doc_id, label, arg_min(inference_outcome, repeat) AS answer
    FROM frame_rows
    WHERE is_reference AND inference_sample AND inference_outcome IS NOT NULL
    GROUP BY doc_id, label
), documents AS (
    SELECT doc_id, count(*) AS labels, count(DISTINCT answer) AS answers
    FROM answers
    GROUP BY doc_id
    HAVING count(*) > 1
), pairs AS (
    SELECT count(*) AS pairs, count(*) FILTER (a.answer <> b.answer) AS differ
    FROM answers AS a
    JOIN answers AS b ON b.doc_id = a.doc_id AND b.label > a.label
)
SELECT
    (SELECT count(*) FROM documents) AS documents,
    (SELECT count(*) FROM documents WHERE answers > 1) AS disagreeing,
    pairs.pairs, pairs.differ
FROM pairs
