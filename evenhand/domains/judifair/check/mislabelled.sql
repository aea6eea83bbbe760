-- Files whose name says one label and whose values belong to another.
SELECT
    checked.collection, model, temperature, checked.label, NULL AS value,
    count(*) AS n, NULL AS of, NULL AS p,
    'the file is named ' || published_label || ', its values are those of '
        || any_value(coalesce(designs.published, checked.label)) AS note,
    list(DISTINCT checked.value)[:5] AS examples
FROM checked
LEFT JOIN judifair.designs AS designs ON designs.coding = 'corrected' AND designs.label = checked.label
WHERE published_label IS NOT NULL AND published_label <> coalesce(designs.published, checked.label)
GROUP BY checked.collection, model, temperature, checked.label, published_label
ORDER BY ALL
