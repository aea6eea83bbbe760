-- Which lanes have answered for a model, each with its longest answer in tokens.
SELECT served_by, max(completion_tokens) AS longest
FROM predictions
WHERE model_key = $model_key
GROUP BY served_by;
