-- The cases of a collection in order, with what is true of an outcome (null where it is not known).
SELECT doc_id, coalesce(split, '') AS split, cluster, truth -> $outcome AS truth, groups
FROM documents
WHERE collection = $collection
ORDER BY position, doc_id
