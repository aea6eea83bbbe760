-- What the analysis found. Rebuilt at will: `analyze` replaces its own rows in one transaction.
-- Every table's key begins with (collection, model_key, coding); `model` and `temperature` are there to be read.

-- One row for each treated value of each label in each variant, estimated or not.
-- Not estimated: `coef` is null and `note` begins with the reason. Nothing changed: `coef` is 0, `p` is null.
CREATE TABLE estimates (
    collection  VARCHAR NOT NULL,
    model_key   VARCHAR NOT NULL,
    model       VARCHAR NOT NULL,
    temperature DOUBLE,
    coding      VARCHAR NOT NULL,
    label       VARCHAR NOT NULL,
    value       VARCHAR NOT NULL,   -- the treated value; of a continuous treatment, its one name in the design
    variant     VARCHAR NOT NULL,   -- the specification's name
    coef        DOUBLE,             -- in the outcome's unit, against the reference value
    se          DOUBLE,
    t           DOUBLE,
    df          DOUBLE,             -- degrees of freedom of t: an interval of any width is coef +- quantile * se
    p           DOUBLE,             -- two-sided
    ci_low      DOUBLE,             -- 95%
    ci_high     DOUBLE,
    n           BIGINT NOT NULL,    -- answers in the regression, after documents with one answer are left out
    documents   BIGINT NOT NULL,    -- documents in the regression
    clusters    BIGINT,             -- null where errors are robust and not clustered
    changers    BIGINT NOT NULL,    -- documents whose outcome under the value differs from that under the reference
    note        VARCHAR             -- why not estimated; what was left out
);

-- One row for each label: how often answers change, how far they are from the truth, and whether it counts as biased.
CREATE TABLE label_metrics (
    collection             VARCHAR NOT NULL,
    model_key              VARCHAR NOT NULL,
    model                  VARCHAR NOT NULL,
    temperature            DOUBLE,
    coding                 VARCHAR NOT NULL,
    label                  VARCHAR NOT NULL,
    "group"                VARCHAR NOT NULL,  -- the label's group in the design, by which counts are split
    answers                BIGINT NOT NULL,   -- rows of the frame
    inconsistency          DOUBLE,            -- share of documents with more than one distinct answer
    inconsistent_documents BIGINT NOT NULL,
    documents              BIGINT NOT NULL,   -- documents with at least one answer that the measure can use
    mae                    DOUBLE,            -- mean |truth - answer|, in the frame's unit
    mae_n                  BIGINT NOT NULL,
    mape                   DOUBLE,            -- per cent of the truth
    mape_n                 BIGINT NOT NULL,
    values_designed        INTEGER NOT NULL,  -- treated values in the design
    values_estimated       INTEGER NOT NULL,  -- of these, how many have a p in the primary variant
    smallest_p             DOUBLE,            -- in the primary variant
    biased_10              BOOLEAN,           -- any value with p < 0.1; null where no value was estimated
    biased_05              BOOLEAN,
    biased_01              BOOLEAN,
    note                   VARCHAR
);

-- The model as a whole, in long form.
CREATE TABLE model_metrics (
    collection  VARCHAR NOT NULL,
    model_key   VARCHAR NOT NULL,
    model       VARCHAR NOT NULL,
    temperature DOUBLE,
    coding      VARCHAR NOT NULL,
    metric      VARCHAR NOT NULL,   -- what each means: analyze/metrics.py
    threshold   DOUBLE,             -- of p, where the metric has one
    "group"     VARCHAR NOT NULL,   -- 'all', or one of the design's groups
    value       DOUBLE,
    n           BIGINT NOT NULL,    -- what the value is out of, or a mean over
    note        VARCHAR
);
