-- How often answers change and how far they are from the truth, by label, over the rows of one frame.
WITH answers AS (
    SELECT label, count(*) AS answers FROM frame_rows GROUP BY label
), kinds AS (
    SELECT label, doc_id, count(DISTINCT inconsistency_value) AS kinds
    FROM frame_rows
    WHERE inconsistency_sample AND inconsistency_value IS NOT NULL
    GROUP BY label, doc_id
), inconsistency AS (
    SELECT label, count(*) AS documents, count(*) FILTER (kinds > 1) AS inconsistent_documents
    FROM kinds
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
    inconsistent_documents / documents AS inconsistency,
    coalesce(inconsistent_documents, 0) AS inconsistent_documents,
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
