-- The queries of one page, with what their prompts are made of but the long texts, in the order of the page.
SELECT
    page.query_id AS id,
    queries.collection,
    queries.doc_id,
    queries.label,
    queries.value,
    queries.arm,
    queries.template_hash,
    queries.fills,
    queries.ordinal,
    page.done
FROM page
JOIN queries ON queries.query_id = page.query_id::UUID
ORDER BY page.place;
