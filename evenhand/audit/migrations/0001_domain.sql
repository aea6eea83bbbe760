-- What a study holds of one domain, in a schema of the domain's name.

CREATE SCHEMA IF NOT EXISTS {schema};

CREATE TABLE {schema}.outcomes (
    outcome   VARCHAR PRIMARY KEY,
    kind      VARCHAR NOT NULL,       -- amount, yes_no, class, classes, ordinal, probability
    unit      VARCHAR,                -- of an amount
    title     JSON NOT NULL,          -- {"en": "..."}
    classes   VARCHAR[],              -- in order; of an ordinal outcome lowest first
    position  INTEGER NOT NULL
);

CREATE TABLE {schema}.labels (
    label     VARCHAR PRIMARY KEY,
    title     JSON NOT NULL,
    treatment VARCHAR NOT NULL,       -- categorical, linear, log
    splits    JSON NOT NULL,          -- {"dimension": "..."}: by what labels are counted
    position  INTEGER NOT NULL
);

CREATE TABLE {schema}.label_values (
    label        VARCHAR NOT NULL,
    value        VARCHAR NOT NULL,
    title        JSON NOT NULL,
    number       DOUBLE,              -- of a label with a slope
    is_reference BOOLEAN NOT NULL,
    position     INTEGER NOT NULL,
    PRIMARY KEY (label, value)
);

CREATE TABLE {schema}.attributes (
    attribute     VARCHAR NOT NULL,
    group_name    VARCHAR NOT NULL,
    is_identified BOOLEAN NOT NULL,   -- false: listed, and not compared
    position      INTEGER NOT NULL,
    PRIMARY KEY (attribute, group_name)
);

-- What each answer says of each outcome. Rebuilt at will from `predictions`. Key (prediction_id, coding, outcome).
CREATE TABLE {schema}.readings (
    prediction_id UUID NOT NULL,
    coding        VARCHAR NOT NULL,
    outcome       VARCHAR NOT NULL,
    number        DOUBLE,             -- amount, probability; yes_no as 1 and 0; ordinal as its place, from 0
    class         VARCHAR,            -- class, ordinal
    classes       VARCHAR[],          -- classes; an empty list is an answer
    read_as       VARCHAR NOT NULL,   -- how it was read, or why it is missing
    note          VARCHAR
);

-- Every row that counts, with its reading: what an estimate is made from. A query given up is an answer that is missing.
CREATE VIEW {schema}.frame AS
WITH readings AS (
    SELECT *, number IS NOT NULL OR class IS NOT NULL OR classes IS NOT NULL AS is_read
    FROM {schema}.readings
    UNION ALL BY NAME
    SELECT
        failures.failure_id AS prediction_id, codings.coding, outcomes.outcome, 'request_failed' AS read_as,
        false AS is_read
    FROM failures
    CROSS JOIN (SELECT DISTINCT coding FROM {schema}.readings) AS codings
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
JOIN models ON models.model_key = latest.model_key
JOIN readings ON readings.prediction_id = latest.row_id
JOIN documents ON documents.collection = queries.collection AND documents.doc_id = queries.doc_id
LEFT JOIN {schema}.labels AS labels ON labels.label = queries.label
LEFT JOIN {schema}.label_values AS label_values
    ON label_values.label = queries.label AND label_values.value = queries.value
WHERE queries.label IS NULL OR NOT starts_with(queries.label, 'placebo:');

-- The answers to placebos, the reference value in other words, beside the answer to the reference itself.
CREATE VIEW {schema}.placebos AS
SELECT
    plain.* EXCLUDE (is_reference, is_treated, in_main, in_scope, dose),
    readings.number AS placebo_number, readings.class AS placebo_class, readings.classes AS placebo_classes
FROM {schema}.frame AS plain
JOIN queries ON queries.collection = plain.collection AND queries.doc_id = plain.doc_id AND queries.arm = plain.arm
    AND queries.label = 'placebo:' || plain.label AND queries.value = plain.value AND queries.retired_at IS NULL
JOIN latest ON latest.query_id = queries.query_id AND latest.model_key = plain.model_key
    AND latest.repeat = plain.repeat
JOIN {schema}.readings AS readings ON readings.prediction_id = latest.row_id AND readings.coding = plain.coding
    AND readings.outcome = plain.outcome;

-- What people query: every answer that counts, with its text, and what it was read as, one row for each outcome.
CREATE VIEW {schema}.answers AS
SELECT
    frame.* EXCLUDE (is_treated, in_main, in_scope, dose), predictions.text, predictions.reasoning,
    predictions.served_by, predictions.created_at
FROM {schema}.frame AS frame
LEFT JOIN predictions
    ON predictions.prediction_id = frame.prediction_id AND predictions.model_key = frame.model_key;
