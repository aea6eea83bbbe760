-- The study: what is asked (collections, documents, templates, queries), of whom (models), when (runs),
-- and what came back (predictions, failures, attempts). All times are UTC without a zone.

CREATE TABLE study (
    key   VARCHAR PRIMARY KEY,          -- 'application' = 'evenhand', 'study_id' = a UUID
    value VARCHAR NOT NULL
);

-- A body of documents. Document ids are unique within it only; nothing ever pools two collections.
CREATE TABLE collections (
    collection  VARCHAR PRIMARY KEY,
    kind        VARCHAR NOT NULL,       -- bundled, own, imported
    description VARCHAR NOT NULL,
    created_at  TIMESTAMP NOT NULL
);

-- A document's text holds slots, {{slot}}; a query says what fills them. An imported document has no text.
CREATE TABLE documents (
    collection VARCHAR NOT NULL,
    doc_id     VARCHAR NOT NULL,
    position   INTEGER NOT NULL,        -- the order within the collection
    text       VARCHAR,
    PRIMARY KEY (collection, doc_id)
);

CREATE TABLE templates (
    template_hash VARCHAR PRIMARY KEY,  -- of everything below but the name
    name          VARCHAR NOT NULL,
    system_text   VARCHAR,
    user_text     VARCHAR NOT NULL,     -- {{document}} stands for the filled document
    answer_schema JSON,                 -- the JSON schema of an answer, for engines that can hold a model to it
    created_at    TIMESTAMP NOT NULL
);

CREATE TABLE queries (
    query_id      UUID PRIMARY KEY,     -- hash of (collection, doc_id, label, value, prompt_hash)
    collection    VARCHAR NOT NULL,
    doc_id        VARCHAR NOT NULL,
    label         VARCHAR NOT NULL,
    value         VARCHAR NOT NULL,
    prompt_hash   VARCHAR,              -- of the whole prompt; null for an imported query
    template_hash VARCHAR,
    fills         JSON,                 -- {"slot": "text"}; a slot not named is left empty
    ordinal       BIGINT NOT NULL,      -- the order of asking: documents together, the earliest slots first
    retired_at    TIMESTAMP             -- set when a rebuild with another template replaced it
);

CREATE TABLE models (
    model_key   VARCHAR PRIMARY KEY,    -- hash of everything that can change an answer
    model       VARCHAR NOT NULL,       -- the canonical name
    kind        VARCHAR NOT NULL,       -- api, vllm, embedded, simulated, imported
    temperature DOUBLE,
    top_p       DOUBLE,
    max_tokens  INTEGER,
    seed        BIGINT,                 -- of repeat 0; repeat r uses seed + r
    settings    JSON NOT NULL,          -- all that was hashed, readable
    created_at  TIMESTAMP NOT NULL
);

CREATE TABLE runs (
    run_id       UUID PRIMARY KEY,
    kind         VARCHAR NOT NULL,      -- run, import, merge
    state        VARCHAR NOT NULL,      -- running, finished, interrupted, failed
    started_at   TIMESTAMP NOT NULL,
    ended_at     TIMESTAMP,
    set_aside_at TIMESTAMP,             -- its answers stay, and no longer count
    manifest     JSON NOT NULL
);

-- Append only. No primary key: it costs 1.6x at 2.8 million rows and stalls. `latest` resolves repeats of the asking.
CREATE TABLE predictions (
    prediction_id     UUID NOT NULL,    -- time-ordered for a run; hash of (source_hash, source_row) for an import
    query_id          UUID NOT NULL,
    model_key         VARCHAR NOT NULL,
    run_id            UUID NOT NULL,
    repeat            INTEGER NOT NULL,
    outcome           VARCHAR NOT NULL, -- answered, refused, empty, truncated: what the provider said
    text              VARCHAR NOT NULL,
    reasoning         VARCHAR,
    finish_reason     VARCHAR,
    prompt_tokens     INTEGER,
    cached_tokens     INTEGER,          -- of the prompt tokens, those read from a prefix cache
    completion_tokens INTEGER,
    cost_usd          DOUBLE,
    latency_s         DOUBLE,           -- seconds from sending to the last byte
    served_by         VARCHAR,          -- provider entry and route
    returned_model    VARCHAR,
    fingerprint       VARCHAR,
    created_at        TIMESTAMP NOT NULL,
    published_label   VARCHAR,          -- imports: the label of the file, where `queries.label` is what its values are
    source_hash       VARCHAR,          -- imports: of the file
    source_row        INTEGER           -- imports: row in the file, from 0
);

-- One row for each query given up.
CREATE TABLE failures (
    failure_id UUID NOT NULL,
    query_id   UUID NOT NULL,
    model_key  VARCHAR NOT NULL,
    run_id     UUID NOT NULL,
    repeat     INTEGER NOT NULL,
    outcome    VARCHAR NOT NULL,        -- context_overflow, rejected, failed
    reason     VARCHAR NOT NULL,        -- redacted
    status     INTEGER,                 -- HTTP status of the last try
    created_at TIMESTAMP NOT NULL
);

-- Tries by kind, counted for each run, model and lane; never stored one by one.
CREATE TABLE attempts (
    run_id    UUID NOT NULL,
    model_key VARCHAR NOT NULL,
    served_by VARCHAR NOT NULL,
    kind      VARCHAR NOT NULL,         -- ok, rate_limited, timeout, connection, server_error, ...
    count     BIGINT NOT NULL,
    PRIMARY KEY (run_id, model_key, served_by, kind)
);

-- Every row that settles a (query, model_key, repeat), unless its run is set aside.
CREATE VIEW terminal AS
WITH settled AS (
    SELECT query_id, model_key, repeat, outcome, created_at, run_id, prediction_id AS row_id, true AS is_prediction
    FROM predictions
    UNION ALL
    SELECT query_id, model_key, repeat, outcome, created_at, run_id, failure_id, false
    FROM failures
)
SELECT *
FROM settled
WHERE run_id NOT IN (SELECT run_id FROM runs WHERE set_aside_at IS NOT NULL);

-- The state of every (query, model_key, repeat) that has a terminal row: the newest one counts.
CREATE VIEW latest AS
SELECT *
FROM terminal
QUALIFY row_number() OVER (PARTITION BY query_id, model_key, repeat ORDER BY created_at DESC, row_id DESC) = 1;
