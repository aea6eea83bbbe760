-- When each model was last analysed under each coding, and on which answers; see analyze/freshness.py.
CREATE TABLE analyses (
    collection  VARCHAR NOT NULL,
    model       VARCHAR NOT NULL,
    temperature DOUBLE,
    model_key   VARCHAR NOT NULL,
    coding      VARCHAR NOT NULL,
    analysed_at TIMESTAMP NOT NULL,     -- UTC
    settled     BIGINT NOT NULL,        -- (query, repeat) pairs that were answered or given up
    fingerprint VARCHAR NOT NULL        -- of the rows that settled them
);
