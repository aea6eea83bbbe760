-- All findings in their fixed order.
SELECT {columns}
FROM findings
ORDER BY
    collection, coding, arm <> 'base', arm, model, temperature NULLS FIRST, model_key, outcome, position
