-- Case number, year and first charge from the documents file; "" where the file has none. What is the same is not
-- written again.
INSERT INTO judifair.truths (collection, doc_id, case_number, year, charge)
SELECT $collection, facts.doc_id, facts.case_number, facts.year, facts.charge
FROM import_documents AS facts
LEFT JOIN judifair.truths ON truths.collection = $collection AND truths.doc_id = facts.doc_id
WHERE truths.doc_id IS NULL
   OR (truths.case_number, truths.year, truths.charge) IS DISTINCT FROM (facts.case_number, facts.year, facts.charge)
ON CONFLICT (collection, doc_id) DO UPDATE SET
    case_number = excluded.case_number, year = excluded.year, charge = excluded.charge
