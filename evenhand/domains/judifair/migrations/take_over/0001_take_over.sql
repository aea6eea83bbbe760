-- A study from before the schema has all of it beside the store's tables, some of it under a name with a prefix.

DROP VIEW IF EXISTS label_names;
DROP VIEW IF EXISTS answers;
DROP VIEW IF EXISTS judifair_placebos;
DROP VIEW IF EXISTS judifair_frame;
DROP VIEW IF EXISTS judifair_corrected;
DROP VIEW IF EXISTS judifair_published;
DROP VIEW IF EXISTS judifair_rows;
DROP MACRO label_en;
DROP MACRO value_en;

INSERT INTO judifair.labels FROM main.labels;
DROP TABLE main.labels;

INSERT INTO judifair.label_values FROM main.label_values;
DROP TABLE main.label_values;

INSERT INTO judifair.truths FROM main.truths;
DROP TABLE main.truths;

INSERT INTO judifair.truth_exceptions FROM main.truth_exceptions;
DROP TABLE main.truth_exceptions;

INSERT INTO judifair.verdicts BY NAME FROM main.verdicts;
DROP TABLE main.verdicts;

INSERT INTO judifair.coding_versions FROM main.coding_versions;
DROP TABLE main.coding_versions;

INSERT INTO judifair.designs BY NAME FROM main.judifair_designs;
DROP TABLE main.judifair_designs;

INSERT INTO judifair.design_values BY NAME FROM main.judifair_design_values;
DROP TABLE main.judifair_design_values;

INSERT INTO judifair.value_names FROM main.judifair_value_names;
DROP TABLE main.judifair_value_names;

INSERT INTO judifair.imported_files FROM main.imported_files;
DROP TABLE main.imported_files;

-- Until then a study had this domain alone.
UPDATE collections SET domain = 'judifair' WHERE domain IS NULL;
