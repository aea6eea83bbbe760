-- Group fairness: scores of groups, their disparities, and what of them is noise or label shift. Scores, shares and
-- differences are fractions; null is "there is none"; intervals are of 95%. `seed` is null for means over seeds, and
-- for a model without a seed.

CREATE TABLE group_answers (
    collection VARCHAR NOT NULL,
    model      VARCHAR NOT NULL,
    seed       BIGINT,
    split      VARCHAR NOT NULL,
    n          BIGINT NOT NULL,         -- rows of the split
    n_answered BIGINT NOT NULL,
    n_missing  BIGINT NOT NULL,         -- rows without an answer
    n_invalid  BIGINT NOT NULL,         -- rows whose answer names no class
    coding     VARCHAR NOT NULL,
    arm        VARCHAR NOT NULL,
    outcome    VARCHAR NOT NULL
);

CREATE TABLE group_scores (
    collection  VARCHAR NOT NULL,
    model       VARCHAR NOT NULL,
    seed        BIGINT,
    split       VARCHAR NOT NULL,
    attribute   VARCHAR NOT NULL,
    group_name  VARCHAR NOT NULL,
    variant     VARCHAR NOT NULL,       -- all: a row without an answer counts as wrong; answered: it is left out
    rule        VARCHAR NOT NULL,       -- macro-F1 over classes with support, in the union with those predicted, or all
    n           BIGINT NOT NULL,
    n_train     BIGINT,
    score       DOUBLE,                 -- macro-F1
    ci_low      DOUBLE,
    ci_high     DOUBLE,
    is_default  BOOLEAN NOT NULL,       -- the rule is the collection's own
    reported    BOOLEAN NOT NULL,
    compared    BOOLEAN NOT NULL,
    group_code  BIGINT NOT NULL,
    se          DOUBLE,
    n_seeds     BIGINT NOT NULL,
    micro_f1    DOUBLE,
    accuracy    DOUBLE,
    reweighted  DOUBLE,                 -- macro-F1 at the label shares of all reported rows
    probability_worst DOUBLE,
    coding      VARCHAR NOT NULL,
    arm         VARCHAR NOT NULL,
    outcome     VARCHAR NOT NULL
);

CREATE TABLE group_disparities (
    collection     VARCHAR NOT NULL,
    model          VARCHAR NOT NULL,
    seed           BIGINT,
    attribute      VARCHAR NOT NULL,
    variant        VARCHAR NOT NULL,
    rule           VARCHAR NOT NULL,
    mean_score     DOUBLE,
    gd             DOUBLE,              -- population standard deviation of the groups' scores
    worst_score    DOUBLE,
    worst_group    VARCHAR,
    gd_floor       DOUBLE,              -- mean GD of shuffled groups
    gd_excess      DOUBLE,              -- sqrt(max(0, gd^2 - gd_floor_rms^2))
    p_plain        DOUBLE,
    p_within_label DOUBLE,
    draws          BIGINT NOT NULL,
    is_default     BOOLEAN NOT NULL,
    n_groups       BIGINT NOT NULL,
    gd_floor_rms   DOUBLE,
    gd_floor_95    DOUBLE,
    excess_low     DOUBLE,
    excess_high    DOUBLE,
    detectable_gd  DOUBLE,              -- the smallest disparity found with 80% power at 5%
    p_worst        DOUBLE,
    p_worst_within_label DOUBLE,
    p_plain_holm   DOUBLE,              -- over attributes x (disparity, worst group)
    p_within_label_holm DOUBLE,
    p_worst_holm   DOUBLE,
    p_worst_within_label_holm DOUBLE,
    worst_floor    DOUBLE,
    worst_corrected DOUBLE,             -- without selection bias
    share_fixed    DOUBLE,              -- rows whose true label is in one group only
    gd_reweighted  DOUBLE,              -- at common label shares
    mean_of_averages  DOUBLE,           -- over seeds: of the groups' averages
    gd_of_averages    DOUBLE,
    worst_of_averages DOUBLE,
    coding         VARCHAR NOT NULL,
    arm            VARCHAR NOT NULL,
    outcome        VARCHAR NOT NULL
);

