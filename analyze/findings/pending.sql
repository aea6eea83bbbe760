-- Of each model that was asked anything in a collection, by arm and repeat begun: queries, how many are answered, given up, and
-- still to be asked. Imported answers are no plan: nothing of theirs is pending.
WITH begun AS (
    SELECT DISTINCT q.collection, l.model_key, q.arm, l.repeat
    FROM latest AS l
    JOIN queries AS q USING (query_id)
    WHERE q.retired_at IS NULL AND q.label IS NOT NULL
), planned AS (
    SELECT b.collection, b.model_key, b.arm, b.repeat, q.query_id
    FROM begun AS b
    JOIN queries AS q USING (collection, arm)
    WHERE q.retired_at IS NULL AND q.label IS NOT NULL
)
SELECT
    p.collection, m.model, m.temperature, p.model_key, p.arm, p.repeat,
    count(*) FILTER (m.kind <> 'imported' OR l.outcome IS NOT NULL) AS queries,
    count(*) FILTER (l.outcome = 'answered') AS answered,
    count(*) FILTER (l.outcome IS NOT NULL AND l.outcome <> 'answered') AS otherwise,
    count(*) FILTER (m.kind <> 'imported' AND l.outcome IS NULL) AS pending
FROM planned AS p
JOIN models AS m USING (model_key)
LEFT JOIN latest AS l ON l.query_id = p.query_id AND l.model_key = p.model_key AND l.repeat = p.repeat
GROUP BY p.collection, m.model, m.temperature, p.model_key, p.arm, p.repeat
ORDER BY p.collection, m.model, m.temperature NULLS FIRST, p.model_key, p.arm <> 'base', p.arm, p.repeat
