-- Imported documents that were asked about and that no documents file describes: their case number is not even blank.
WITH documents AS (
    SELECT DISTINCT collection, doc_id FROM checked WHERE source_hash IS NOT NULL
)
SELECT
    documents.collection, NULL AS model, NULL AS temperature, NULL AS label, NULL AS value,
    count(*) AS n, (SELECT count(*) FROM documents AS d WHERE d.collection = documents.collection) AS of, NULL AS p,
    CASE WHEN nullif(trim(truths.charge), '') IS NULL THEN 'no case number and no charge'
        ELSE 'no case number; the charge is the one that the answers file states' END AS note,
    list('document ' || documents.doc_id ORDER BY try_cast(documents.doc_id AS BIGINT), documents.doc_id)[:5]
        AS examples
FROM documents
LEFT JOIN judifair.truths USING (collection, doc_id)
WHERE truths.case_number IS NULL
GROUP BY documents.collection, note
ORDER BY ALL
