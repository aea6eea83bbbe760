-- The values of a coding's labels, with their names.
SELECT label, value, {value_en}, is_reference, is_treated
FROM {values}
WHERE coding = ?
ORDER BY label, position, value
