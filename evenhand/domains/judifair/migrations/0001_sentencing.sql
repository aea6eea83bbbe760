-- What the engines need not know: the labels, the true judgments, and what an answer was read as. A domain has a schema of
-- its own, so that several live in one study.

CREATE SCHEMA judifair;

CREATE TABLE judifair.labels (
    label       VARCHAR PRIMARY KEY,    -- ours: prosecutor_sex
    published   VARCHAR NOT NULL,       -- the published key: prosecurate_sex
    name_zh     VARCHAR NOT NULL,
    name_en     VARCHAR NOT NULL,
    dimension   VARCHAR NOT NULL,       -- substantive, procedural
    demographic BOOLEAN NOT NULL,
    role        VARCHAR NOT NULL,       -- defendant, victim, crime, defender, prosecutor, judge, court
    treatment   VARCHAR NOT NULL,       -- categorical, log_age
    position    INTEGER NOT NULL
);

CREATE TABLE judifair.label_values (
    label        VARCHAR NOT NULL,
    value        VARCHAR NOT NULL,      -- Chinese, as in the prompt and the files
    value_en     VARCHAR NOT NULL,
    is_reference BOOLEAN NOT NULL,
    is_treated   BOOLEAN NOT NULL,
    position     INTEGER NOT NULL,
    PRIMARY KEY (label, value)
);

CREATE TABLE judifair.truths (
    collection   VARCHAR NOT NULL,
    doc_id       VARCHAR NOT NULL,
    case_number  VARCHAR,
    year         INTEGER,               -- of the case number
    charge       VARCHAR,               -- first charge
    guilty       BOOLEAN,
    penalty      VARCHAR,               -- fixed_term, detention, ...; null where unknown
    penalty_text VARCHAR,               -- as its source has it
    months       DOUBLE,                -- as its source has it
    PRIMARY KEY (collection, doc_id)
);

-- Where a published file gives another truth for a document than `truths` has, or none ("Error occured").
CREATE TABLE judifair.truth_exceptions (
    prediction_id UUID NOT NULL,        -- the row of the file that says so
    penalty_text  VARCHAR,
    months        DOUBLE                -- null where the file has no truth there
);

-- Rebuilt at will from `predictions`. Key (prediction_id, coding), kept by the code that writes it.
CREATE TABLE judifair.verdicts (
    prediction_id UUID NOT NULL,
    coding        VARCHAR NOT NULL,     -- published, corrected
    charge        VARCHAR,
    guilty        BOOLEAN,
    penalty       VARCHAR,              -- fixed_term, detention, ...
    months        DOUBLE,               -- published: the term as their scripts take it; corrected: month-equivalents
    severity      INTEGER,              -- corrected: rank 0 (no penalty) to 7 (death); null where it cannot be ranked
    read_as       VARCHAR NOT NULL,     -- exact, repaired, prose, ..., request_failed, empty
    note          VARCHAR,
    penalty_text  VARCHAR,              -- published: the penalty as their scripts match it
    full_months   DOUBLE,               -- published: the full outcome, death and life included
    missing       VARCHAR               -- corrected: why it has no reading: range, cut_off, ...
);

-- A coding without a row here has version 1. Verdicts of another version than the program's are made anew.
CREATE TABLE judifair.coding_versions (
    coding  VARCHAR PRIMARY KEY,
    version INTEGER NOT NULL
);

-- The design of each coding: its labels, its values, and the names that they go by.
CREATE TABLE judifair.designs (
    coding         VARCHAR NOT NULL,
    label          VARCHAR NOT NULL,     -- ours
    published      VARCHAR NOT NULL,     -- the key of the published files
    name_zh        VARCHAR NOT NULL,
    name_en        VARCHAR NOT NULL,
    dimension      VARCHAR NOT NULL,
    demographic    BOOLEAN NOT NULL,
    role           VARCHAR NOT NULL,
    treatment      VARCHAR NOT NULL,     -- categorical, log_age
    position       INTEGER NOT NULL,
    reference      VARCHAR,              -- null for log_age
    age_min        INTEGER,
    age_max        INTEGER,
    exclude_crimes VARCHAR[] NOT NULL,
    note           VARCHAR,              -- what the published scripts get wrong here
    printed        VARCHAR,              -- what the published tables call a label with a single coefficient
    PRIMARY KEY (coding, label)
);

CREATE TABLE judifair.design_values (
    coding       VARCHAR NOT NULL,
    label        VARCHAR NOT NULL,
    value        VARCHAR NOT NULL,       -- the name that results go by under this coding
    value_en     VARCHAR NOT NULL,
    is_reference BOOLEAN NOT NULL,
    is_treated   BOOLEAN NOT NULL,
    position     INTEGER NOT NULL,
    note         VARCHAR,
    printed      VARCHAR,                -- the row of the published tables: "Defendant Female"
    PRIMARY KEY (coding, label, value)
);

-- Which value of the data goes by which name. The two differ only where the published scripts mix them up.
CREATE TABLE judifair.value_names (
    coding     VARCHAR NOT NULL,
    label      VARCHAR NOT NULL,
    data_value VARCHAR NOT NULL,
    value      VARCHAR NOT NULL,
    PRIMARY KEY (coding, label, data_value)
);

-- What each imported file says of the true judgments, so that one saved again with corrected truths is known by it.
CREATE TABLE judifair.imported_files (
    source_hash VARCHAR PRIMARY KEY,    -- of its documents, labels, values and answers, as in `predictions`
    truths_hash VARCHAR NOT NULL
);

-- The label that an imported file is named after, where `queries.label` is what its values are.
CREATE TABLE judifair.file_labels (
    source_hash     VARCHAR PRIMARY KEY,
    published_label VARCHAR NOT NULL
);
-- A study from before this schema has them beside the store's tables.
INSERT INTO judifair.file_labels FROM main.published_labels;
DROP TABLE main.published_labels;
