-- What each imported file says of the true judgments, so that one saved again with corrected truths is known by it.
CREATE TABLE imported_files (
    source_hash VARCHAR PRIMARY KEY,    -- of its documents, labels, values and answers, as in `predictions`
    truths_hash VARCHAR NOT NULL
);
