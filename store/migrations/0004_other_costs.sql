-- Money that no answer shows. A provider may charge for a try that gave none (no choices, an error with its usage, a
-- reply that broke off), and for more than it states. All of it counts against limits.
CREATE TABLE other_costs (
    cost_id           UUID NOT NULL,
    run_id            UUID NOT NULL,
    model_key         VARCHAR NOT NULL,
    served_by         VARCHAR NOT NULL,
    query_id          UUID,             -- null for a whole batch
    repeat            INTEGER,
    kind              VARCHAR NOT NULL, -- the kind of the failed try (timeout, no_choices, ...); truncated: an answer that
                                        -- was asked again with more tokens; unknown_cost: an answer (stored in
                                        -- `predictions`) that states no use; batch: what a batch may have cost beyond
                                        -- the answers that it brought
    prompt_tokens     INTEGER,
    cached_tokens     INTEGER,
    completion_tokens INTEGER,
    cost_usd          DOUBLE,           -- as stated, or by the prices; null where it is not known
    assumed_usd       DOUBLE,           -- where it is not known: the most that it may have cost
    created_at        TIMESTAMP NOT NULL
);

-- The most that a run may have spent beyond its rows: requests on their way, and answers not yet committed. Null when
-- it has ended in order; what a killed run leaves here counts as spent.
ALTER TABLE runs ADD COLUMN unsettled_usd DOUBLE;

-- Everything that was paid, or may have been, a row each; kind 'answer' for the answers.
CREATE VIEW spending AS
SELECT run_id, model_key, served_by, query_id, repeat, 'answer' AS kind,
       prompt_tokens, cached_tokens, completion_tokens, cost_usd, NULL::DOUBLE AS assumed_usd, created_at
FROM predictions
WHERE source_hash IS NULL
UNION ALL
SELECT run_id, model_key, served_by, query_id, repeat, kind,
       prompt_tokens, cached_tokens, completion_tokens, cost_usd, assumed_usd, created_at
FROM other_costs;
