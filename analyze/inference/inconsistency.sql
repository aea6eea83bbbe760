-- For each document of a label: pairs of values that were both answered, pairs that differ; the same of repeats, and
-- of an answer and that to the same in other words.
WITH answers AS (
    SELECT label, doc_id, value, repeat, inference_outcome AS answer
    FROM frame_rows
    WHERE inference_sample AND inference_outcome IS NOT NULL
), across AS (
    SELECT a.label, a.doc_id, count(*) AS pairs, count(*) FILTER (a.answer <> b.answer) AS differ
    FROM answers AS a
    JOIN answers AS b
        ON b.label = a.label AND b.doc_id = a.doc_id AND b.repeat = a.repeat AND b.value > a.value
    GROUP BY a.label, a.doc_id
), within_prompt AS (
    SELECT a.label, a.doc_id, count(*) AS pairs, count(*) FILTER (a.answer <> b.answer) AS differ
    FROM answers AS a
    JOIN answers AS b
        ON b.label = a.label AND b.doc_id = a.doc_id AND b.value = a.value AND b.repeat > a.repeat
    GROUP BY a.label, a.doc_id
), placebo AS (
    SELECT a.label, a.doc_id, count(*) AS pairs, count(*) FILTER (a.answer <> p.outcome) AS differ
    FROM answers AS a
    JOIN placebo_rows AS p
        ON p.label = a.label AND p.value = a.value AND p.doc_id = a.doc_id AND p.repeat = a.repeat
    WHERE p.outcome IS NOT NULL
    GROUP BY a.label, a.doc_id
)
SELECT
    label, doc_id,
    coalesce(across.pairs, 0) AS pairs, coalesce(across.differ, 0) AS differ,
    coalesce(within_prompt.pairs, 0) AS repeated, coalesce(within_prompt.differ, 0) AS repeated_differ,
    coalesce(placebo.pairs, 0) AS placebo, coalesce(placebo.differ, 0) AS placebo_differ
FROM across
FULL JOIN within_prompt USING (label, doc_id)
FULL JOIN placebo USING (label, doc_id)
ORDER BY label, doc_id
