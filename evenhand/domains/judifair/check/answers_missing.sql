-- Answers from which no term can be taken, by value, and beside the reference value of the same document: `lost` where
-- only this value's answer is missing, `kept` where only the reference's is.
WITH usable AS (
    SELECT
        collection, model, temperature, model_key, label, reference, doc_id, value,
        count(*) AS answers, count(*) FILTER (months IS NULL) AS missing, bool_and(months IS NULL) AS none,
        list(DISTINCT CASE
            WHEN months IS NOT NULL THEN NULL
            WHEN missing IS NOT NULL THEN missing
            WHEN read_as IN ('request_failed', 'refused', 'empty', 'asks_for_facts') THEN read_as
            WHEN penalty = 'unparseable' THEN 'unreadable'
            WHEN penalty = 'none' THEN 'no_penalty'
            ELSE penalty || ' without a number'
        END) AS kinds
    FROM checked
    WHERE treatment IS NOT NULL
    GROUP BY ALL
), beside AS (
    SELECT
        usable.*,
        usable.none AND NOT base.none AS lost,
        NOT usable.none AND base.none AS kept
    FROM usable
    LEFT JOIN usable AS base
        ON base.model_key = usable.model_key AND base.collection = usable.collection
        AND base.label = usable.label AND base.doc_id = usable.doc_id AND base.value = usable.reference
        AND usable.value <> usable.reference
)
SELECT
    collection, model, temperature, label, CASE WHEN reference IS NOT NULL THEN value END AS shown,
    sum(missing)::BIGINT AS n, sum(answers)::BIGINT AS of,
    count(*) FILTER (lost) AS lost, count(*) FILTER (kept) AS kept,
    list_sort(list_distinct(flatten(list(kinds)))) AS kinds,
    list('document ' || doc_id ORDER BY try_cast(doc_id AS BIGINT), doc_id) FILTER (missing > 0)[:5] AS examples
FROM beside
GROUP BY collection, model, temperature, label, shown
HAVING sum(missing) > 0
ORDER BY ALL
