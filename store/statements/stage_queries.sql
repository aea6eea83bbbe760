-- The queries of one addition, looked at as a whole before they enter `queries`.
CREATE OR REPLACE TEMP TABLE staged_queries (
    query_id      UUID PRIMARY KEY,
    doc_id        VARCHAR,
    label         VARCHAR,
    value         VARCHAR,
    arm           VARCHAR,
    prompt_hash   VARCHAR,
    template_hash VARCHAR,
    fills         VARCHAR,
    ordinal       BIGINT
);
