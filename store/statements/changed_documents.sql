-- The documents among new_documents whose stored text is another one.
SELECT new_documents.doc_id
FROM new_documents
JOIN documents ON documents.collection = $1 AND documents.doc_id = new_documents.doc_id
WHERE documents.text IS DISTINCT FROM new_documents.text;
