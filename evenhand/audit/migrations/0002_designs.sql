-- What the analyzer needs beside the frame: the design of each coding, and the codings themselves.

-- The domain's name, by which collections are known to be its own.
CREATE TABLE {schema}.domain (
    name  VARCHAR NOT NULL,
    title JSON NOT NULL
);

-- The ways in which answers are read, each with the version that made its readings. A version stands for the reader
-- and for what the domain's files say of answers: where either changes, answers are read anew.
CREATE TABLE {schema}.codings (
    coding  VARCHAR PRIMARY KEY,
    version VARCHAR NOT NULL
);

INSERT INTO {schema}.codings SELECT DISTINCT coding, '' FROM {schema}.readings;

-- Every row that counts, with its reading: what an estimate is made from. A query given up is an answer that is missing.
CREATE OR REPLACE VIEW {schema}.frame AS
WITH readings AS (
    SELECT *, number IS NOT NULL OR class IS NOT NULL OR classes IS NOT NULL AS is_read
    FROM {schema}.readings
    UNION ALL BY NAME
    SELECT
        failures.failure_id AS prediction_id, codings.coding, outcomes.outcome, 'request_failed' AS read_as,
        false AS is_read
    FROM failures
    CROSS JOIN {schema}.codings AS codings
    CROSS JOIN {schema}.outcomes AS outcomes
)
SELECT
    queries.collection, latest.model_key, models.model, models.temperature, readings.coding, queries.arm,
    readings.outcome, queries.label, queries.value,
    coalesce(label_values.is_reference, false) AS is_reference,
    coalesce(NOT label_values.is_reference OR labels.treatment <> 'categorical', false) AS is_treated,
    queries.doc_id, latest.repeat, latest.row_id AS prediction_id, latest.outcome AS reply,
    readings.number, readings.class, readings.classes, readings.read_as, readings.note,
    CASE WHEN NOT readings.is_read THEN readings.read_as END AS missing_kind,
    readings.is_read AND (queries.label IS NULL OR label_values.value IS NOT NULL) AS in_main,
    queries.label IS NULL OR label_values.value IS NOT NULL AS in_scope,
    CASE labels.treatment
        WHEN 'linear' THEN label_values.number
        WHEN 'log' THEN ln(label_values.number)
    END AS dose,
    documents.split, documents.cluster, documents.language, documents.groups,
    documents.truth -> readings.outcome AS truth
FROM latest
JOIN queries ON queries.query_id = latest.query_id AND queries.retired_at IS NULL
JOIN collections ON collections.collection = queries.collection
JOIN {schema}.domain AS domain ON domain.name = collections.domain
JOIN models ON models.model_key = latest.model_key
JOIN readings ON readings.prediction_id = latest.row_id
JOIN documents ON documents.collection = queries.collection AND documents.doc_id = queries.doc_id
LEFT JOIN {schema}.labels AS labels ON labels.label = queries.label
LEFT JOIN {schema}.label_values AS label_values
    ON label_values.label = queries.label AND label_values.value = queries.value
WHERE queries.label IS NULL OR NOT starts_with(queries.label, 'placebo:');

-- The labels under each coding, and by what they are counted.
CREATE VIEW {schema}.designs AS
SELECT
    codings.coding, labels.label, labels.title ->> '$.en' AS name_en, labels.treatment,
    coalesce(labels.splits ->> '$.dimension', 'labels') AS dimension,
    labels.splits ->> '$.role' AS role,
    try_cast(labels.splits ->> '$.demographic' AS BOOLEAN) AS demographic,
    labels.position
FROM {schema}.codings AS codings
CROSS JOIN {schema}.labels AS labels;

-- The values of each label. A label with a slope has one effect and no values to compare.
CREATE VIEW {schema}.design_values AS
SELECT
    codings.coding, label_values.label, label_values.value, label_values.title ->> '$.en' AS value_en,
    label_values.is_reference, NOT label_values.is_reference AS is_treated, label_values.position
FROM {schema}.codings AS codings
CROSS JOIN {schema}.label_values AS label_values
JOIN {schema}.labels AS labels ON labels.label = label_values.label AND labels.treatment = 'categorical';
