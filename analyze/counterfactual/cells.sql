-- The models, collections and codings that have answers.
SELECT DISTINCT collection, model, temperature, model_key, coding
FROM {view}
