-- How each value moves the share of each class of an outcome that is a class, a set of classes, or yes and no. Pairs: a
-- case with an answer under the value and one under the reference; repeats are averaged.
CREATE TABLE class_effects (
    collection  VARCHAR NOT NULL,
    model_key   VARCHAR NOT NULL,
    model       VARCHAR NOT NULL,
    temperature DOUBLE,
    coding      VARCHAR NOT NULL,
    arm         VARCHAR NOT NULL,
    outcome     VARCHAR NOT NULL,
    label       VARCHAR NOT NULL,
    value       VARCHAR NOT NULL,
    class_name  VARCHAR NOT NULL,   -- the class; of yes and no, the word for yes
    n_compared  BIGINT NOT NULL,    -- pairs
    share_from  DOUBLE NOT NULL,    -- per cent of the answers under the reference that are, or hold, the class
    share_to    DOUBLE NOT NULL,    -- the same under the value
    effect      DOUBLE NOT NULL,    -- share_to - share_from, in percentage points
    ci_low      DOUBLE NOT NULL,    -- 95%, of this class alone (Agresti and Min 2005)
    ci_high     DOUBLE NOT NULL,
    ups         BIGINT NOT NULL,    -- pairs with the class only, or more often, under the value
    downs       BIGINT NOT NULL,    -- the same under the reference
    mcnemar_p   DOUBLE,             -- exact: the sign test of ups against downs (McNemar 1947); null where none changed
    holm_p      DOUBLE,             -- corrected over the classes of the value
    hamming     DOUBLE NOT NULL     -- of the value: mean share of its classes on which the two answers differ, per cent
);
