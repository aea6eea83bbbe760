INSERT INTO documents BY NAME
SELECT $1 AS collection, doc_id, position, text, split, cluster, language, truth,
    groups::JSON::MAP(VARCHAR, VARCHAR) AS groups
FROM new_documents
ON CONFLICT DO NOTHING;
