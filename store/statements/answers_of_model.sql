-- By each lane of a model: the longest output that was paid, in tokens, and whether it ever answered.
SELECT served_by, max(completion_tokens), bool_or(kind = 'answer')
FROM spending
WHERE model_key = $model_key
GROUP BY served_by;
