-- Values that the label does not have (and labels that are not in the catalogue): stored, and not estimated.
SELECT
    checked.collection, model, temperature, checked.label, checked.value,
    count(*) AS n, NULL AS of, NULL AS p,
    CASE WHEN any_value(treatment) IS NULL THEN 'no label of the catalogue' ELSE 'no value of the label' END AS note,
    list('document ' || doc_id ORDER BY try_cast(doc_id AS BIGINT), doc_id)[:3] AS examples
FROM checked
LEFT JOIN judifair.design_values AS known
    ON known.coding = 'corrected' AND known.label = checked.label AND known.value = checked.value
WHERE (treatment IS NULL AND NOT starts_with(checked.label, 'placebo:'))
   OR (treatment = 'categorical' AND known.value IS NULL)
   OR (treatment = 'log_age' AND coalesce(try_cast(checked.value AS DOUBLE), 0) <= 0)
GROUP BY checked.collection, model, temperature, checked.label, checked.value
ORDER BY ALL
