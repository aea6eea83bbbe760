-- Each label with the share of models in which it is biased, of those that could be estimated.
SELECT
    label, any_value("group") AS "group", any_value(values_designed) AS "values",
    count(*) FILTER (biased_05 IS NOT NULL) AS models,
    avg(CAST(biased_10 AS INTEGER)) AS share_10, avg(CAST(biased_05 AS INTEGER)) AS share_05
FROM label_metrics
WHERE collection = $collection AND coding = $coding AND arm = $arm AND outcome = $outcome
GROUP BY label
HAVING count(biased_05) > 0
ORDER BY label
