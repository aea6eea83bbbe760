-- Batches of the other study that are not known here, with what they ask, so that these can be fetched here.
INSERT INTO batches BY NAME
SELECT *
FROM incoming_batches
WHERE batch NOT IN (SELECT batch FROM batches);
