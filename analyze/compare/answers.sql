-- The answers that both codings have under the same value, with the outcomes of the coding before.
CREATE OR REPLACE TEMP VIEW {answers} AS
WITH given AS (
    SELECT prediction_id, label, value AS name, is_reference, is_treated, {columns}
    FROM {view}
    WHERE coding = {before} AND collection = {collection} AND model_key = {model_key}
        AND arm = {arm} AND outcome = {outcome}
), b AS (
    -- By the value that was asked, where the coding before gives its answers another value's name.
    SELECT given.* EXCLUDE (name), coalesce(names.value, given.name) AS value
    FROM given
    LEFT JOIN {names} AS names ON names.label = given.label AND names.name = given.name
)
SELECT a.*, {named}
FROM {view} AS a
JOIN b USING (prediction_id, label, value, is_reference, is_treated)
