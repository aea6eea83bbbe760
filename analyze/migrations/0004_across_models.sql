-- What can be said over several models. Models are taken as given: nothing here speaks of models not in the study.

-- Share of labels biased by model, in one place for rankings: of those estimated, of those in the design.
CREATE VIEW bias_ranking AS
WITH designed AS (
    SELECT collection, model_key, coding, "group", any_value(n) AS designed
    FROM model_metrics
    WHERE metric = 'labels_asked'
    GROUP BY collection, model_key, coding, "group"
)
SELECT
    m.collection, m.coding, m.model, m.temperature, m.model_key, m.threshold, m."group",
    CAST(m.value AS BIGINT) AS biased, m.n AS estimated, d.designed,
    m.value / nullif(m.n, 0) AS share,
    rank() OVER (
        PARTITION BY m.collection, m.coding, m.threshold, m."group" ORDER BY m.value / nullif(m.n, 0) DESC NULLS LAST
    ) AS "rank"
FROM model_metrics AS m
LEFT JOIN designed AS d USING (collection, model_key, coding, "group")
WHERE m.metric = 'biased_labels';

-- One row for each model: the metrics of the paper's summary table.
CREATE VIEW metric_summary AS
SELECT
    collection, coding, model, temperature, model_key,
    max(value) FILTER (metric = 'inconsistency_weighted') AS inconsistency,
    max(value) FILTER (metric = 'inconsistency_weighted_printed') AS inconsistency_as_printed,
    max(value) FILTER (metric = 'inconsistency_pairwise') AS inconsistency_pairwise,
    max(value) FILTER (metric = 'biased_labels' AND threshold = 0.1 AND "group" = 'all') AS biased_10,
    max(value) FILTER (metric = 'biased_labels' AND threshold = 0.05 AND "group" = 'all') AS biased_05,
    max(n) FILTER (metric = 'biased_labels' AND threshold = 0.05 AND "group" = 'all') AS labels_estimated,
    max(value) FILTER (metric = 'mae_weighted') AS mae,
    max(value) FILTER (metric = 'mape_weighted') AS mape,
    max(value) FILTER (metric = 'imbalanced_labels' AND threshold = 0.1 AND "group" = 'all') AS imbalanced_10,
    max(value) FILTER (metric = 'imbalanced_labels' AND threshold = 0.05 AND "group" = 'all') AS imbalanced_05
FROM model_metrics
GROUP BY collection, coding, model, temperature, model_key;

-- In how many of the models that could be estimated each label is biased.
CREATE VIEW label_agreement AS
SELECT
    collection, coding, label, "group",
    count(*) FILTER (smallest_p IS NOT NULL) AS models_estimated,
    count(*) FILTER (biased_10) AS biased_10,
    count(*) FILTER (biased_05) AS biased_05,
    count(*) FILTER (biased_01) AS biased_01
FROM label_metrics
GROUP BY collection, coding, label, "group";

-- In which direction each value moves, and how far the models agree: the larger share of one sign.
CREATE VIEW value_agreement AS
SELECT
    collection, coding, variant, label, value,
    count(*) FILTER (p IS NOT NULL) AS models_estimated,
    count(*) FILTER (p IS NOT NULL AND coef > 0) AS up,
    count(*) FILTER (p IS NOT NULL AND coef < 0) AS down,
    count(*) FILTER (p < 0.05 AND coef > 0) AS significantly_up,
    count(*) FILTER (p < 0.05 AND coef < 0) AS significantly_down,
    greatest(up, down) / nullif(models_estimated, 0) AS agreement
FROM estimates
GROUP BY collection, coding, variant, label, value;

-- Does bias go with what kind of label it is? Unit: the label, averaged over models.
CREATE TABLE structure_tests (
    collection   VARCHAR NOT NULL,
    coding       VARCHAR NOT NULL,
    factor       VARCHAR NOT NULL,      -- group, demographic, role
    level        VARCHAR NOT NULL,      -- of the factor
    threshold    DOUBLE NOT NULL,
    labels       BIGINT NOT NULL,       -- at the level
    share        DOUBLE,                -- mean over labels of the share of models in which they are biased
    p            DOUBLE,                -- of the factor: labels permuted within strata
    strata       VARCHAR NOT NULL,
    models       BIGINT NOT NULL,
    permutations BIGINT,
    note         VARCHAR
);

-- How metrics go together over models: Spearman, exact.
CREATE TABLE metric_correlations (
    collection   VARCHAR NOT NULL,
    coding       VARCHAR NOT NULL,
    first        VARCHAR NOT NULL,
    second       VARCHAR NOT NULL,
    models       BIGINT NOT NULL,
    rho          DOUBLE,
    low          DOUBLE,                -- 95%
    high         DOUBLE,
    p            DOUBLE,                -- permutation
    holm_p       DOUBLE,                -- over the pairs that are not mechanical
    mechanical   BOOLEAN NOT NULL,      -- the two measure the same answers in nearly the same way
    permutations BIGINT,
    note         VARCHAR
);

-- The same model at two temperatures: do effects differ, does inconsistency?
CREATE TABLE temperature_tests (
    collection   VARCHAR NOT NULL,
    coding       VARCHAR NOT NULL,
    model        VARCHAR NOT NULL,
    temperature  DOUBLE NOT NULL,       -- the lower
    other        DOUBLE NOT NULL,       -- the higher
    label        VARCHAR NOT NULL,      -- '' for the test over all of them
    value        VARCHAR NOT NULL,
    measure      VARCHAR NOT NULL,      -- effect, inconsistency
    at_lower     DOUBLE,
    at_higher    DOUBLE,
    difference   DOUBLE,
    p            DOUBLE,                -- sign flips of documents, common to all values
    documents    BIGINT NOT NULL,
    draws        BIGINT,
    note         VARCHAR
);

-- One attribute of models at a time against one metric.
CREATE TABLE attribute_tests (
    collection   VARCHAR NOT NULL,
    coding       VARCHAR NOT NULL,
    attribute    VARCHAR NOT NULL,
    metric       VARCHAR NOT NULL,
    kind         VARCHAR NOT NULL,      -- number, date, category
    models       BIGINT NOT NULL,
    rho          DOUBLE,                -- Spearman; of a category: the share of rank variance between its levels
    p            DOUBLE,                -- permutation
    permutations BIGINT,
    note         VARCHAR
);

-- Significant values of all models together, primary variant, and the Bernoulli test of their number.
CREATE TABLE counts_over_models (
    collection  VARCHAR NOT NULL,
    coding      VARCHAR NOT NULL,
    threshold   DOUBLE NOT NULL,
    models      BIGINT NOT NULL,
    significant BIGINT NOT NULL,
    trials      BIGINT NOT NULL,        -- values actually estimated
    bernoulli_p DOUBLE NOT NULL
);
