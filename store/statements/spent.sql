-- US dollars of a study over all its runs: what is known, what is assumed where it is not known, what killed runs may
-- have spent beyond their rows, and what open batches may still cost.
WITH of_batches AS (
    SELECT batches.batch, batches.model_key, batches.run_id, batches.dearest_usd,
           (SELECT coalesce(sum(spending.cost_usd), 0)
            FROM spending
            JOIN batch_items USING (query_id, repeat)
            WHERE batch_items.batch = batches.batch
              AND spending.model_key = batches.model_key
              AND spending.created_at >= batches.submitted_at
              AND spending.served_by = batches.provider || '/batch/' || batches.model_id) AS fetched_usd
    FROM batches
    WHERE ended_at IS NULL AND input_file_id IS NOT NULL
)
SELECT
    (SELECT coalesce(sum(cost_usd), 0) FROM spending WHERE isfinite(cost_usd)),
    (SELECT coalesce(sum(assumed_usd), 0) FROM spending),
    (SELECT coalesce(sum(unsettled_usd), 0) FROM runs WHERE NOT list_contains($active_runs::UUID[], run_id)),
    (SELECT coalesce(sum(greatest(dearest_usd - fetched_usd, 0)), 0)
     FROM of_batches
     WHERE NOT list_contains($but_batches_of::VARCHAR[], model_key)
        OR run_id IN (SELECT run_id FROM runs WHERE set_aside_at IS NOT NULL)),
    (SELECT coalesce(sum(greatest(dearest_usd - fetched_usd, 0)), 0)
     FROM of_batches
     WHERE list_contains($but_batches_of::VARCHAR[], model_key)
       AND run_id NOT IN (SELECT run_id FROM runs WHERE set_aside_at IS NOT NULL));
