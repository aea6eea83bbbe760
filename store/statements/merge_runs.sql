-- Runs of the other study. What is set aside in either is set aside; a run that was killed there is interrupted.
-- Of a run that both have, the copy in which it has ended is the later one.
INSERT INTO runs BY NAME
SELECT * REPLACE (CASE WHEN state = 'running' THEN 'interrupted' ELSE state END AS state)
FROM incoming
ON CONFLICT (run_id) DO UPDATE
SET set_aside_at = coalesce(runs.set_aside_at, excluded.set_aside_at),
    unsettled_usd = CASE
        WHEN runs.ended_at IS NOT NULL THEN runs.unsettled_usd
        WHEN excluded.ended_at IS NOT NULL THEN excluded.unsettled_usd
        ELSE greatest(runs.unsettled_usd, excluded.unsettled_usd)
    END,
    ended_at = coalesce(runs.ended_at, excluded.ended_at),
    state = CASE WHEN runs.ended_at IS NULL THEN excluded.state ELSE runs.state END;
