-- Models that have answers in a collection of which others were analysed under a coding, and they were not, in this arm.
WITH answered AS (
    SELECT q.collection, l.model_key, q.arm, count(*) AS answers
    FROM latest AS l
    JOIN queries AS q USING (query_id)
    WHERE q.retired_at IS NULL AND q.label IS NOT NULL AND l.outcome = 'answered'
    GROUP BY ALL
), codings AS (
    SELECT DISTINCT collection, coding, outcome FROM analyses
)
SELECT c.collection, c.coding, c.outcome, w.arm, m.model_key, m.model, m.temperature, w.answers
FROM codings AS c
JOIN answered AS w USING (collection)
JOIN models AS m USING (model_key)
WHERE (c.collection, c.coding, c.outcome, w.arm, w.model_key)
    NOT IN (SELECT (collection, coding, outcome, arm, model_key) FROM analyses)
ORDER BY c.collection, w.arm <> 'base', w.arm, m.model, m.temperature NULLS FIRST, m.model_key, c.coding, c.outcome
