-- How the groups design scores each outcome, and which groups a published table leaves out.

ALTER TABLE {schema}.outcomes ADD COLUMN none_class VARCHAR;       -- of several classes: that of rows without any
ALTER TABLE {schema}.outcomes ADD COLUMN positive_class VARCHAR;   -- of two classes: the favourable one
ALTER TABLE {schema}.outcomes ADD COLUMN rule VARCHAR DEFAULT 'support';
ALTER TABLE {schema}.outcomes ADD COLUMN minimum_n INTEGER DEFAULT 1;  -- groups with fewer rows are not compared
ALTER TABLE {schema}.attributes ADD COLUMN is_printed BOOLEAN DEFAULT true;
