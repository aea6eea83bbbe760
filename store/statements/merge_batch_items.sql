-- What batches ask that have come from the other study, or were forgotten here.
INSERT INTO batch_items BY NAME
SELECT *
FROM incoming
WHERE batch::UUID IN (SELECT batch FROM incoming_batches)
  AND batch::UUID NOT IN (SELECT batch FROM batch_items);
