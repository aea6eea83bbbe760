-- The labels of a coding, with their names.
SELECT label, CAST({groups} AS VARCHAR), treatment, {name_en}, {name_zh}
FROM {designs}
WHERE coding = ?
ORDER BY position, label
