-- What each model's queries have come to, so far: how many are settled, and a fingerprint of the rows that count.
SELECT
    q.collection,
    l.model_key,
    count(*) AS settled,
    CAST(bit_xor(hash(l.row_id)) AS VARCHAR) AS fingerprint
FROM latest AS l
JOIN queries AS q USING (query_id)
WHERE q.retired_at IS NULL
GROUP BY ALL
