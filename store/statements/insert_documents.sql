INSERT INTO documents (collection, doc_id, position, text)
SELECT $1, doc_id, position, text
FROM new_documents
ON CONFLICT DO NOTHING;
