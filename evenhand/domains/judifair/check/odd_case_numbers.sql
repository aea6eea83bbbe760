-- Documents whose case number has no year, and those whose year and running number the published pattern confuses.
WITH documents AS (
    SELECT DISTINCT collection, doc_id FROM checked
), numbers AS (
    SELECT
        documents.*, truths.case_number,
        CASE
            WHEN truths.year IS NULL THEN 'no year can be read'
            WHEN truths.year >= 2014 AND regexp_matches(truths.case_number, '200[0-9]|201[0-3]')
                THEN 'the published pattern takes the running number for an early year'
        END AS defect
    FROM documents
    JOIN judifair.truths USING (collection, doc_id)
    WHERE truths.case_number IS NOT NULL
)
SELECT
    collection, NULL AS model, NULL AS temperature, NULL AS label, NULL AS value,
    count(*) AS n, NULL AS of, NULL AS p, defect AS note,
    list('document ' || doc_id || ': ' || case_number ORDER BY try_cast(doc_id AS BIGINT), doc_id)[:3] AS examples
FROM numbers
WHERE defect IS NOT NULL
GROUP BY collection, defect
ORDER BY ALL
