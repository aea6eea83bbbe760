-- Each label of a coding with its values, in the design's order.
SELECT
    d.label,
    CAST(d.{groups} AS VARCHAR),
    CAST({demographic} AS BOOLEAN),
    CAST({role} AS VARCHAR),
    d.treatment,
    list(v.value ORDER BY v.position, v.value) FILTER (v.is_reference),
    list(v.value ORDER BY v.position, v.value) FILTER (v.is_treated)
FROM {designs} AS d
LEFT JOIN {values} AS v ON v.coding = d.coding AND v.label = d.label
WHERE d.coding = ?
GROUP BY d.label, d.{groups}, {demographic}, {role}, d.treatment, d.position
ORDER BY d.position, d.label
