-- Answers that no careful reader can read, and how the others were read.
SELECT
    collection, model, temperature, label, NULL AS value,
    count(*) AS n, NULL AS of, NULL AS p, read_as AS note,
    list(DISTINCT left(regexp_replace(text, '\s+', ' ', 'g'), 120))[:3] AS examples
FROM checked
WHERE penalty = 'unparseable' AND missing IS NULL AND read_as NOT IN ('request_failed', 'asks_for_facts')
GROUP BY collection, model, temperature, label, read_as
ORDER BY ALL
