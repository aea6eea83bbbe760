-- The answers that a coding has not read yet; all of them where the coding is null.
SELECT prediction_id, outcome, text
FROM predictions
ANTI JOIN (SELECT prediction_id FROM verdicts WHERE coding = ?) AS coded USING (prediction_id)
