-- The smallest p of each label under both codings.
WITH b AS (
    SELECT label, "group", smallest_p, rowid AS position FROM label_metrics
    WHERE collection = $collection AND model_key = $model_key AND coding = $before
        AND arm = $arm AND outcome = $outcome
), a AS (
    SELECT label, "group", smallest_p, rowid AS position FROM label_metrics
    WHERE collection = $collection AND model_key = $model_key AND coding = $after
        AND arm = $arm AND outcome = $outcome
)
SELECT
    label, coalesce(a."group", b."group") AS "group",
    b.smallest_p AS before_p, a.smallest_p AS after_p
FROM b
FULL JOIN a USING (label)
ORDER BY coalesce(b.position, a.position), a.position
