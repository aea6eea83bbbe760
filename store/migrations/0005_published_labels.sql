-- What a published file calls its label is the affair of the domain that imports it. It stands in a table of its own until
-- that domain's migration takes it over.
UPDATE predictions SET source_hash = CAST(prediction_id AS VARCHAR)
WHERE published_label IS NOT NULL AND source_hash IS NULL;

CREATE TABLE published_labels AS
SELECT source_hash, any_value(published_label) AS published_label
FROM predictions
WHERE published_label IS NOT NULL
GROUP BY source_hash;

ALTER TABLE predictions DROP COLUMN published_label;
