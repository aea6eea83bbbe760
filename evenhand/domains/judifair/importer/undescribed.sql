-- The documents of a collection, and whether a documents file describes them: else their case number is not even blank.
SELECT doc_id, truths.case_number IS NOT NULL
FROM documents
LEFT JOIN judifair.truths USING (collection, doc_id)
WHERE documents.collection = $collection
