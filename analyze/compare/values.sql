-- Every estimate that either coding has, side by side, in the order in which they were estimated.
WITH sides AS (
    SELECT *, rowid AS position
    FROM estimates
    WHERE collection = $collection AND model_key = $model_key AND arm = $arm AND outcome = $outcome
), b AS (
    SELECT * FROM sides WHERE coding = $before
), a AS (
    SELECT * FROM sides WHERE coding = $after
)
SELECT
    label, value, variant,
    b.coef AS before_coef, b.se AS before_se, b.p AS before_p, b.n AS before_n,
    b.documents AS before_documents, b.note AS before_note,
    a.coef AS after_coef, a.se AS after_se, a.p AS after_p, a.n AS after_n,
    a.documents AS after_documents, a.note AS after_note
FROM b
FULL JOIN a USING (label, value, variant)
ORDER BY coalesce(b.position, a.position), a.position
