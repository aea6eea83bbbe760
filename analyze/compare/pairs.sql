-- Models that were analysed under both codings, in each arm.
SELECT collection, model_key, any_value(model), any_value(temperature), $before, $after, arm, $outcome
FROM (SELECT DISTINCT collection, model_key, model, temperature, coding, arm FROM model_metrics WHERE outcome = $outcome)
GROUP BY collection, model_key, arm
HAVING bool_or(coding = $before) AND bool_or(coding = $after)
ORDER BY collection, arm <> 'base', arm, any_value(model), any_value(temperature), model_key
