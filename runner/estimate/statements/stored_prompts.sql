-- Some of the stored answers, always the same ones: the prompt tokens that the provider counted, and what the
-- prompts were made of.
SELECT
    models.model,
    prompt_tokens,
    models.settings ->> 'system_text' AS model_system_text,
    system_text,
    user_text,
    documents.text,
    fills
FROM (
    SELECT query_id, model_key, prompt_tokens, row_number() OVER (
        PARTITION BY model_key ORDER BY hash(prediction_id)
    ) AS place
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
    QUALIFY place <= $most
) AS chosen
JOIN models USING (model_key)
JOIN queries USING (query_id)
JOIN templates USING (template_hash)
JOIN documents ON documents.collection = queries.collection AND documents.doc_id = queries.doc_id
WHERE documents.text IS NOT NULL;
