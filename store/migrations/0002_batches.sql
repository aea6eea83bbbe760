-- Batches of requests that were handed, or are about to be handed, to a provider's batch interface. A row is made
-- before anything is sent, so that a process that dies at any moment leaves a trace to go on from.
CREATE TABLE batches (
    batch         UUID NOT NULL,        -- ours
    run_id        UUID NOT NULL,        -- the run that wrote it; the answers belong to the run that fetched them
    model_key     VARCHAR NOT NULL,
    provider      VARCHAR NOT NULL,
    model_id      VARCHAR NOT NULL,     -- the provider's name of the model
    base_url      VARCHAR NOT NULL,
    key_variable  VARCHAR,              -- the NAME of the variable whose key it was sent with
    requests      INTEGER NOT NULL,
    dearest_usd   DOUBLE,               -- if every answer were as long as max_tokens allows
    state         VARCHAR NOT NULL,     -- written, uploaded, then the provider's word; rejected, lost
    input_file_id VARCHAR,
    batch_id      VARCHAR,              -- the provider's
    note          VARCHAR,              -- what went wrong, redacted
    prepared_at   TIMESTAMP NOT NULL,
    submitted_at  TIMESTAMP,
    ended_at      TIMESTAMP             -- set when nothing more will come of it: all that came is stored
);

-- What a batch asks. While it is open, these are neither submitted again nor asked live.
CREATE TABLE batch_items (
    batch    UUID NOT NULL,
    query_id UUID NOT NULL,
    repeat   INTEGER NOT NULL
);
