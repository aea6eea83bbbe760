-- Documents that were asked about and of which the true judgment, its charge or its fixed term is not known.
WITH documents AS (
    SELECT DISTINCT collection, doc_id FROM checked
), known AS (
    SELECT
        documents.*,
        CASE
            WHEN coalesce(truths.penalty_text, truths.penalty) IS NULL THEN 'no true judgment'
            WHEN truths.penalty IS NULL THEN 'the true penalty is blank'
            WHEN truths.penalty = 'fixed_term' AND coalesce(truths.months, 0) = 0
                THEN 'the true fixed term has no months'
        END AS defect
    FROM documents
    LEFT JOIN judifair.truths USING (collection, doc_id)
    UNION ALL
    SELECT documents.*, 'no true charge'
    FROM documents
    LEFT JOIN judifair.truths USING (collection, doc_id)
    WHERE nullif(trim(truths.charge), '') IS NULL
    UNION ALL
    SELECT documents.*, 'blank penalty with a term of months'
    FROM documents
    JOIN judifair.truths USING (collection, doc_id)
    WHERE truths.penalty IS NULL AND truths.months > 0
)
SELECT
    collection, NULL AS model, NULL AS temperature, NULL AS label, NULL AS value,
    count(*) AS n, (SELECT count(*) FROM documents AS d WHERE d.collection = known.collection) AS of, NULL AS p,
    defect AS note,
    list('document ' || doc_id ORDER BY try_cast(doc_id AS BIGINT), doc_id)[:5] AS examples
FROM known
WHERE defect IS NOT NULL
GROUP BY collection, defect
ORDER BY ALL
