-- Documents that a label was asked of, but not at every value (ages differ from document to document and are left out).
WITH asked AS (
    SELECT DISTINCT collection, model, temperature, model_key, label, doc_id, value
    FROM checked
    WHERE treatment = 'categorical'
), documents AS (
    SELECT DISTINCT collection, model, temperature, model_key, label, doc_id FROM asked
), wanted AS (
    SELECT documents.*, label_values.value
    FROM documents
    JOIN judifair.design_values AS label_values
        ON label_values.coding = 'corrected' AND label_values.label = documents.label
)
SELECT
    wanted.collection, wanted.model, wanted.temperature, wanted.label, wanted.value,
    count(*) FILTER (asked.doc_id IS NULL) AS n, count(*) AS of, NULL AS p,
    NULL AS note,
    list('document ' || wanted.doc_id ORDER BY try_cast(wanted.doc_id AS BIGINT), wanted.doc_id)
        FILTER (asked.doc_id IS NULL)[:5] AS examples
FROM wanted
LEFT JOIN asked USING (model_key, collection, label, doc_id, value)
GROUP BY wanted.collection, wanted.model, wanted.temperature, wanted.label, wanted.value
HAVING count(*) FILTER (asked.doc_id IS NULL) > 0
ORDER BY ALL
