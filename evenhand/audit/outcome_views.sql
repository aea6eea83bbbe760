-- The frame of one outcome: its rows, with the answer, the truth and the distance between them as numbers.
CREATE OR REPLACE VIEW {schema}.{frame} AS
SELECT
    answered.* REPLACE (answered.is_reference AND answered.dose IS NULL AS is_reference),
    CAST({error} AS DOUBLE) AS error,
    {error_percent} AS error_percent
FROM (
    SELECT
        frame.*,
        CAST({amount} AS DOUBLE) AS amount,
        {kind} AS kind,
        CAST({true_amount} AS DOUBLE) AS true_amount,
        {true_kind} AS true_kind
    FROM {schema}.frame AS frame
    WHERE frame.outcome = '{outcome}' AND frame.label IS NOT NULL
) AS answered;

-- The answers to its placebos, beside the answers to the reference.
CREATE OR REPLACE VIEW {schema}.{placebos} AS
SELECT placebo.*, CAST({amount} AS DOUBLE) AS placebo_amount
FROM (
    SELECT
        placebos.* REPLACE (
            placebos.placebo_number AS number, placebos.placebo_class AS class, placebos.placebo_classes AS classes
        )
    FROM {schema}.placebos AS placebos
    WHERE placebos.outcome = '{outcome}'
) AS placebo;
