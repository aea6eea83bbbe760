-- Counterfactual pairs of one model and label: the answer under the reference and the one under the value, of the same
-- case and repeat, with what was read of each and the text that differs between the two prompts.
WITH own AS (
    SELECT
        doc_id, repeat, value, prediction_id,
        CAST(({outcome}) AS DOUBLE) AS amount, CAST(({kind}) AS VARCHAR) AS kind,
        CAST(({missing}) AS VARCHAR) AS missing, coalesce(CAST(({declined}) AS BOOLEAN), false) AS declined
    FROM {view}
    WHERE collection = ? AND model_key = ? AND coding = ? AND arm = ? AND outcome = ? AND label = ?
        AND coalesce(CAST(({sample}) AS BOOLEAN), false)
), told AS (
    SELECT own.*, p.text, q.fills
    FROM own
    LEFT JOIN predictions AS p USING (prediction_id)
    LEFT JOIN queries AS q ON q.query_id = p.query_id
), paired AS (
    SELECT
        r.doc_id, r.repeat, r, v,
        r.missing IS NOT NULL OR v.missing IS NOT NULL OR r.amount IS NULL OR v.amount IS NULL AS incomplete,
        r.amount IS DISTINCT FROM v.amount OR r.kind IS DISTINCT FROM v.kind AS differs
    FROM told AS r
    JOIN told AS v ON v.doc_id = r.doc_id AND v.repeat = r.repeat
    WHERE list_contains(?, r.value) AND v.value = ?
)
SELECT
    paired.doc_id, repeat, r.value, r.text, r.amount, r.kind, r.missing, r.declined, r.fills,
    v.value, v.text, v.amount, v.kind, v.missing, v.declined, v.fills
FROM paired
LEFT JOIN documents AS d ON d.collection = ? AND d.doc_id = paired.doc_id
WHERE {where}
ORDER BY d.position NULLS LAST, try_cast(paired.doc_id AS BIGINT) NULLS LAST, paired.doc_id, repeat
LIMIT ?
