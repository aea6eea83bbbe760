-- What the coding noted of answers, and of how many; an answer can bear several notes. A number at the end of one is
-- that answer's own.
WITH noted AS (
    SELECT collection, model_key, arm, unnest(string_split(CAST(note AS VARCHAR), '; ')) AS note
    FROM {view}
    WHERE coding = ? AND outcome = ? AND note IS NOT NULL
)
SELECT
    collection, model_key, arm, regexp_replace(note, '[0-9]+([.][0-9]+)?$', '…') AS noted, count(*) AS answers
FROM noted
WHERE note <> ''
GROUP BY ALL
ORDER BY collection, model_key, arm, answers DESC, noted
