-- The texts of the documents of one page.
SELECT collection, doc_id, text
FROM documents
WHERE (collection, doc_id) IN (
    SELECT (collection, doc_id) FROM page JOIN queries ON queries.query_id = page.query_id::UUID
);
