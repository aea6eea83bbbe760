-- Why an answer that says something was left without a reading, and by which version of a coding its verdicts were made.

ALTER TABLE verdicts ADD COLUMN missing VARCHAR;    -- corrected: range, cut_off, ...: judifair.answers.missing

-- A coding without a row here has version 1. Verdicts of another version than the program's are made anew.
CREATE TABLE coding_versions (
    coding  VARCHAR PRIMARY KEY,
    version INTEGER NOT NULL
);

-- As before, with the new column.
CREATE OR REPLACE VIEW judifair_rows AS
WITH readings AS (
    SELECT * FROM verdicts
    UNION ALL BY NAME
    SELECT failures.failure_id AS prediction_id, codings.coding, 'request_failed' AS read_as
    FROM failures
    CROSS JOIN (SELECT DISTINCT coding FROM judifair_designs) AS codings
)
SELECT
    queries.collection, queries.doc_id, queries.label AS data_label, queries.value AS data_value,
    latest.model_key, models.model, models.temperature, latest.repeat, latest.row_id AS prediction_id,
    predictions.published_label, latest.outcome,
    readings.* EXCLUDE (prediction_id),
    truths.charge AS crime_text, nullif(trim(truths.charge), '') AS crime, truths.case_number, truths.year,
    truths.penalty AS true_penalty,
    truths.months AS stated_months,
    coalesce(truths.penalty_text, truths.penalty) IS NOT NULL AS has_truth
FROM latest
JOIN queries ON queries.query_id = latest.query_id AND queries.retired_at IS NULL
JOIN models ON models.model_key = latest.model_key
JOIN readings ON readings.prediction_id = latest.row_id
LEFT JOIN predictions
    ON predictions.prediction_id = latest.row_id AND predictions.model_key = latest.model_key
LEFT JOIN truths ON truths.collection = queries.collection AND truths.doc_id = queries.doc_id;

-- As before, but for `missing_kind`: what is not certain is missing for the reason that the reading has.
CREATE OR REPLACE VIEW judifair_corrected AS
WITH named AS (
    SELECT
        r.*, d.label, d.age_min, d.age_max, d.exclude_crimes, r.data_value AS value,
        d.treatment = 'log_age' AS by_age, v.is_reference, v.is_treated,
        -- A value that the label does not have is stored and counted, and estimates nothing.
        CASE WHEN d.treatment = 'log_age' THEN try_cast(r.data_value AS DOUBLE) > 0 ELSE v.value IS NOT NULL END
            AS has_value,
        CASE WHEN d.treatment = 'log_age' THEN try_cast(r.data_value AS DOUBLE) END AS age,
        CASE WHEN r.true_penalty = 'fixed_term' AND r.stated_months > 0 THEN r.stated_months END AS true_months
    FROM judifair_rows AS r
    JOIN judifair_designs AS d ON d.coding = 'corrected' AND d.label = r.data_label
    LEFT JOIN judifair_design_values AS v
        ON v.coding = 'corrected' AND v.label = d.label AND v.value = r.data_value
    WHERE r.coding = 'corrected'
), sampled AS (
    SELECT
        *,
        len(exclude_crimes) > 0
            AND len(list_filter(exclude_crimes, lambda c: contains(coalesce(crime, ''), c))) > 0 AS excluded,
        len(exclude_crimes) > 0
            AND len(list_filter(exclude_crimes, lambda c: contains(coalesce(charge, ''), c))) > 0
            AS predicted_excluded,
        age_min IS NULL OR coalesce(age BETWEEN age_min AND age_max, false) AS age_in_range,
        coalesce(has_value, false) AS known_value,
        months IS NOT NULL AND coalesce(has_value, false) AS usable
    FROM named
)
SELECT
    s.collection, s.model_key, s.model, s.temperature, 'corrected' AS coding, s.label, s.value,
    coalesce(s.is_reference, false) AS is_reference, s.by_age OR coalesce(s.is_treated, false) AS is_treated,
    s.doc_id, s.repeat, s.prediction_id, s.data_label, s.data_value, s.published_label,
    s.outcome, s.read_as, s.penalty, s.severity, s.charge, s.note,
    -- Ranks compare first; fixed terms compare by their months.
    s.severity + CASE WHEN s.penalty = 'fixed_term' THEN 1 - 1 / (1 + s.months) ELSE 0 END AS severity_rank,
    s.crime, s.case_number, s.year,
    s.months, ln(s.months + 1) AS log_months,
    s.months AS full_months, ln(s.months + 1) AS log_full_months,
    CASE s.penalty WHEN 'life' THEN 360 WHEN 'death_suspended' THEN 480 WHEN 'death' THEN 600 ELSE s.months END
        AS months_360_480_600,
    CASE WHEN s.penalty IN ('life', 'death_suspended', 'death') THEN 300 ELSE s.months END AS months_all_300,
    s.true_penalty, s.true_months, abs(s.true_months - s.months) AS error,
    abs(s.true_months - s.months) / s.true_months * 100 AS error_percent,
    CASE WHEN s.age > 0 THEN ln(s.age) END AS dose,
    s.excluded, s.predicted_excluded, s.age_in_range,
    coalesce(s.year >= 2014, false) AS post_2014,
    s.known_value AND NOT s.excluded AND s.age_in_range AS in_scope,
    s.usable AS in_original,
    s.usable AND s.excluded AS in_special,
    s.usable AND NOT s.excluded AND s.age_in_range AS in_main,
    s.usable AND NOT s.excluded AND s.age_in_range AS in_full,
    s.usable AND NOT s.excluded AND s.age_in_range AND s.penalty = 'fixed_term'
        AS in_fixed_term,
    s.usable AND NOT s.excluded AND s.age_in_range AS in_inconsistency,
    CASE
        WHEN s.months IS NOT NULL THEN NULL
        WHEN s.missing IS NOT NULL THEN s.missing
        WHEN s.read_as IN ('request_failed', 'refused', 'empty', 'asks_for_facts') THEN s.read_as
        WHEN s.penalty = 'unparseable' THEN 'unreadable'
        WHEN s.penalty = 'none' THEN 'no_penalty'
        ELSE 'no_number'
    END AS missing_kind
FROM sampled AS s;

CREATE OR REPLACE VIEW answers AS
SELECT
    queries.collection, queries.doc_id, queries.label, predictions.published_label, queries.value,
    predictions.repeat, models.model, models.temperature, verdicts.coding, predictions.outcome, predictions.text,
    verdicts.charge, verdicts.guilty, verdicts.penalty, verdicts.months, verdicts.severity, verdicts.read_as,
    verdicts.note, verdicts.missing, predictions.model_key, predictions.prediction_id
FROM predictions
SEMI JOIN latest ON latest.row_id = predictions.prediction_id AND latest.model_key = predictions.model_key
JOIN queries USING (query_id)
JOIN models ON models.model_key = predictions.model_key
LEFT JOIN verdicts ON verdicts.prediction_id = predictions.prediction_id;
