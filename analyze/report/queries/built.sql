-- What there is to ask: queries of a collection by arm, label and value, without those that a rebuild retired.
SELECT collection, arm, label, value, count(*) AS queries
FROM queries
WHERE retired_at IS NULL AND label IS NOT NULL
GROUP BY ALL
