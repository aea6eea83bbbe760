-- The design of each coding: its labels, its values, and the names that they go by. Written from the catalogue by
-- `evenhand.domains.judifair.coding.designs`.

CREATE TABLE judifair_designs (
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
    PRIMARY KEY (coding, label)
);

CREATE TABLE judifair_design_values (
    coding       VARCHAR NOT NULL,
    label        VARCHAR NOT NULL,
    value        VARCHAR NOT NULL,       -- the name that results go by under this coding
    value_en     VARCHAR NOT NULL,
    is_reference BOOLEAN NOT NULL,
    is_treated   BOOLEAN NOT NULL,
    position     INTEGER NOT NULL,
    note         VARCHAR,
    PRIMARY KEY (coding, label, value)
);

-- Which value of the data goes by which name. The two differ only where the published scripts mix them up.
CREATE TABLE judifair_value_names (
    coding     VARCHAR NOT NULL,
    label      VARCHAR NOT NULL,
    data_value VARCHAR NOT NULL,
    value      VARCHAR NOT NULL,
    PRIMARY KEY (coding, label, data_value)
);
