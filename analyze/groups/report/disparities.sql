-- The disparities that are told: by the collection's own rule, a row without an answer counted as wrong, over all seeds.
SELECT
    d.collection, d.coding, d.arm, d.outcome, d.model, d.attribute, d.n_groups, d.mean_score, d.gd, d.worst_group,
    d.worst_score, w.ci_low AS worst_low, w.ci_high AS worst_high, d.worst_corrected, d.gd_floor, d.gd_floor_95,
    d.gd_excess, d.detectable_gd, d.gd_reweighted, d.p_plain, d.p_within_label, d.p_worst, d.p_worst_within_label,
    d.share_fixed, d.draws
FROM group_disparities AS d
LEFT JOIN group_scores AS w
    ON w.collection = d.collection AND w.coding = d.coding AND w.arm = d.arm AND w.outcome = d.outcome
    AND w.model = d.model AND w.seed IS NULL AND d.seed IS NULL AND w.attribute = d.attribute
    AND w.group_name = d.worst_group AND w.variant = d.variant AND w.rule = d.rule
WHERE d.seed IS NULL AND d.variant = 'all' AND d.is_default
ORDER BY d.rowid
