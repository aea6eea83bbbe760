-- Documents of a collection that no documents file describes: their case number is not even blank.
SELECT count(*) FILTER (truths.case_number IS NULL), count(*)
FROM documents
LEFT JOIN truths USING (collection, doc_id)
WHERE documents.collection = $collection
