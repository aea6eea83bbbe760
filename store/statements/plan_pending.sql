-- The queries of a selection that have no terminal row for every repeat, in the order of asking.
-- $limit cuts between counterfactual sets (document x label x arm; a document by itself without a label), unless the first set alone is larger.
WITH selected AS (
    SELECT query_id, collection, doc_id, coalesce(label, '') AS label, arm, ordinal
    FROM queries
    JOIN documents USING (collection, doc_id)
    WHERE retired_at IS NULL
      AND template_hash IS NOT NULL
      AND documents.text IS NOT NULL
      AND ($collection IS NULL OR collection = $collection)
      AND ($labels IS NULL OR list_contains($labels, label))
      AND ($arms IS NULL OR list_contains($arms, arm))
      AND ($documents IS NULL OR list_contains($documents, doc_id))
      AND ($shards IS NULL OR documents.position % $shards = $shard)
),
sets AS (
    SELECT
        collection,
        doc_id,
        label,
        arm,
        count(*) AS size,
        sum(count(*)) OVER (
            ORDER BY collection, min(ordinal), doc_id, label, arm ROWS UNBOUNDED PRECEDING
        ) AS up_to
    FROM selected
    GROUP BY collection, doc_id, label, arm
),
chosen AS (
    SELECT selected.*
    FROM selected
    JOIN sets USING (collection, doc_id, label, arm)
    WHERE $limit IS NULL OR up_to <= $limit OR up_to = size
    ORDER BY collection, ordinal, query_id
    LIMIT coalesce($limit, 9223372036854775807)
),
-- One bit a repeat: any terminal row settles it, ...
settled AS (
    SELECT query_id, bitstring_agg(repeat, 0, $last) AS bits
    FROM terminal
    WHERE model_key = $model_key AND repeat <= $last
    GROUP BY query_id
),
-- ... unless the newest has an outcome that is to be asked again. Only (query, repeat)s with such a row are sorted
-- out, as that is costly and they are few.
doubtful AS (
    SELECT DISTINCT query_id, repeat
    FROM terminal
    WHERE model_key = $model_key AND repeat <= $last AND list_contains($retry, outcome)
),
newest AS (
    SELECT query_id, repeat, arg_max(outcome, (created_at, row_id)) AS outcome
    FROM terminal
    SEMI JOIN doubtful USING (query_id, repeat)
    WHERE model_key = $model_key
    GROUP BY query_id, repeat
),
reopened AS (
    SELECT query_id, bitstring_agg(repeat, 0, $last) AS bits
    FROM newest
    WHERE list_contains($retry, outcome)
    GROUP BY query_id
),
-- What an open batch asks at a provider is neither settled nor to be asked, unless its run is set aside.
asked AS (
    SELECT query_id, bitstring_agg(repeat, 0, $last) AS bits
    FROM batch_items
    SEMI JOIN (
        SELECT batch
        FROM batches
        WHERE ended_at IS NULL
          AND model_key = $model_key
          AND run_id NOT IN (SELECT run_id FROM runs WHERE set_aside_at IS NOT NULL)
    ) USING (batch)
    WHERE repeat <= $last
    GROUP BY query_id
),
done AS (
    SELECT query_id, CASE WHEN reopened.bits IS NULL THEN settled.bits ELSE settled.bits & ~reopened.bits END AS bits
    FROM settled
    LEFT JOIN reopened USING (query_id)
)
SELECT
    query_id::BLOB AS query_id,
    coalesce(bit_count(done.bits), 0) AS settled,
    coalesce(bit_count(CASE WHEN done.bits IS NULL THEN asked.bits ELSE asked.bits & ~done.bits END), 0) AS in_batches,
    settled + in_batches <= $last AS is_open,
    coalesce(done.bits | asked.bits, done.bits, asked.bits)::VARCHAR AS done
FROM chosen
LEFT JOIN done USING (query_id)
LEFT JOIN asked USING (query_id)
ORDER BY collection, ordinal, query_id;
