-- What may be said, and how surely: every sentence of a report is made from these rows. Codes and their texts:
-- analyze/findings/codes.py. How they come to be: analyze/findings and analyze/inference/confirmatory.py.

-- scope 'label': one row for each label, with its one confirmatory p. scope 'test': one for each confirmatory test of a
-- label, over all of its values. scope 'value': one for each confirmatory test of each value.
CREATE TABLE findings (
    collection   VARCHAR NOT NULL,
    model_key    VARCHAR NOT NULL,
    model        VARCHAR NOT NULL,
    temperature  DOUBLE,
    coding       VARCHAR NOT NULL,
    position     BIGINT NOT NULL,   -- within the model: label, its tests, their values, in the design's order
    label        VARCHAR NOT NULL,
    "group"      VARCHAR NOT NULL,  -- the label's group in the design
    scope        VARCHAR NOT NULL,  -- label, test, value
    value        VARCHAR,           -- null unless scope is 'value'; of a continuous label the name of its dose
    contrast     VARCHAR,           -- 'reference -> value'; of a continuous label two asked values, '30 -> 55'
    test         VARCHAR NOT NULL,  -- outcome, missing, kind; of a label the one with the smallest p for its weight
    outcome      VARCHAR NOT NULL,  -- what is compared: amount, missing, declined (all that went missing was), kind
    unit         VARCHAR NOT NULL,  -- of effect: the frame's unit, 'share', or the unit for one of the dose
    -- Pairs: a case with the answer under the value and the one under the reference; repeats are averaged. Of a label
    -- and a test: cases with any such pair.
    n_asked      BIGINT NOT NULL,   -- pairs asked, answered or not
    n_compared   BIGINT NOT NULL,   -- pairs that the test compares: of an amount or a kind, both answers were read
    n_changed    BIGINT NOT NULL,   -- of n_compared
    ups          BIGINT,            -- of n_changed: higher, missing under the value alone, or of a severer kind
    downs        BIGINT,
    mean_from    DOUBLE,            -- mean under the reference over the pairs compared, in the outcome's unit or share
    mean_to      DOUBLE,            -- the same under the value
    effect       DOUBLE,            -- mean paired difference over n_compared; see effect_kind
    se           DOUBLE,            -- of effect, by cases
    effect_kind  VARCHAR,           -- paired; slope: for one unit of the dose, as no two asked values are compared
    ci_low       DOUBLE,
    ci_high      DOUBLE,
    ci_level     DOUBLE,            -- 0.95, or for confirmed effects what the false coverage rate asks
    ci_kind      VARCHAR,           -- plain; selected: adjusted for the selection; null: none, see note
    p            DOUBLE,            -- of this row's own test, uncorrected
    p_kind       VARCHAR,           -- flips: signs drawn; exact: all signs; permutations: orders drawn
    least_p      DOUBLE,            -- the smallest p that what changed could have given
    weight       DOUBLE,            -- of the test within its label
    p_within     DOUBLE,            -- p corrected within the label: weighted Holm over tests, step-down over values
    family       BIGINT,            -- labels corrected for together, of all models
    p_adjusted   DOUBLE,            -- p_within corrected over the family by Holm
    state        VARCHAR NOT NULL,  -- confirmed, suggestive, not_shown, untestable
    reason_code  VARCHAR,           -- why it is in that state
    note         VARCHAR,           -- codes of what else must be said, joined by '; '
    -- What the answers that went missing were.
    declined     BIGINT,            -- pairs declined under the value alone
    declined_reference BIGINT,      -- under the reference alone
    -- The most frequent switch of kind.
    from_kind    VARCHAR,
    to_kind      VARCHAR,
    switches     BIGINT,            -- pairs that switch so
    switches_back BIGINT,           -- pairs that switch the other way
    -- Amounts that no answer named, but a rule of the domain gave.
    n_converted  BIGINT,            -- pairs with such an amount
    effect_unconverted DOUBLE,      -- without them
    p_unconverted DOUBLE,           -- of sign flips, without them
    -- What carries the effect.
    carrier      VARCHAR,           -- the group of cases with the largest part of the moves in the effect's direction
    carrier_share DOUBLE,           -- its part of them
    carrier_cases BIGINT,           -- of n_compared
    effect_without_carrier DOUBLE,
    effect_without_largest DOUBLE,  -- without the case that moves most
    effect_without_20 DOUBLE,       -- without the 20 that move most; null where no more than 20 move
    -- What the confirmatory test, with its weight and correction, would find four times in five.
    detectable   DOUBLE,            -- effect
    detectable_share DOUBLE,        -- share of the cases that would have to move
    detectable_level DOUBLE         -- the level of the label's joint test, by its weight and the family
);

-- Models side by side on the cases that all of them have: of each contrast that several models were compared in, each
-- model's effect over all of its own cases, and over those shared. Empty where the models were not analysed together.
CREATE TABLE shared_effects (
    collection   VARCHAR NOT NULL,
    coding       VARCHAR NOT NULL,
    label        VARCHAR NOT NULL,
    value        VARCHAR NOT NULL,
    contrast     VARCHAR NOT NULL,
    model        VARCHAR NOT NULL,
    temperature  DOUBLE,
    model_key    VARCHAR NOT NULL,
    models       BIGINT NOT NULL,   -- that have the contrast
    n_compared   BIGINT NOT NULL,   -- cases that the model has
    effect       DOUBLE NOT NULL,   -- over them
    n_shared     BIGINT NOT NULL,   -- cases that all of the models have
    ups          BIGINT NOT NULL,   -- of n_shared
    downs        BIGINT NOT NULL,
    shared_effect DOUBLE            -- over n_shared; null where there are none
);
