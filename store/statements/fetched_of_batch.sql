-- US dollars of what a batch brought, as far as it is stored and known.
SELECT coalesce(sum(spending.cost_usd), 0)
FROM batches
JOIN batch_items USING (batch)
JOIN spending
  ON spending.query_id = batch_items.query_id
 AND spending.repeat = batch_items.repeat
 AND spending.model_key = batches.model_key
 AND spending.served_by = batches.provider || '/batch/' || batches.model_id
 AND spending.created_at >= batches.submitted_at
WHERE batches.batch = $1;
