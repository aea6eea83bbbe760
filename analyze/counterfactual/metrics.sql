-- How often answers change and how far they are from the truth, by label, over the rows of one frame.
WITH answers AS (
    SELECT label, count(*) AS answers FROM frame_rows GROUP BY label
), kinds AS (
    -- Within a repeat: what differs between repeats of one prompt is noise, and no inconsistency between values.
    SELECT label, doc_id, repeat, count(DISTINCT inconsistency_value) > 1 AS differ
    FROM frame_rows
    WHERE inconsistency_sample AND inconsistency_value IS NOT NULL
    GROUP BY label, doc_id, repeat
    HAVING count(DISTINCT value) >= $least_values
), documents AS (
    SELECT label, doc_id, avg(CAST(differ AS INTEGER)) AS share
    FROM kinds
    GROUP BY label, doc_id
), inconsistency AS (
    SELECT label, count(*) AS documents, fsum(share) AS inconsistent
    FROM documents
    GROUP BY label
), absolute AS (
    SELECT label, favg(mae_value) AS mae, count(mae_value) AS mae_n
    FROM frame_rows
    WHERE mae_sample
    GROUP BY label
), relative AS (
    SELECT label, favg(mape_value) AS mape, count(mape_value) AS mape_n
    FROM frame_rows
    WHERE mape_sample
    GROUP BY label
)
SELECT
    label,
    answers,
    inconsistent / documents AS inconsistency,
    CAST(round(coalesce(inconsistent, 0)) AS BIGINT) AS inconsistent_documents,
    coalesce(documents, 0) AS documents,
    mae,
    coalesce(mae_n, 0) AS mae_n,
    mape,
    coalesce(mape_n, 0) AS mape_n
FROM answers
LEFT JOIN inconsistency USING (label)
LEFT JOIN absolute USING (label)
LEFT JOIN relative USING (label)
ORDER BY label