CREATE TABLE group_gaps (
    collection  VARCHAR NOT NULL,
    model       VARCHAR NOT NULL,
    seed        BIGINT,
    attribute   VARCHAR NOT NULL,
    variant     VARCHAR NOT NULL,
    rule        VARCHAR NOT NULL,
    first       VARCHAR NOT NULL,
    second      VARCHAR NOT NULL,
    gap         DOUBLE NOT NULL,        -- first less second
    ci_low      DOUBLE,
    ci_high     DOUBLE,
    se          DOUBLE,
    detectable  DOUBLE,                 -- the smallest gap found with 80% power at 5%
    label_shift DOUBLE,                 -- the part that common label shares remove
    label_shift_low  DOUBLE,
    label_shift_high DOUBLE,
    behaviour   DOUBLE,                 -- the gap at common label shares
    behaviour_low    DOUBLE,
    behaviour_high   DOUBLE,
    coding      VARCHAR NOT NULL,
    arm         VARCHAR NOT NULL,
    outcome     VARCHAR NOT NULL
);

-- Of a task with a favourable class.
CREATE TABLE group_rates (
    collection  VARCHAR NOT NULL,
    model       VARCHAR NOT NULL,
    seed        BIGINT,
    attribute   VARCHAR NOT NULL,
    group_name  VARCHAR NOT NULL,
    variant     VARCHAR NOT NULL,
    n           BIGINT NOT NULL,
    selection_rate DOUBLE,
    selection_low  DOUBLE,
    selection_high DOUBLE,
    true_positive_rate  DOUBLE,
    true_positive_low   DOUBLE,
    true_positive_high  DOUBLE,
    false_positive_rate DOUBLE,
    false_positive_low  DOUBLE,
    false_positive_high DOUBLE,
    four_fifths_ratio   DOUBLE,
    four_fifths_low     DOUBLE,
    four_fifths_high    DOUBLE,
    coding      VARCHAR NOT NULL,
    arm         VARCHAR NOT NULL,
    outcome     VARCHAR NOT NULL
);

CREATE TABLE group_classes (
    collection  VARCHAR NOT NULL,
    model       VARCHAR NOT NULL,
    seed        BIGINT,
    variant     VARCHAR NOT NULL,
    attribute   VARCHAR NOT NULL,
    group_name  VARCHAR,                -- null: all reported groups pooled
    class_name  VARCHAR NOT NULL,
    true_positives BIGINT NOT NULL,
    predicted   BIGINT NOT NULL,
    support     BIGINT NOT NULL,
    f1          DOUBLE NOT NULL,
    coding      VARCHAR NOT NULL,
    arm         VARCHAR NOT NULL,
    outcome     VARCHAR NOT NULL
);

-- How often each true class was answered as each class. Of outcomes with one class a row.
CREATE TABLE group_confusion (
    collection  VARCHAR NOT NULL,
    model       VARCHAR NOT NULL,
    seed        BIGINT,
    attribute   VARCHAR NOT NULL,
    group_name  VARCHAR NOT NULL,
    true_class  VARCHAR NOT NULL,
    predicted_class VARCHAR,            -- null: no valid answer
    n           BIGINT NOT NULL,
    coding      VARCHAR NOT NULL,
    arm         VARCHAR NOT NULL,
    outcome     VARCHAR NOT NULL
);

CREATE TABLE worst_class (
    collection  VARCHAR NOT NULL,
    model       VARCHAR NOT NULL,
    seed        BIGINT,
    variant     VARCHAR NOT NULL,
    attribute   VARCHAR NOT NULL,
    group_name  VARCHAR NOT NULL,
    worst_class VARCHAR,                -- of all reported rows pooled
    wci         DOUBLE,                 -- share of the group's rows that are truly of this class
    own_worst_class VARCHAR,            -- of the group's own rows
    wci_own     DOUBLE,
    coding      VARCHAR NOT NULL,
    arm         VARCHAR NOT NULL,
    outcome     VARCHAR NOT NULL
);

CREATE TABLE cross_attribute (
    collection  VARCHAR NOT NULL,
    model       VARCHAR NOT NULL,
    seed        BIGINT,
    attribute_1 VARCHAR NOT NULL,
    group_1     VARCHAR NOT NULL,
    attribute_2 VARCHAR NOT NULL,
    group_2     VARCHAR NOT NULL,
    n           BIGINT NOT NULL,
    score       DOUBLE,
    coding      VARCHAR NOT NULL,
    arm         VARCHAR NOT NULL,
    outcome     VARCHAR NOT NULL
);

