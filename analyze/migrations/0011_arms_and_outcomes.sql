-- Results are of an arm (a wording of the instructions, `queries.arm`) and of an outcome (a name of the domain's). Every key
-- begins with (collection, model_key, coding, arm, outcome), where there is no model with (collection, coding, arm,
-- outcome). Earlier results are of the base arm, and of the one outcome that there was; what that is called, the domain
-- knows: here it gets the name that specifications without one have, and a domain's own migration renames it. New rows
-- must name theirs.

ALTER TABLE findings RENAME COLUMN outcome TO measure;  -- what is compared: amount, missing, declined, kind

ALTER TABLE estimates ADD COLUMN arm VARCHAR DEFAULT 'base';
ALTER TABLE estimates ALTER COLUMN arm SET NOT NULL;
ALTER TABLE estimates ADD COLUMN outcome VARCHAR DEFAULT 'outcome';
ALTER TABLE estimates ALTER COLUMN outcome SET NOT NULL;
ALTER TABLE estimates ALTER COLUMN outcome DROP DEFAULT;
ALTER TABLE label_metrics ADD COLUMN arm VARCHAR DEFAULT 'base';
ALTER TABLE label_metrics ALTER COLUMN arm SET NOT NULL;
ALTER TABLE label_metrics ADD COLUMN outcome VARCHAR DEFAULT 'outcome';
ALTER TABLE label_metrics ALTER COLUMN outcome SET NOT NULL;
ALTER TABLE label_metrics ALTER COLUMN outcome DROP DEFAULT;
ALTER TABLE model_metrics ADD COLUMN arm VARCHAR DEFAULT 'base';
ALTER TABLE model_metrics ALTER COLUMN arm SET NOT NULL;
ALTER TABLE model_metrics ADD COLUMN outcome VARCHAR DEFAULT 'outcome';
ALTER TABLE model_metrics ALTER COLUMN outcome SET NOT NULL;
ALTER TABLE model_metrics ALTER COLUMN outcome DROP DEFAULT;
ALTER TABLE comparison_values ADD COLUMN arm VARCHAR DEFAULT 'base';
ALTER TABLE comparison_values ALTER COLUMN arm SET NOT NULL;
ALTER TABLE comparison_values ADD COLUMN outcome VARCHAR DEFAULT 'outcome';
ALTER TABLE comparison_values ALTER COLUMN outcome SET NOT NULL;
ALTER TABLE comparison_values ALTER COLUMN outcome DROP DEFAULT;
ALTER TABLE comparison_labels ADD COLUMN arm VARCHAR DEFAULT 'base';
ALTER TABLE comparison_labels ALTER COLUMN arm SET NOT NULL;
ALTER TABLE comparison_labels ADD COLUMN outcome VARCHAR DEFAULT 'outcome';
ALTER TABLE comparison_labels ALTER COLUMN outcome SET NOT NULL;
ALTER TABLE comparison_labels ALTER COLUMN outcome DROP DEFAULT;
ALTER TABLE comparison_metrics ADD COLUMN arm VARCHAR DEFAULT 'base';
ALTER TABLE comparison_metrics ALTER COLUMN arm SET NOT NULL;
ALTER TABLE comparison_metrics ADD COLUMN outcome VARCHAR DEFAULT 'outcome';
ALTER TABLE comparison_metrics ALTER COLUMN outcome SET NOT NULL;
ALTER TABLE comparison_metrics ALTER COLUMN outcome DROP DEFAULT;
ALTER TABLE comparison_unmatched ADD COLUMN arm VARCHAR DEFAULT 'base';
ALTER TABLE comparison_unmatched ALTER COLUMN arm SET NOT NULL;
ALTER TABLE comparison_unmatched ADD COLUMN outcome VARCHAR DEFAULT 'outcome';
ALTER TABLE comparison_unmatched ALTER COLUMN outcome SET NOT NULL;
ALTER TABLE comparison_unmatched ALTER COLUMN outcome DROP DEFAULT;
ALTER TABLE value_tests ADD COLUMN arm VARCHAR DEFAULT 'base';
ALTER TABLE value_tests ALTER COLUMN arm SET NOT NULL;
ALTER TABLE value_tests ADD COLUMN outcome VARCHAR DEFAULT 'outcome';
ALTER TABLE value_tests ALTER COLUMN outcome SET NOT NULL;
ALTER TABLE value_tests ALTER COLUMN outcome DROP DEFAULT;
ALTER TABLE label_tests ADD COLUMN arm VARCHAR DEFAULT 'base';
ALTER TABLE label_tests ALTER COLUMN arm SET NOT NULL;
ALTER TABLE label_tests ADD COLUMN outcome VARCHAR DEFAULT 'outcome';
ALTER TABLE label_tests ALTER COLUMN outcome SET NOT NULL;
ALTER TABLE label_tests ALTER COLUMN outcome DROP DEFAULT;
ALTER TABLE global_tests ADD COLUMN arm VARCHAR DEFAULT 'base';
ALTER TABLE global_tests ALTER COLUMN arm SET NOT NULL;
ALTER TABLE global_tests ADD COLUMN outcome VARCHAR DEFAULT 'outcome';
ALTER TABLE global_tests ALTER COLUMN outcome SET NOT NULL;
ALTER TABLE global_tests ALTER COLUMN outcome DROP DEFAULT;
ALTER TABLE kind_switches ADD COLUMN arm VARCHAR DEFAULT 'base';
ALTER TABLE kind_switches ALTER COLUMN arm SET NOT NULL;
ALTER TABLE kind_switches ADD COLUMN outcome VARCHAR DEFAULT 'outcome';
ALTER TABLE kind_switches ALTER COLUMN outcome SET NOT NULL;
ALTER TABLE kind_switches ALTER COLUMN outcome DROP DEFAULT;
ALTER TABLE inconsistency_tests ADD COLUMN arm VARCHAR DEFAULT 'base';
ALTER TABLE inconsistency_tests ALTER COLUMN arm SET NOT NULL;
ALTER TABLE inconsistency_tests ADD COLUMN outcome VARCHAR DEFAULT 'outcome';
ALTER TABLE inconsistency_tests ALTER COLUMN outcome SET NOT NULL;
ALTER TABLE inconsistency_tests ALTER COLUMN outcome DROP DEFAULT;
ALTER TABLE imbalance_tests ADD COLUMN arm VARCHAR DEFAULT 'base';
ALTER TABLE imbalance_tests ALTER COLUMN arm SET NOT NULL;
ALTER TABLE imbalance_tests ADD COLUMN outcome VARCHAR DEFAULT 'outcome';
ALTER TABLE imbalance_tests ALTER COLUMN outcome SET NOT NULL;
ALTER TABLE imbalance_tests ALTER COLUMN outcome DROP DEFAULT;
ALTER TABLE missing_tests ADD COLUMN arm VARCHAR DEFAULT 'base';
ALTER TABLE missing_tests ALTER COLUMN arm SET NOT NULL;
ALTER TABLE missing_tests ADD COLUMN outcome VARCHAR DEFAULT 'outcome';
ALTER TABLE missing_tests ALTER COLUMN outcome SET NOT NULL;
ALTER TABLE missing_tests ALTER COLUMN outcome DROP DEFAULT;
ALTER TABLE structure_tests ADD COLUMN arm VARCHAR DEFAULT 'base';
ALTER TABLE structure_tests ALTER COLUMN arm SET NOT NULL;
ALTER TABLE structure_tests ADD COLUMN outcome VARCHAR DEFAULT 'outcome';
ALTER TABLE structure_tests ALTER COLUMN outcome SET NOT NULL;
ALTER TABLE structure_tests ALTER COLUMN outcome DROP DEFAULT;
ALTER TABLE metric_correlations ADD COLUMN arm VARCHAR DEFAULT 'base';
ALTER TABLE metric_correlations ALTER COLUMN arm SET NOT NULL;
ALTER TABLE metric_correlations ADD COLUMN outcome VARCHAR DEFAULT 'outcome';
ALTER TABLE metric_correlations ALTER COLUMN outcome SET NOT NULL;
ALTER TABLE metric_correlations ALTER COLUMN outcome DROP DEFAULT;
ALTER TABLE temperature_tests ADD COLUMN arm VARCHAR DEFAULT 'base';
ALTER TABLE temperature_tests ALTER COLUMN arm SET NOT NULL;
ALTER TABLE temperature_tests ADD COLUMN outcome VARCHAR DEFAULT 'outcome';
ALTER TABLE temperature_tests ALTER COLUMN outcome SET NOT NULL;
ALTER TABLE temperature_tests ALTER COLUMN outcome DROP DEFAULT;
ALTER TABLE attribute_tests ADD COLUMN arm VARCHAR DEFAULT 'base';
ALTER TABLE attribute_tests ALTER COLUMN arm SET NOT NULL;
ALTER TABLE attribute_tests ADD COLUMN outcome VARCHAR DEFAULT 'outcome';
ALTER TABLE attribute_tests ALTER COLUMN outcome SET NOT NULL;
ALTER TABLE attribute_tests ALTER COLUMN outcome DROP DEFAULT;
ALTER TABLE counts_over_models ADD COLUMN arm VARCHAR DEFAULT 'base';
ALTER TABLE counts_over_models ALTER COLUMN arm SET NOT NULL;
ALTER TABLE counts_over_models ADD COLUMN outcome VARCHAR DEFAULT 'outcome';
ALTER TABLE counts_over_models ALTER COLUMN outcome SET NOT NULL;
ALTER TABLE counts_over_models ALTER COLUMN outcome DROP DEFAULT;
ALTER TABLE model_attributes ADD COLUMN arm VARCHAR DEFAULT 'base';
ALTER TABLE model_attributes ALTER COLUMN arm SET NOT NULL;
ALTER TABLE model_attributes ADD COLUMN outcome VARCHAR DEFAULT 'outcome';
ALTER TABLE model_attributes ALTER COLUMN outcome SET NOT NULL;
ALTER TABLE model_attributes ALTER COLUMN outcome DROP DEFAULT;
ALTER TABLE noise_floors ADD COLUMN arm VARCHAR DEFAULT 'base';
ALTER TABLE noise_floors ALTER COLUMN arm SET NOT NULL;
ALTER TABLE noise_floors ADD COLUMN outcome VARCHAR DEFAULT 'outcome';
ALTER TABLE noise_floors ALTER COLUMN outcome SET NOT NULL;
ALTER TABLE noise_floors ALTER COLUMN outcome DROP DEFAULT;
ALTER TABLE analyses ADD COLUMN arm VARCHAR DEFAULT 'base';
ALTER TABLE analyses ALTER COLUMN arm SET NOT NULL;
ALTER TABLE analyses ADD COLUMN outcome VARCHAR DEFAULT 'outcome';
ALTER TABLE analyses ALTER COLUMN outcome SET NOT NULL;
ALTER TABLE analyses ALTER COLUMN outcome DROP DEFAULT;
ALTER TABLE findings ADD COLUMN arm VARCHAR DEFAULT 'base';
ALTER TABLE findings ALTER COLUMN arm SET NOT NULL;
ALTER TABLE findings ADD COLUMN outcome VARCHAR DEFAULT 'outcome';
ALTER TABLE findings ALTER COLUMN outcome SET NOT NULL;
ALTER TABLE findings ALTER COLUMN outcome DROP DEFAULT;
ALTER TABLE shared_effects ADD COLUMN arm VARCHAR DEFAULT 'base';
ALTER TABLE shared_effects ALTER COLUMN arm SET NOT NULL;
ALTER TABLE shared_effects ADD COLUMN outcome VARCHAR DEFAULT 'outcome';
ALTER TABLE shared_effects ALTER COLUMN outcome SET NOT NULL;
ALTER TABLE shared_effects ALTER COLUMN outcome DROP DEFAULT;

-- Share of labels biased by model, in one place for rankings: of those estimated, of those in the design.
CREATE OR REPLACE VIEW bias_ranking AS
WITH designed AS (
    SELECT collection, model_key, coding, arm, outcome, "group", any_value(n) AS designed
    FROM model_metrics
    WHERE metric = 'labels_asked'
    GROUP BY collection, model_key, coding, arm, outcome, "group"
)
SELECT
    m.collection, m.coding, m.arm, m.outcome, m.model, m.temperature, m.model_key, m.threshold, m."group",
    CAST(m.value AS BIGINT) AS biased, m.n AS estimated, d.designed,
    m.value / nullif(m.n, 0) AS share,
    rank() OVER (
        PARTITION BY m.collection, m.coding, m.arm, m.outcome, m.threshold, m."group"
        ORDER BY m.value / nullif(m.n, 0) DESC NULLS LAST
    ) AS "rank"
FROM model_metrics AS m
LEFT JOIN designed AS d USING (collection, model_key, coding, arm, outcome, "group")
WHERE m.metric = 'biased_labels';

-- One row for each model: the metrics of the paper's summary table.
CREATE OR REPLACE VIEW metric_summary AS
SELECT
    collection, coding, arm, outcome, model, temperature, model_key,
    max(value) FILTER (metric = 'inconsistency_weighted') AS inconsistency,
    max(value) FILTER (metric = 'inconsistency_weighted_printed') AS inconsistency_as_printed,
    max(value) FILTER (metric = 'inconsistency_pairwise') AS inconsistency_pairwise,
    max(value) FILTER (metric = 'biased_labels' AND threshold = 0.1 AND "group" = 'all') AS biased_10,
    max(value) FILTER (metric = 'biased_labels' AND threshold = 0.05 AND "group" = 'all') AS biased_05,
    max(n) FILTER (metric = 'biased_labels' AND threshold = 0.05 AND "group" = 'all') AS labels_estimated,
    max(value) FILTER (metric = 'mae_weighted') AS mae,
    max(value) FILTER (metric = 'mape_weighted') AS mape,
    max(value) FILTER (metric = 'imbalanced_labels' AND threshold = 0.1 AND "group" = 'all') AS imbalanced_10,
    max(value) FILTER (metric = 'imbalanced_labels' AND threshold = 0.05 AND "group" = 'all') AS imbalanced_05
FROM model_metrics
GROUP BY collection, coding, arm, outcome, model, temperature, model_key;

-- In how many of the models that could be estimated each label is biased.
CREATE OR REPLACE VIEW label_agreement AS
SELECT
    collection, coding, arm, outcome, label, "group",
    count(*) FILTER (smallest_p IS NOT NULL) AS models_estimated,
    count(*) FILTER (biased_10) AS biased_10,
    count(*) FILTER (biased_05) AS biased_05,
    count(*) FILTER (biased_01) AS biased_01
FROM label_metrics
GROUP BY collection, coding, arm, outcome, label, "group";

-- In which direction each value moves, and how far the models agree: the larger share of one sign.
CREATE OR REPLACE VIEW value_agreement AS
SELECT
    collection, coding, arm, outcome, variant, label, value,
    count(*) FILTER (p IS NOT NULL) AS models_estimated,
    count(*) FILTER (p IS NOT NULL AND coef > 0) AS up,
    count(*) FILTER (p IS NOT NULL AND coef < 0) AS down,
    count(*) FILTER (p < 0.05 AND coef > 0) AS significantly_up,
    count(*) FILTER (p < 0.05 AND coef < 0) AS significantly_down,
    greatest(up, down) / nullif(models_estimated, 0) AS agreement
FROM estimates
GROUP BY collection, coding, arm, outcome, variant, label, value;
