-- How asking ended: rows by model, arm, label, value and outcome. `queries` counts each query once, `rows` its repeats too.
SELECT
    q.collection,
    l.model_key,
    q.arm,
    q.label,
    q.value,
    l.outcome,
    count(DISTINCT l.query_id) AS queries,
    count(*) AS rows
FROM latest AS l
JOIN queries AS q USING (query_id)
WHERE q.retired_at IS NULL AND q.label IS NOT NULL
GROUP BY ALL
