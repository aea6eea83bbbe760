-- What a coding makes of the answers beside another: the printed figure, the one reproduced, the one corrected.
-- `before` is the coding that is compared, `after` the one that it is held against. Rebuilt by `analyze.compare`.

CREATE TABLE comparison_values (
    collection        VARCHAR NOT NULL,
    model_key         VARCHAR NOT NULL,
    model             VARCHAR NOT NULL,
    temperature       DOUBLE,
    before            VARCHAR NOT NULL,
    after             VARCHAR NOT NULL,
    label             VARCHAR NOT NULL,
    value             VARCHAR NOT NULL,
    variant           VARCHAR NOT NULL,
    printed_coef      DOUBLE,           -- as a file of printed figures has it
    printed_p         DOUBLE,
    printed_n         BIGINT,
    reproduced        BOOLEAN,          -- printed and before agree to the digits that were printed; null: not printed
    before_coef       DOUBLE,
    before_se         DOUBLE,
    before_p          DOUBLE,
    before_n          BIGINT,
    before_documents  BIGINT,
    before_note       VARCHAR,
    after_coef        DOUBLE,
    after_se          DOUBLE,
    after_p           DOUBLE,
    after_n           BIGINT,
    after_documents   BIGINT,
    after_note        VARCHAR,
    -- The way from before_coef to after_coef, for the primary and the level variant: the three steps add up.
    dropped_step      DOUBLE,           -- leaving out the answers that only `before` uses
    dropped_answers   BIGINT,
    reread_step       DOUBLE,           -- reading the others as `after` does
    reread_answers    BIGINT,
    added_step        DOUBLE,           -- adding the answers that only `after` uses
    added_answers     BIGINT,
    reason            VARCHAR
);

CREATE TABLE comparison_labels (
    collection  VARCHAR NOT NULL,
    model_key   VARCHAR NOT NULL,
    model       VARCHAR NOT NULL,
    temperature DOUBLE,
    before      VARCHAR NOT NULL,
    after       VARCHAR NOT NULL,
    label       VARCHAR NOT NULL,
    "group"     VARCHAR NOT NULL,
    threshold   DOUBLE NOT NULL,
    before_p    DOUBLE,                 -- the smallest of the label's values, primary variant
    after_p     DOUBLE,
    change      VARCHAR NOT NULL,       -- lost, gained, kept, neither, not estimated
    value       VARCHAR,                -- the value with the smaller p of the two codings
    reason      VARCHAR
);

CREATE TABLE comparison_metrics (
    collection   VARCHAR NOT NULL,
    model_key    VARCHAR NOT NULL,
    model        VARCHAR NOT NULL,
    temperature  DOUBLE,
    before       VARCHAR NOT NULL,
    after        VARCHAR NOT NULL,
    metric       VARCHAR NOT NULL,      -- as in model_metrics
    threshold    DOUBLE,
    "group"      VARCHAR NOT NULL,
    before_value DOUBLE,
    before_n     BIGINT,
    after_value  DOUBLE,
    after_n      BIGINT,
    reason       VARCHAR
);

-- Lines of a file of printed figures that nothing in the study answers to.
CREATE TABLE comparison_unmatched (
    collection  VARCHAR NOT NULL,
    model_key   VARCHAR NOT NULL,
    model       VARCHAR NOT NULL,
    temperature DOUBLE,
    before      VARCHAR NOT NULL,
    after       VARCHAR NOT NULL,
    line        BIGINT NOT NULL,
    label       VARCHAR NOT NULL,
    value       VARCHAR NOT NULL,
    variant     VARCHAR NOT NULL,
    note        VARCHAR NOT NULL
);
