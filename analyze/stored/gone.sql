-- What was analysed once and has not one answer that counts any more: its runs were set aside, its queries retired.
SELECT DISTINCT r.collection, r.model, r.temperature, r.model_key, r.coding, r.arm, r.outcome
FROM label_metrics AS r
WHERE r.coding IN (SELECT unnest($codings))
    AND r.outcome = $outcome
    AND (r.collection, r.model_key, r.arm) NOT IN (
        SELECT (q.collection, l.model_key, q.arm)
        FROM latest AS l
        JOIN queries AS q USING (query_id)
        WHERE q.retired_at IS NULL
    )
ORDER BY ALL
