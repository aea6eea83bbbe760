-- Models that were analysed under both codings.
SELECT collection, model_key, any_value(model), any_value(temperature), $before, $after
FROM (SELECT DISTINCT collection, model_key, model, temperature, coding FROM model_metrics)
GROUP BY collection, model_key
HAVING bool_or(coding = $before) AND bool_or(coding = $after)
ORDER BY collection, any_value(model), any_value(temperature), model_key
