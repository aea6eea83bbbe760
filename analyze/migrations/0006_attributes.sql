-- How sure an attribute's figure is, by which method, and what was known of whom.
ALTER TABLE attribute_tests ADD COLUMN low DOUBLE;      -- 95%, of a correlation
ALTER TABLE attribute_tests ADD COLUMN high DOUBLE;
ALTER TABLE attribute_tests ADD COLUMN holm_p DOUBLE;   -- over all attributes and metrics
ALTER TABLE attribute_tests ADD COLUMN method VARCHAR;  -- what the figure is, and how its p was got

-- The attributes of the models in the study, as their file has them; what is null there is not known.
CREATE TABLE model_attributes (
    collection VARCHAR NOT NULL,
    coding     VARCHAR NOT NULL,
    model      VARCHAR NOT NULL,
    listed     VARCHAR NOT NULL,    -- the name in the file
    attribute  VARCHAR NOT NULL,
    known      VARCHAR NOT NULL
);
