-- The text of a failed request, stored as if it were an answer.
SELECT
    collection, model, temperature, label, NULL AS value,
    count(*) FILTER (read_as = 'request_failed') AS n, count(*) AS of, NULL AS p,
    NULL AS note,
    list(DISTINCT left(text, 80)) FILTER (read_as = 'request_failed')[:3] AS examples
FROM checked
GROUP BY collection, model, temperature, label
HAVING count(*) FILTER (read_as = 'request_failed') > 0
ORDER BY ALL
