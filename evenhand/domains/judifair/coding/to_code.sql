-- The answers that a coding has not read yet; all of them where the coding is null.
SELECT prediction_id, outcome, text
FROM predictions
SEMI JOIN judifair.queries USING (query_id)
ANTI JOIN (SELECT prediction_id FROM judifair.verdicts WHERE coding = ?) AS coded USING (prediction_id)
