-- What the engines need not know: the labels, the true judgments, and what an answer was read as.

CREATE TABLE labels (
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

CREATE TABLE label_values (
    label        VARCHAR NOT NULL,
    value        VARCHAR NOT NULL,      -- Chinese, as in the prompt and the files
    value_en     VARCHAR NOT NULL,
    is_reference BOOLEAN NOT NULL,
    is_treated   BOOLEAN NOT NULL,
    position     INTEGER NOT NULL,
    PRIMARY KEY (label, value)
);

CREATE TABLE truths (
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
CREATE TABLE truth_exceptions (
    prediction_id UUID NOT NULL,        -- the row of the file that says so
    penalty_text  VARCHAR,
    months        DOUBLE                -- null where the file has no truth there
);

-- Rebuilt at will from `predictions`. Key (prediction_id, coding), kept by the code that writes it.
CREATE TABLE verdicts (
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
    full_months   DOUBLE                -- published: the full outcome, death and life included
);
