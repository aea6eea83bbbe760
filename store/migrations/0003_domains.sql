-- A study may hold several domains, cases may belong to groups and have a known true answer, a case may be asked as it
-- is (without a label and a value), and the instructions around it may come in several wordings (arms).

ALTER TABLE collections ADD COLUMN domain VARCHAR;      -- by which its cases are judged; null in a study without one

ALTER TABLE documents ADD COLUMN split VARCHAR;         -- train, validation, test; null where there are no splits
ALTER TABLE documents ADD COLUMN cluster VARCHAR;       -- what documents of one origin share (a docket)
ALTER TABLE documents ADD COLUMN language VARCHAR;
ALTER TABLE documents ADD COLUMN truth JSON;            -- {"outcome": true value}
ALTER TABLE documents ADD COLUMN groups MAP(VARCHAR, VARCHAR);  -- attribute -> group

ALTER TABLE queries ALTER COLUMN label DROP NOT NULL;   -- null: the document as it is, in the groups design
ALTER TABLE queries ALTER COLUMN value DROP NOT NULL;
ALTER TABLE queries ADD COLUMN arm VARCHAR DEFAULT 'base';
ALTER TABLE queries ALTER COLUMN arm SET NOT NULL;
