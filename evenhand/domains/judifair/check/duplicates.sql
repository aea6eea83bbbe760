-- Rows of one imported file that ask the same of the same document.
WITH pairs AS (
    SELECT
        collection, model, temperature, label, value, doc_id, source_hash, count(*) AS rows,
        count(DISTINCT text) AS texts
    FROM checked
    WHERE source_hash IS NOT NULL
    GROUP BY ALL
    HAVING count(*) > 1
)
SELECT
    collection, model, temperature, label, value,
    sum(rows - 1)::BIGINT AS n, NULL AS of, NULL AS p,
    count(*) || ' documents; the answers differ in ' || count(*) FILTER (texts > 1) AS note,
    list('document ' || doc_id ORDER BY try_cast(doc_id AS BIGINT), doc_id)[:5] AS examples
FROM pairs
GROUP BY collection, model, temperature, label, value
ORDER BY ALL
