-- What fills the slots of every query in use that was built from a case; placebos are said otherwise on purpose.
SELECT collection, doc_id, label, value, fills
FROM judifair.queries
WHERE retired_at IS NULL AND fills IS NOT NULL AND label IS NOT NULL AND NOT starts_with(label, 'placebo:')
  AND arm = $arm
  AND ($collection IS NULL OR collection = $collection)
ORDER BY collection, label, ordinal, doc_id
