-- Which of the wanted rows, by their ids, are stored.
SELECT row_id::UUID AS row_id
FROM wanted
WHERE row_id::UUID IN (SELECT prediction_id FROM predictions)
   OR row_id::UUID IN (SELECT failure_id FROM failures);
