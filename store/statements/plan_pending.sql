-- The queries of a selection that have no terminal row for every repeat, in the order of asking.
-- $limit cuts between counterfactual sets (document x label), unless the first set alone is larger.
WITH selected AS (
    SELECT query_id, collection, doc_id, label, ordinal
    FROM queries
    JOIN documents USING (collection, doc_id)
    WHERE retired_at IS NULL
      AND template_hash IS NOT NULL
      AND documents.text IS NOT NULL
      AND ($collection IS NULL OR collection = $collection)
      AND ($labels IS NULL OR list_contains($labels, label))
      AND ($documents IS NULL OR list_contains($documents, doc_id))
      AND ($shards IS NULL OR documents.position % $shards = $shard)
),
sets AS (
    SELECT
        collection,
        doc_id,
        label,
        count(*) AS size,
        sum(count(*)) OVER (
            ORDER BY collection, min(ordinal), doc_id, label ROWS UNBOUNDED PRECEDING
        ) AS up_to
    FROM selected
    GROUP BY collection, doc_id, label
),
chosen AS (
    SELECT selected.*
    FROM selected
    JOIN sets USING (collection, doc_id, label)
    WHERE $limit IS NULL OR up_to <= $limit OR up_to = size
    ORDER BY collection, ordinal, query_id
    LIMIT coalesce($limit, 9223372036854775807)
),
done AS (
    SELECT query_id, list(repeat) AS repeats
    FROM latest
    WHERE model_key = $model_key
      AND repeat < $repeats
      AND NOT list_contains($retry, outcome)
    GROUP BY query_id
)
SELECT query_id::BLOB AS query_id, done.repeats AS done
FROM chosen
LEFT JOIN done USING (query_id)
ORDER BY collection, ordinal, query_id;
