-- What labels and values are called, and what is known to be wrong with them under the coding that is compared.
SELECT
    d.label, {label_names} AS label_names, {label_row} AS label_row, {note} AS note,
    v.value, {value_names} AS value_names, {value_row} AS value_row, v.is_reference
FROM {designs} AS d
LEFT JOIN {values} AS v ON v.coding = d.coding AND v.label = d.label
WHERE d.coding = $before
ORDER BY d.position, v.position
