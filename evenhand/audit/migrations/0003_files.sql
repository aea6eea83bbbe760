-- The files of the domain's folder but for its cases, so that a study can be analyzed where the folder is not.
CREATE TABLE {schema}.files (
    name VARCHAR PRIMARY KEY,
    text VARCHAR NOT NULL
);
