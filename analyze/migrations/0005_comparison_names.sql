-- Where the coding before gives a value's name to the answers to another, the way to the figure after begins at the
-- figure of the value's own answers: before_coef + renamed_step + dropped_step + reread_step + added_step = after_coef.
ALTER TABLE comparison_values ADD COLUMN before_name VARCHAR;   -- under `before`, the name of the answers to this value
ALTER TABLE comparison_values ADD COLUMN renamed_step DOUBLE;   -- from the figure under this value's name to theirs
