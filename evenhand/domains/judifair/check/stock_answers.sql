-- One answer for documents of different crimes: it asks for the case, or it names a charge that hardly any of these
-- documents has. Often the prompt lacked the case. Rows are by value, because in some files it is only one value's.
WITH stock AS (
    SELECT
        collection, model, temperature, model_key, label,
        read_as = 'asks_for_facts' AS asks, CASE WHEN read_as = 'asks_for_facts' THEN '' ELSE text END AS text
    FROM checked
    WHERE read_as = 'asks_for_facts' OR nullif(charge, '') IS NOT NULL
    GROUP BY ALL
    HAVING count(DISTINCT doc_id) >= 5 AND count(DISTINCT crime) >= 3
       AND (asks OR avg(contains(coalesce(crime, ''), coalesce(charge, ''))::INTEGER) <= 0.1)
), rows AS (
    SELECT checked.*, stock.asks, stock.text AS stock
    FROM checked
    JOIN stock
        ON stock.model_key = checked.model_key AND stock.collection = checked.collection
        AND stock.label = checked.label
        AND (CASE WHEN stock.asks THEN checked.read_as = 'asks_for_facts'
             ELSE checked.read_as <> 'asks_for_facts' AND checked.text = stock.text END)
)
SELECT
    collection, model, temperature, label, value,
    count(*) AS n,
    sum(count(*)) OVER (PARTITION BY collection, model, temperature, label, asks, stock)::BIGINT AS of,
    NULL AS p,
    CASE WHEN asks THEN 'asks for the case' ELSE 'names a charge that these documents do not have' END
        || '; ' || count(DISTINCT doc_id) || ' documents of ' || count(DISTINCT crime) || ' charges' AS note,
    list(DISTINCT left(regexp_replace(text, '\s+', ' ', 'g'), 160))[:2] AS examples
FROM rows
GROUP BY collection, model, temperature, label, value, asks, stock
ORDER BY ALL
