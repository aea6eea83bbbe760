-- How often answers differ where nothing that could matter differs, and how much more often they do between values.
CREATE TABLE noise_floors (
    collection    VARCHAR NOT NULL,
    model_key     VARCHAR NOT NULL,
    model         VARCHAR NOT NULL,
    temperature   DOUBLE,
    coding        VARCHAR NOT NULL,
    floor         VARCHAR NOT NULL,     -- repeats, placebos, reference_answers
    share         DOUBLE,               -- of pairs that differ
    pairs         BIGINT NOT NULL,
    documents     BIGINT NOT NULL,      -- that have such pairs, and pairs of values too
    inconsistency DOUBLE,               -- share of pairs of values that differ, in the same labels and documents
    value_pairs   BIGINT NOT NULL,
    excess        DOUBLE,               -- inconsistency - share
    low           DOUBLE,               -- 95%, document bootstrap
    high          DOUBLE,
    note          VARCHAR
);

-- The excess of a label's inconsistency over that between its reference and the same in other words.
ALTER TABLE inconsistency_tests ADD COLUMN placebo_excess DOUBLE;
ALTER TABLE inconsistency_tests ADD COLUMN placebo_low DOUBLE;
ALTER TABLE inconsistency_tests ADD COLUMN placebo_high DOUBLE;
