-- Every answer of an arm that counts, once, with both readings of it and its document: what all the checks look at.
CREATE OR REPLACE TEMP TABLE checked AS
SELECT
    queries.collection, models.model, models.temperature, models.kind AS model_kind, predictions.model_key,
    queries.label, file_labels.published_label, queries.value, queries.doc_id, predictions.repeat,
    predictions.outcome, predictions.text, predictions.source_hash, predictions.source_row,
    corrected.penalty, corrected.months, corrected.read_as, corrected.charge, corrected.note, corrected.missing,
    published.read_as AS published_read_as, published.penalty AS published_penalty,
    published.months AS published_months, published.note AS published_note,
    nullif(trim(truths.charge), '') AS crime,
    designs.reference, designs.treatment
FROM predictions
SEMI JOIN latest ON latest.row_id = predictions.prediction_id
JOIN judifair.queries ON queries.query_id = predictions.query_id AND queries.retired_at IS NULL
JOIN models ON models.model_key = predictions.model_key
LEFT JOIN judifair.file_labels ON file_labels.source_hash = predictions.source_hash
LEFT JOIN judifair.verdicts AS corrected
    ON corrected.prediction_id = predictions.prediction_id AND corrected.coding = 'corrected'
LEFT JOIN judifair.verdicts AS published
    ON published.prediction_id = predictions.prediction_id AND published.coding = 'published'
LEFT JOIN judifair.truths ON truths.collection = queries.collection AND truths.doc_id = queries.doc_id
LEFT JOIN judifair.designs AS designs ON designs.coding = 'corrected' AND designs.label = queries.label
WHERE queries.arm = $arm
  AND ($collection IS NULL OR queries.collection = $collection)
  AND ($model IS NULL OR models.model = $model)
