-- What is new about documents that are there already.
UPDATE documents
SET text = new_documents.text, position = new_documents.position, split = new_documents.split,
    cluster = new_documents.cluster, language = new_documents.language, truth = new_documents.truth,
    groups = new_documents.groups::JSON::MAP(VARCHAR, VARCHAR)
FROM new_documents
WHERE documents.collection = $1
  AND documents.doc_id = new_documents.doc_id
  AND (
      documents.text IS DISTINCT FROM new_documents.text
      OR documents.position <> new_documents.position
      OR documents.split IS DISTINCT FROM new_documents.split
      OR documents.cluster IS DISTINCT FROM new_documents.cluster
      OR documents.language IS DISTINCT FROM new_documents.language
      OR documents.truth::VARCHAR IS DISTINCT FROM new_documents.truth
      OR documents.groups IS DISTINCT FROM new_documents.groups::JSON::MAP(VARCHAR, VARCHAR)
  );
