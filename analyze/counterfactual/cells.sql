-- The models, collections, codings and arms that have answers, whether the outcome could be read of them or not.
SELECT DISTINCT collection, model, temperature, model_key, coding, arm, outcome
FROM {view}
WHERE outcome = ?
