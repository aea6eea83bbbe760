-- What became of the answers: rows of the frame by label, value, way of reading and kind of absence.
-- `usable` have an outcome in the primary variant, `used` are in its sample as well.
SELECT
    collection,
    model_key,
    arm,
    label,
    value,
    {read_as} AS read_as,
    {missing} AS missing,
    count(*) AS rows,
    count(*) FILTER (WHERE ({outcome}) IS NOT NULL) AS usable,
    count(*) FILTER (WHERE ({outcome}) IS NOT NULL AND coalesce(CAST(({sample}) AS BOOLEAN), false)) AS used
FROM {view}
WHERE coding = ? AND outcome = ?
GROUP BY ALL
