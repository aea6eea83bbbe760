-- English names beside the Chinese ones, for questions in SQL: SELECT label_en(label), value_en(label, value) FROM answers.
-- What has no English name keeps its own.
CREATE MACRO label_en(asked_label) AS coalesce(
    (SELECT any_value(name_en) FROM labels WHERE label = replace(asked_label, 'placebo:', '')), asked_label
);
CREATE MACRO value_en(asked_label, asked_value) AS coalesce(
    (
        SELECT any_value(value_en)
        FROM label_values
        WHERE label = replace(asked_label, 'placebo:', '') AND value = asked_value
    ),
    asked_value
);

-- What the labels are called and which values they have, to be joined by label and value.
CREATE VIEW label_names AS
SELECT
    labels.label, labels.name_en AS label_en, labels.name_zh AS label_zh, label_values.value, label_values.value_en,
    label_values.is_reference, labels.dimension, labels.demographic, labels.role
FROM labels
JOIN label_values USING (label)
ORDER BY labels.position, label_values.position;
