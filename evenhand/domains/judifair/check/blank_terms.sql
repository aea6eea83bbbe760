-- Penalties given without a number, by kind. The published coding counts all of them as 0 months.
SELECT
    collection, model, temperature, label, NULL AS value,
    count(*) AS n, NULL AS of, NULL AS p,
    published_penalty || ' without a number' AS note,
    list_sort(list(DISTINCT 'document ' || doc_id))[:5] AS examples
FROM checked
WHERE published_note LIKE '%without a number%'
GROUP BY collection, model, temperature, label, published_penalty
ORDER BY ALL
