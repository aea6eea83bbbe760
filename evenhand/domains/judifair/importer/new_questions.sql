-- The questions of a file that the collection does not have, and whether their document is new to it as well.
SELECT questions.doc_id, questions.value, documents.doc_id IS NULL AS is_new_document
FROM import_questions AS questions
ANTI JOIN (
    SELECT doc_id, value
    FROM queries
    WHERE collection = $collection AND label = $label AND prompt_hash IS NULL AND retired_at IS NULL
) AS present USING (doc_id, value)
LEFT JOIN documents ON documents.collection = $collection AND documents.doc_id = questions.doc_id
