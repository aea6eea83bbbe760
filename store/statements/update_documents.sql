-- Text and position of documents that are there already and differ.
UPDATE documents
SET text = new_documents.text, position = new_documents.position
FROM new_documents
WHERE documents.collection = $1
  AND documents.doc_id = new_documents.doc_id
  AND (documents.text IS DISTINCT FROM new_documents.text OR documents.position <> new_documents.position);
