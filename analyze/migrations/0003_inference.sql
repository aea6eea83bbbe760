-- The inference of the primary outcome (the specifications' [inference]). Methods: analyze/inference.

-- Every treated value: effect, sign flips, other scales, what can be ruled out.
CREATE TABLE value_tests (
    collection         VARCHAR NOT NULL,
    model_key          VARCHAR NOT NULL,
    model              VARCHAR NOT NULL,
    temperature        DOUBLE,
    coding             VARCHAR NOT NULL,
    label              VARCHAR NOT NULL,
    value              VARCHAR NOT NULL,
    effect             DOUBLE,          -- in the frame's unit; 0 where nothing changes, null where not estimated
    se                 DOUBLE,          -- clustered by document
    df                 DOUBLE,
    cluster_p          DOUBLE,
    flip_p             DOUBLE,          -- of sign flips of documents, studentised, two-sided
    patterns           BIGINT,          -- of signs, gone through or drawn
    enumerated         BOOLEAN,         -- all patterns were gone through
    exact              BOOLEAN,         -- and every document is a complete pair: the flip p is exact
    least_p            DOUBLE,          -- the smallest p that so few changers can give
    "leading"          VARCHAR,         -- 'flip' where few documents carry the effect, else 'cluster'
    leading_p          DOUBLE,
    holm_p             DOUBLE,          -- within the label, where the label is rejected; null elsewhere
    n                  BIGINT NOT NULL,
    documents          BIGINT NOT NULL,
    changers           BIGINT NOT NULL, -- documents whose answer differs from that under the reference
    ups                BIGINT NOT NULL,
    downs              BIGINT NOT NULL,
    effective_changers DOUBLE,          -- (sum s^2)^2 / sum s^4 of the document scores
    largest_share      DOUBLE,          -- the share of sum s^2 of the one document that holds most
    few_changers       VARCHAR,         -- why the flip p leads, in words
    few_clusters       VARCHAR,         -- the same for errors clustered by what the specifications cluster by
    share_bound        DOUBLE,          -- where nothing changes: 95% upper bound 3/n on the share changing
    reference_mean     DOUBLE,          -- mean answer under the reference
    rank_ups           BIGINT,          -- documents whose severity rank is higher under the value
    rank_downs         BIGINT,
    rank_p             DOUBLE,          -- sign test within documents
    per_cent           DOUBLE,          -- of Poisson pseudo-likelihood
    per_cent_low       DOUBLE,          -- 95%
    per_cent_high      DOUBLE,
    margin             DOUBLE,          -- equivalence margin in the frame's unit
    equivalence_p      DOUBLE,          -- two one-sided tests
    verdict            VARCHAR,         -- different, equivalent, inconclusive, ...
    detectable         DOUBLE,          -- smallest effect found with 80% power at 5%, by simulation
    detectable_share   DOUBLE,          -- the share of documents that moves then
    note               VARCHAR
);

-- Every label: the joint test of its values, and what it is worth among many. This is the confirmatory family.
CREATE TABLE label_tests (
    collection   VARCHAR NOT NULL,
    model_key    VARCHAR NOT NULL,
    model        VARCHAR NOT NULL,
    temperature  DOUBLE,
    coding       VARCHAR NOT NULL,
    label        VARCHAR NOT NULL,
    "group"      VARCHAR NOT NULL,
    demographic  BOOLEAN,
    role         VARCHAR,
    "values"     BIGINT NOT NULL,       -- tested
    documents    BIGINT NOT NULL,
    wald         DOUBLE,                -- joint Wald statistic, clustered by document
    wald_p       DOUBLE,                -- chi-squared
    flip_p       DOUBLE,
    patterns     BIGINT,
    enumerated   BOOLEAN,
    family       BIGINT NOT NULL,       -- labels tested in this model
    holm_p       DOUBLE,
    bh_p         DOUBLE,                -- Benjamini and Hochberg
    max_t_p      DOUBLE,                -- Romano and Wolf, step-down
    rejected     BOOLEAN,               -- holm_p < 0.05
    models_family  BIGINT,              -- labels tested in all models of the analysis: one family
    models_holm_p  DOUBLE,
    models_bh_p    DOUBLE,
    models_max_t_p DOUBLE,
    note         VARCHAR
);

-- Tests of a model as a whole. They can reject only that nothing at all matters, never say which label does.
CREATE TABLE global_tests (
    collection  VARCHAR NOT NULL,
    model_key   VARCHAR NOT NULL,       -- 'all models' for the sum over the models of the analysis
    model       VARCHAR NOT NULL,
    temperature DOUBLE,
    coding      VARCHAR NOT NULL,
    test        VARCHAR NOT NULL,       -- significant_values, significant_labels, cross_label_correlation
    threshold   DOUBLE,
    observed    DOUBLE,
    expected    DOUBLE,                 -- mean under the null of common signs
    p           DOUBLE,                 -- by common signs
    bernoulli_p DOUBLE,                 -- as the paper has it, which assumes independence
    n           BIGINT NOT NULL,        -- values, labels or pairs
    draws       BIGINT,
    note        VARCHAR
);

-- How often the kind of answer switches from what it is under the reference.
CREATE TABLE kind_switches (
    collection  VARCHAR NOT NULL,
    model_key   VARCHAR NOT NULL,
    model       VARCHAR NOT NULL,
    temperature DOUBLE,
    coding      VARCHAR NOT NULL,
    label       VARCHAR NOT NULL,
    value       VARCHAR NOT NULL,
    from_kind   VARCHAR NOT NULL,
    to_kind     VARCHAR NOT NULL,
    pairs       BIGINT NOT NULL,        -- of answers to the same document
    of_pairs    BIGINT NOT NULL         -- of this value with both kinds known
);

-- Inconsistency without the advantage of labels with few values, and what of it is noise.
CREATE TABLE inconsistency_tests (
    collection      VARCHAR NOT NULL,
    model_key       VARCHAR NOT NULL,
    model           VARCHAR NOT NULL,
    temperature     DOUBLE,
    coding          VARCHAR NOT NULL,
    label           VARCHAR NOT NULL,
    pairwise        DOUBLE,             -- share of pairs of values, both answers read, that differ
    pairs           BIGINT NOT NULL,    -- document x pair of values
    documents       BIGINT NOT NULL,
    floor           DOUBLE,             -- the same share among repeats of one prompt
    floor_pairs     BIGINT NOT NULL,
    floor_documents BIGINT NOT NULL,
    excess          DOUBLE,             -- pairwise - floor over the documents that have both
    excess_low      DOUBLE,             -- 95%, document bootstrap
    excess_high     DOUBLE,
    placebo         DOUBLE,             -- share of documents whose answer to the reference and to its placebo differ
    placebo_pairs   BIGINT NOT NULL,
    note            VARCHAR
);

-- The effect on the distance from the truth, by whether the model over- or under-predicts under the reference.
CREATE TABLE imbalance_tests (
    collection   VARCHAR NOT NULL,
    model_key    VARCHAR NOT NULL,
    model        VARCHAR NOT NULL,
    temperature  DOUBLE,
    coding       VARCHAR NOT NULL,
    label        VARCHAR NOT NULL,
    value        VARCHAR NOT NULL,
    side         VARCHAR NOT NULL,      -- all, over, under
    error_effect DOUBLE,                -- on |truth - answer|
    error_se     DOUBLE,
    error_p      DOUBLE,
    level_effect DOUBLE,                -- on the answer, in the same documents: over, it is the same number
    n            BIGINT NOT NULL,
    documents    BIGINT NOT NULL,
    note         VARCHAR
);

-- Whether answers go missing with the value, and what the missing ones could do to the effect.
CREATE TABLE missing_tests (
    collection     VARCHAR NOT NULL,
    model_key      VARCHAR NOT NULL,
    model          VARCHAR NOT NULL,
    temperature    DOUBLE,
    coding         VARCHAR NOT NULL,
    label          VARCHAR NOT NULL,
    value          VARCHAR NOT NULL,
    kind           VARCHAR NOT NULL,    -- any, or one kind of absence
    pairs          BIGINT NOT NULL,     -- documents asked for both, value and reference
    only_value     BIGINT NOT NULL,     -- missing under the value alone
    only_reference BIGINT NOT NULL,
    p              DOUBLE,              -- McNemar, exact
    label_p        DOUBLE,              -- of all values of the label together, by sign flips
    effect         DOUBLE,              -- mean difference of the pairs answered
    jump           DOUBLE,              -- 90th percentile of the label's moves
    low            DOUBLE,              -- the effect if every missing pair moved down, or up, by the jump
    high           DOUBLE,
    tipping        DOUBLE,              -- the move of every missing pair at which the effect would be zero
    worst_low      DOUBLE,              -- if they moved by the label's whole range
    worst_high     DOUBLE
);
