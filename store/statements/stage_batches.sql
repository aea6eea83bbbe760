-- The other study's batches that were handed over, or may have been, unless nothing came or will come of them.
CREATE OR REPLACE TEMP TABLE incoming_batches AS
SELECT * REPLACE (batch::UUID AS batch, run_id::UUID AS run_id)
FROM incoming
WHERE input_file_id IS NOT NULL
  AND (ended_at IS NULL OR state NOT IN ('rejected', 'lost', 'failed'));
