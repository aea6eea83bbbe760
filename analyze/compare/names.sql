-- What labels and values are called, and what is known to be wrong with them under the coding that is compared.
SELECT
    d.label, CAST({alias} AS VARCHAR) AS alias, v.value, CAST({value_alias} AS VARCHAR) AS value_alias,
    CAST({note} AS VARCHAR) AS note
FROM {designs} AS d
LEFT JOIN {values} AS v ON v.coding = d.coding AND v.label = d.label
WHERE d.coding = $before
