-- Results from before outcomes had names are of the sentence. This comes after the migrations of the analyzer, which give
-- them a name that is no domain's.
UPDATE estimates SET outcome = 'sentence' WHERE outcome = 'outcome';
UPDATE label_metrics SET outcome = 'sentence' WHERE outcome = 'outcome';
UPDATE model_metrics SET outcome = 'sentence' WHERE outcome = 'outcome';
UPDATE comparison_values SET outcome = 'sentence' WHERE outcome = 'outcome';
UPDATE comparison_labels SET outcome = 'sentence' WHERE outcome = 'outcome';
UPDATE comparison_metrics SET outcome = 'sentence' WHERE outcome = 'outcome';
UPDATE comparison_unmatched SET outcome = 'sentence' WHERE outcome = 'outcome';
UPDATE value_tests SET outcome = 'sentence' WHERE outcome = 'outcome';
UPDATE label_tests SET outcome = 'sentence' WHERE outcome = 'outcome';
UPDATE global_tests SET outcome = 'sentence' WHERE outcome = 'outcome';
UPDATE kind_switches SET outcome = 'sentence' WHERE outcome = 'outcome';
UPDATE inconsistency_tests SET outcome = 'sentence' WHERE outcome = 'outcome';
UPDATE imbalance_tests SET outcome = 'sentence' WHERE outcome = 'outcome';
UPDATE missing_tests SET outcome = 'sentence' WHERE outcome = 'outcome';
UPDATE structure_tests SET outcome = 'sentence' WHERE outcome = 'outcome';
UPDATE metric_correlations SET outcome = 'sentence' WHERE outcome = 'outcome';
UPDATE temperature_tests SET outcome = 'sentence' WHERE outcome = 'outcome';
UPDATE attribute_tests SET outcome = 'sentence' WHERE outcome = 'outcome';
UPDATE counts_over_models SET outcome = 'sentence' WHERE outcome = 'outcome';
UPDATE model_attributes SET outcome = 'sentence' WHERE outcome = 'outcome';
UPDATE noise_floors SET outcome = 'sentence' WHERE outcome = 'outcome';
UPDATE analyses SET outcome = 'sentence' WHERE outcome = 'outcome';
UPDATE findings SET outcome = 'sentence' WHERE outcome = 'outcome';
UPDATE shared_effects SET outcome = 'sentence' WHERE outcome = 'outcome';
