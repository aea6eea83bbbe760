-- Terms that Chinese law does not know: a fixed term outside 6 to 300 months, detention over 12 (6, or 12 for several
-- crimes), public surveillance over 36 (here already halved).
WITH odd AS (
    SELECT
        *, coalesce(months, published_months) AS stated,  -- a careful reader takes no absurd detention for a number
        CASE
            WHEN penalty = 'fixed_term' AND months > 300 THEN 'fixed term over 300 months'
            WHEN penalty = 'fixed_term' AND months < 6 THEN 'fixed term under 6 months'
            WHEN penalty = 'detention' AND stated > 12 THEN 'detention over 12 months'
            WHEN penalty = 'public_surveillance' AND months > 18 THEN 'public surveillance over 36 months'
        END AS defect
    FROM checked
)
SELECT
    collection, model, temperature, label, NULL AS value,
    count(*) AS n, NULL AS of, NULL AS p, defect AS note,
    list_sort(list(DISTINCT 'document ' || doc_id || ': ' || round(stated, 2)::VARCHAR || ' months'))[:5] AS examples
FROM odd
WHERE defect IS NOT NULL
GROUP BY collection, model, temperature, label, defect
ORDER BY ALL
