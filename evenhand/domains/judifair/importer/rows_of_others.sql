-- Answers of other files that go by the truth which is about to change: they keep the one that their file states.
SELECT predictions.prediction_id, truths.penalty_text, truths.months
FROM restated_documents AS restated
JOIN judifair.truths ON truths.collection = $collection AND truths.doc_id = restated.doc_id
JOIN queries ON queries.collection = $collection AND queries.doc_id = restated.doc_id
JOIN predictions USING (query_id)
ANTI JOIN judifair.truth_exceptions USING (prediction_id)
WHERE predictions.source_hash <> $source_hash
  AND (truths.penalty_text, truths.months) IS DISTINCT FROM (restated.penalty_text, restated.months)
