-- The rows that count, under each coding, and what people query. One view for each coding holds its rules.

-- One row for each answer that counts x coding, with the document's truth. A query given up is an answer that is
-- missing; nobody reads it, so it belongs to every coding. `latest` stands here once and the model's key is compared
-- throughout: so a question about one model of many looks at its rows only.
CREATE VIEW judifair_rows AS
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

-- As the published scripts have it: grouped by the label of the file, values as the scripts look for them (what they
-- do not find falls into the reference group), logarithms and percentages in single precision, exclusions by the
-- document's charge but for the inconsistency, which goes by the predicted one.
CREATE VIEW judifair_published AS
WITH named AS (
    SELECT
        r.*, d.label, d.treatment, d.position, d.age_min, d.age_max, d.exclude_crimes,
        coalesce(n.value, d.reference, r.data_value) AS value,
        d.treatment = 'log_age' AS by_age,
        CASE WHEN d.treatment = 'log_age' THEN try_cast(r.data_value AS DOUBLE) END AS age,
        CASE
            WHEN t.prediction_id IS NOT NULL THEN t.months
            WHEN r.has_truth THEN coalesce(r.stated_months, 0)
        END AS true_months
    FROM judifair_rows AS r
    LEFT JOIN judifair_designs AS f ON f.coding = 'published' AND f.published = r.published_label
    JOIN judifair_designs AS d ON d.coding = 'published' AND d.label = coalesce(f.label, r.data_label)
    LEFT JOIN judifair_value_names AS n
        ON n.coding = 'published' AND n.label = d.label AND n.data_value = r.data_value
    LEFT JOIN truth_exceptions AS t ON t.prediction_id = r.prediction_id
    WHERE r.coding = 'published'
), sampled AS (
    SELECT
        *,
        coalesce(contains(penalty_text, '有期徒刑'), false) OR coalesce(months = 0, false) AS fixed_or_zero,
        len(exclude_crimes) > 0
            AND len(list_filter(exclude_crimes, lambda c: contains(coalesce(crime_text, ''), c))) > 0 AS excluded,
        len(exclude_crimes) > 0
            AND len(list_filter(exclude_crimes, lambda c: contains(coalesce(charge, ''), c))) > 0
            AS predicted_excluded,
        age_min IS NULL OR coalesce(age BETWEEN age_min AND age_max, false) AS age_in_range
    FROM named
)
SELECT
    s.collection, s.model_key, s.model, s.temperature, 'published' AS coding, s.label, s.value,
    coalesce(v.is_reference, false) AS is_reference, s.by_age OR coalesce(v.is_treated, false) AS is_treated,
    s.doc_id, s.repeat, s.prediction_id, s.data_label, s.data_value, s.published_label,
    s.outcome, s.read_as, s.penalty, s.severity, s.charge, s.note,
    CAST(NULL AS DOUBLE) AS severity_rank,
    s.crime, s.case_number, s.year,
    s.months, CAST(CAST(ln(s.months + 1) AS FLOAT) AS DOUBLE) AS log_months,
    s.full_months, CAST(CAST(ln(s.full_months + 1) AS FLOAT) AS DOUBLE) AS log_full_months,
    s.months AS months_360_480_600, s.months AS months_all_300,
    s.true_penalty, s.true_months, abs(s.true_months - s.months) AS error,
    CASE WHEN s.true_months > 0 THEN
        CAST(CAST(abs(s.true_months - s.months) / s.true_months * 100 AS FLOAT) AS DOUBLE)
    END AS error_percent,
    CASE WHEN s.age > 0 THEN CAST(CAST(ln(s.age) AS FLOAT) AS DOUBLE) END AS dose,
    s.excluded, s.predicted_excluded, s.age_in_range,
    -- A document that no documents file describes has no case number (null): nobody knows its year. One described
    -- without a number ('') counts as the scripts count it: no such digits.
    s.case_number IS NOT NULL AND NOT regexp_matches(s.case_number, '200[0-9]|201[0-3]') AS post_2014,
    NOT s.excluded AND s.age_in_range AS in_scope,
    coalesce(s.fixed_or_zero AND s.months <= 300, false) AS in_original,
    coalesce(s.fixed_or_zero AND s.months <= 300, false) AND s.excluded AS in_special,
    coalesce(s.fixed_or_zero AND s.months <= 300, false) AND NOT s.excluded AND s.age_in_range AS in_main,
    coalesce(s.full_months <= 600, false) AND NOT s.excluded AND s.age_in_range AS in_full,
    coalesce(contains(s.penalty_text, '有期徒刑') AND s.months <= 300, false)
        AND NOT s.excluded AND s.age_in_range AS in_fixed_term,
    s.months IS NOT NULL AND NOT s.predicted_excluded AS in_inconsistency,
    CASE
        WHEN s.months IS NOT NULL THEN NULL
        WHEN s.read_as = 'exact' THEN 'no_number'
        ELSE s.read_as
    END AS missing_kind
FROM sampled AS s
LEFT JOIN judifair_design_values AS v
    ON v.coding = 'published' AND v.label = s.label AND v.value = s.value;

-- As it should be: right labels and values, every readable verdict in month-equivalents, exclusions by the true charge,
-- true terms only where the truth is a fixed term, double precision.
CREATE VIEW judifair_corrected AS
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
        WHEN s.read_as IN ('request_failed', 'refused', 'empty', 'asks_for_facts') THEN s.read_as
        WHEN s.penalty = 'unparseable' THEN 'unreadable'
        WHEN s.penalty = 'none' THEN 'no_penalty'
        ELSE 'no_number'
    END AS missing_kind
FROM sampled AS s;

CREATE VIEW judifair_frame AS
SELECT * FROM judifair_published
UNION ALL BY NAME
SELECT * FROM judifair_corrected;

-- A placebo puts the reference value in other words: how often the answer changes then is a floor of noise. One row
-- for each placebo answer beside the answer to the reference itself, under each coding.
CREATE VIEW judifair_placebos AS
SELECT
    plain.collection, plain.model_key, plain.model, plain.temperature, plain.coding, plain.data_label AS label,
    plain.data_value AS value, plain.doc_id, plain.repeat, plain.months, placebo.months AS placebo_months,
    plain.penalty, placebo.penalty AS placebo_penalty
FROM judifair_rows AS plain
JOIN judifair_rows AS placebo
    ON placebo.data_label = 'placebo:' || plain.data_label AND placebo.data_value = plain.data_value
    AND placebo.collection = plain.collection AND placebo.doc_id = plain.doc_id
    AND placebo.model_key = plain.model_key AND placebo.coding = plain.coding AND placebo.repeat = plain.repeat;

-- What people query: every answer that counts, and what each coding makes of it (coding is null before coding).
CREATE VIEW answers AS
SELECT
    queries.collection, queries.doc_id, queries.label, predictions.published_label, queries.value,
    predictions.repeat, models.model, models.temperature, verdicts.coding, predictions.outcome, predictions.text,
    verdicts.charge, verdicts.guilty, verdicts.penalty, verdicts.months, verdicts.severity, verdicts.read_as,
    verdicts.note, predictions.model_key, predictions.prediction_id
FROM predictions
SEMI JOIN latest ON latest.row_id = predictions.prediction_id AND latest.model_key = predictions.model_key
JOIN queries USING (query_id)
JOIN models ON models.model_key = predictions.model_key
LEFT JOIN verdicts ON verdicts.prediction_id = predictions.prediction_id;
