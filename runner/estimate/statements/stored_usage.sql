-- What the stored answers of one model (at these settings, or at any) or of all others used, one row a model.
-- Only answers to queries that still count: another template makes other prompts and other answers.
SELECT
    models.model,
    count(*) AS answers,
    avg(prompt_tokens) AS prompt_tokens,
    coalesce(sum(cached_tokens) FILTER (prompt_tokens IS NOT NULL) / sum(prompt_tokens), 0) AS cached_share,
    avg(completion_tokens) AS completion_tokens,
    coalesce(stddev_samp(completion_tokens), 0) AS completion_deviation,
    avg(latency_s) AS latency_mean,
    quantile_cont(latency_s, 0.25) AS latency_low,
    quantile_cont(latency_s, 0.95) AS latency_high
FROM predictions
JOIN models USING (model_key)
JOIN queries USING (query_id)
WHERE prompt_tokens > 0
  AND completion_tokens IS NOT NULL
  AND retired_at IS NULL
  AND template_hash IS NOT NULL
  AND ($model_key IS NULL OR model_key = $model_key)
  AND ($model IS NULL OR models.model = $model)
  AND ($other IS NULL OR (models.model <> $other AND models.kind IN ('api', 'vllm')))
GROUP BY models.model
ORDER BY models.model;
