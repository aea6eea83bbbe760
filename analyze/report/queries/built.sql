-- What there is to ask: queries of a collection by label and value, without those that a rebuild retired.
SELECT collection, label, value, count(*) AS queries
FROM queries
WHERE retired_at IS NULL
GROUP BY ALL
