-- The truths of documents as a file states them now.
UPDATE judifair.truths
SET
    charge = restated.charge, guilty = restated.guilty, penalty = restated.penalty,
    penalty_text = restated.penalty_text, months = restated.months
FROM restated_documents AS restated
WHERE truths.collection = $collection AND truths.doc_id = restated.doc_id
