-- What each model has settled of the cases as they are, and a fingerprint of it; also of the cases themselves.
WITH cases AS (
    SELECT collection, bit_xor(hash(doc_id, split, cluster, truth::VARCHAR, groups::VARCHAR)) AS of_cases
    FROM documents
    GROUP BY collection
)
SELECT
    q.collection, q.arm, m.model_key, m.model, m.temperature, m.seed, m.settings,
    count(*) AS settled, CAST(xor(bit_xor(hash(l.row_id)), any_value(cases.of_cases)) AS VARCHAR) AS fingerprint
FROM latest AS l
JOIN queries AS q ON q.query_id = l.query_id AND q.label IS NULL AND q.retired_at IS NULL
JOIN models AS m ON m.model_key = l.model_key
JOIN cases ON cases.collection = q.collection
GROUP BY ALL
ORDER BY q.collection, q.arm, min(l.created_at), m.model, m.seed NULLS FIRST, m.model_key
