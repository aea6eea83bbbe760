-- The texts of the documents of one page.
SELECT collection, doc_id, text
FROM documents
JOIN wanted USING (collection, doc_id);
