-- Readable answers that the published coding drops, because they are not exactly one JSON object.
SELECT
    collection, model, temperature, label, NULL AS value,
    count(*) FILTER (months IS NOT NULL AND published_read_as <> 'exact') AS n,
    count(*) FILTER (months IS NOT NULL) AS of, NULL AS p, NULL AS note,
    list('document ' || doc_id || ' ' || value ORDER BY try_cast(doc_id AS BIGINT), doc_id)
        FILTER (months IS NOT NULL AND published_read_as <> 'exact')[:3] AS examples
FROM checked
WHERE model_kind = 'imported'
GROUP BY collection, model, temperature, label
HAVING n > 0
ORDER BY ALL
