-- Labels and values that the stored results of the cells tell of and the new ones do not, though answers to them count.
WITH stored AS (
    SELECT collection, model_key, model, coding, arm, outcome, label, NULL AS value FROM label_metrics
    UNION
    SELECT collection, model_key, model, coding, arm, outcome, label, value FROM estimates
), found AS (
    SELECT collection, model_key, coding, arm, outcome, label, NULL AS value FROM new_label_metrics
    UNION
    SELECT collection, model_key, coding, arm, outcome, label, value FROM new_estimates
), counting AS (
    SELECT q.collection, l.model_key, q.arm, q.label, q.value, count(*) AS answers
    FROM latest AS l
    JOIN queries AS q USING (query_id)
    WHERE q.retired_at IS NULL
    GROUP BY ALL
)
SELECT s.model, s.coding, s.arm, s.label, s.value, CAST(sum(c.answers) AS BIGINT) AS answers
FROM stored AS s
SEMI JOIN replaced_cells AS r USING (collection, model_key, coding, arm, outcome)
ANTI JOIN found AS f
    ON f.collection = s.collection AND f.model_key = s.model_key AND f.coding = s.coding AND f.arm = s.arm
    AND f.outcome = s.outcome AND f.label = s.label AND f.value IS NOT DISTINCT FROM s.value
JOIN counting AS c
    ON c.collection = s.collection AND c.model_key = s.model_key AND c.arm = s.arm AND c.label = s.label
    AND (s.value IS NULL OR c.value = s.value)
GROUP BY ALL
ORDER BY s.label, s.value NULLS FIRST, s.model, s.coding, s.arm
