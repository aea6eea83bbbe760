-- What each model's queries of an arm have come to, so far: how many are settled, and a fingerprint of the rows that
-- count. Cases asked as they are, without a label, belong to another design.
SELECT
    q.collection,
    l.model_key,
    q.arm,
    count(*) AS settled,
    CAST(bit_xor(hash(l.row_id)) AS VARCHAR) AS fingerprint
FROM latest AS l
JOIN queries AS q USING (query_id)
WHERE q.retired_at IS NULL AND q.label IS NOT NULL
GROUP BY ALL
