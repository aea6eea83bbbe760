-- Batches that both studies know: the one that got further with it is believed.
-- * Its end, if the other fetched what it brought: that is merged too. A batch given up (rejected, lost, failed) is
--   not among the incoming ones: the study that still waits for it looks itself.
-- * How far it was handed over, if the other knows more of that: so it is not submitted a second time.
-- * Given up here, but submitted again there: it may still bring something.
UPDATE batches
SET state = other.state,
    input_file_id = other.input_file_id,
    batch_id = other.batch_id,
    note = other.note,
    submitted_at = other.submitted_at,
    ended_at = other.ended_at
FROM incoming_batches AS other
WHERE other.batch = batches.batch
  AND CASE
      WHEN batches.ended_at IS NULL AND other.ended_at IS NULL
      THEN (batches.batch_id IS NULL AND other.batch_id IS NOT NULL) OR batches.input_file_id IS NULL
      WHEN batches.ended_at IS NULL
      THEN batches.batch_id IS NULL OR batches.batch_id = other.batch_id
      ELSE batches.state IN ('rejected', 'lost', 'failed') AND batches.batch_id IS DISTINCT FROM other.batch_id
       AND other.batch_id IS NOT NULL
  END;
