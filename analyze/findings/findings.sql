-- All findings in their fixed order.
SELECT {columns}
FROM findings
ORDER BY collection, coding, model, temperature NULLS FIRST, model_key, position
