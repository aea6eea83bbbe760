-- What a batch may have cost beyond what its rows say; noted once.
INSERT INTO other_costs BY NAME
SELECT $cost_id AS cost_id, $run_id AS run_id, $model_key AS model_key, $served_by AS served_by, 'batch' AS kind,
       $assumed_usd AS assumed_usd, $created_at AS created_at
WHERE $cost_id NOT IN (SELECT cost_id FROM other_costs);
