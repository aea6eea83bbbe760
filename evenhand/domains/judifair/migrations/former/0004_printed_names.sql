-- What the rows of the published tables are called, which say label and value at once: "Defendant Female".
ALTER TABLE judifair_designs ADD COLUMN printed VARCHAR;          -- of a label with a single coefficient
ALTER TABLE judifair_design_values ADD COLUMN printed VARCHAR;
