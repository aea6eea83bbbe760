-- The answers of the domain that a coding has not read yet; all of them where the coding is null.
SELECT predictions.prediction_id, predictions.outcome, predictions.text
FROM predictions
JOIN queries USING (query_id)
JOIN collections USING (collection)
ANTI JOIN (SELECT DISTINCT prediction_id FROM {schema}.readings WHERE coding = $coding) AS done
    ON done.prediction_id = predictions.prediction_id
WHERE collections.domain = $domain
