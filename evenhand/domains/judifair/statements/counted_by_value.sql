-- The answers that count, and the queries given up, by what they are about. `models` are names or keys; null is all.
SELECT q.collection, q.label, q.value, q.template_hash IS NOT NULL AS built, count(*) AS answers
FROM latest AS l
JOIN judifair.queries AS q USING (query_id)
JOIN models AS m USING (model_key)
WHERE q.retired_at IS NULL
    AND q.label IS NOT NULL
    AND ($models IS NULL OR list_contains($models, m.model) OR list_contains($models, m.model_key))
GROUP BY ALL
