-- Analyses that know less, or other, than the study does now.
WITH now_settled AS (
    {settled}
), imported AS (
    -- An import can correct true judgments without bringing an answer.
    SELECT manifest ->> '$.collection' AS collection, max(started_at) AS last_import
    FROM runs
    WHERE kind = 'import'
    GROUP BY ALL
)
SELECT
    a.collection,
    a.model_key,
    a.coding,
    a.arm,
    a.outcome,
    a.analysed_at,
    coalesce(n.settled, 0) - a.settled AS more,
    coalesce(n.fingerprint, '') <> a.fingerprint AS changed
FROM analyses AS a
LEFT JOIN now_settled AS n USING (collection, model_key, arm)
LEFT JOIN imported AS i USING (collection)
WHERE coalesce(n.fingerprint, '') <> a.fingerprint OR coalesce(i.last_import > a.analysed_at, false)
ORDER BY a.rowid
