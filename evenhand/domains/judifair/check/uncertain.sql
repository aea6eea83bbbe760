-- Answers that say something, and were left without a reading because it would not be certain: by kind.
SELECT
    collection, model, temperature, label, NULL AS value,
    count(*) AS n, NULL AS of, NULL AS p, missing AS note,
    list(DISTINCT CASE
        WHEN length(text) > 160 THEN '… ' || right(regexp_replace(text, '\s+', ' ', 'g'), 160)
        ELSE regexp_replace(text, '\s+', ' ', 'g')
    END)[:3] AS examples
FROM checked
WHERE missing IS NOT NULL
GROUP BY collection, model, temperature, label, missing
ORDER BY collection, model, temperature, label, n DESC, missing
