-- The cases of the split that is predicted, in the order of its file, with the query of each.
SELECT documents.doc_id, queries.query_id
FROM documents
JOIN queries ON queries.collection = documents.collection AND queries.doc_id = documents.doc_id
    AND queries.arm = 'base' AND queries.label IS NULL AND queries.retired_at IS NULL
WHERE documents.collection = $collection AND coalesce(documents.split, $split) = $split
ORDER BY documents.position, documents.doc_id