CREATE TABLE group_seed_noise (
    collection  VARCHAR NOT NULL,
    model       VARCHAR NOT NULL,
    attribute   VARCHAR NOT NULL,
    variant     VARCHAR NOT NULL,
    rule        VARCHAR NOT NULL,
    group_name  VARCHAR,                -- null: the mean over the compared groups
    n_seeds     BIGINT NOT NULL,
    training_sd DOUBLE NOT NULL,
    test_sd     DOUBLE NOT NULL,
    total_se    DOUBLE NOT NULL,
    coding      VARCHAR NOT NULL,
    arm         VARCHAR NOT NULL,
    outcome     VARCHAR NOT NULL
);

-- Paired differences of two models or methods, first less second.
CREATE TABLE group_differences (
    collection  VARCHAR NOT NULL,
    model_1     VARCHAR NOT NULL,
    model_2     VARCHAR NOT NULL,
    attribute   VARCHAR NOT NULL,
    variant     VARCHAR NOT NULL,
    rule        VARCHAR NOT NULL,
    is_default  BOOLEAN NOT NULL,
    measure     VARCHAR NOT NULL,       -- mean, worst, gd
    value_1     DOUBLE NOT NULL,
    value_2     DOUBLE NOT NULL,
    difference  DOUBLE NOT NULL,
    ci_low      DOUBLE,
    ci_high     DOUBLE,
    p           DOUBLE,
    p_holm      DOUBLE,                 -- over attributes x measures of these two models
    n_seeds_1   BIGINT NOT NULL,
    n_seeds_2   BIGINT NOT NULL,
    n_seeds_tested BIGINT NOT NULL,
    draws       BIGINT NOT NULL,
    coding      VARCHAR NOT NULL,
    arm         VARCHAR NOT NULL,
    outcome     VARCHAR NOT NULL
);

-- What follows are facts of the data set, without a model.
CREATE TABLE group_drift (
    collection VARCHAR NOT NULL,
    attribute  VARCHAR NOT NULL,
    group_name VARCHAR NOT NULL,
    comparison VARCHAR NOT NULL,        -- train-test, train-val, val-test
    measure    VARCHAR NOT NULL,        -- js_distance, js_distance_lowest, js_distance_lowest_code, kl
    value      DOUBLE,
    reported   BOOLEAN NOT NULL,
    floor      DOUBLE,                  -- the mean without drift, from sampling alone
    floor_95   DOUBLE,
    p          DOUBLE,
    outcome    VARCHAR NOT NULL
);

CREATE TABLE group_representation (
    collection VARCHAR NOT NULL,
    split      VARCHAR NOT NULL,
    attribute  VARCHAR NOT NULL,
    group_name VARCHAR NOT NULL,
    reported   BOOLEAN NOT NULL,
    n          BIGINT NOT NULL,
    share      DOUBLE,                  -- of the rows of all reported groups
    outcome    VARCHAR NOT NULL
);

CREATE TABLE group_labels (
    collection VARCHAR NOT NULL,
    split      VARCHAR NOT NULL,
    attribute  VARCHAR NOT NULL,
    group_name VARCHAR NOT NULL,
    class_name VARCHAR NOT NULL,
    n          BIGINT NOT NULL,
    outcome    VARCHAR NOT NULL
);

CREATE TABLE group_overlaps (
    collection  VARCHAR NOT NULL,
    split       VARCHAR NOT NULL,
    attribute_1 VARCHAR NOT NULL,
    group_1     VARCHAR NOT NULL,
    attribute_2 VARCHAR NOT NULL,
    group_2     VARCHAR NOT NULL,
    n           BIGINT NOT NULL,
    share_of_1_within_2 DOUBLE,
    share_of_2_within_1 DOUBLE,
    outcome     VARCHAR NOT NULL
);

-- What each group analysis knew: as `analyses`, by the model's name, which stands for all its seeds.
CREATE TABLE group_analyses (
    collection  VARCHAR NOT NULL,
    model       VARCHAR NOT NULL,
    coding      VARCHAR NOT NULL,
    arm         VARCHAR NOT NULL,
    outcome     VARCHAR NOT NULL,
    analysed_at TIMESTAMP NOT NULL,
    settled     BIGINT NOT NULL,        -- answers and failures that count
    fingerprint VARCHAR NOT NULL,       -- of these, and of the cases with their truth and groups
    without_truth BIGINT NOT NULL       -- rows of the split that were left out, as their true value is not known
);
