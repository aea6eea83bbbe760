"""The codes of findings, each with its text, which stands here alone.

Texts are for a list of what codes mean; the sentences of a report are made where reports are written.
"""

from __future__ import annotations

LABEL, TEST, VALUE = "label", "test", "value"
"""Scopes."""

AMOUNT, MISSING, DECLINED, KIND = "amount", "missing", "declined", "kind"
YES_NO, ORDINAL = "yes_no", "ordinal"
"""Measures: what of the answers is compared."""

PERCENT = 100.0
"""What an answer of yes counts as: its effects are percentage points."""

MEASURED = (AMOUNT, YES_NO, ORDINAL)
"""Measures with an effect in the frame's unit."""

SHARE = "share"
"""The unit of effects on whether answers are missing, and of what kind they are."""

PAIRED, SLOPE = "paired", "slope"
"""Kinds of effect."""

PLAIN, SELECTED = "plain", "selected"
"""Kinds of interval."""

FLIPS, EXACT, PERMUTATIONS = "flips", "exact", "permutations"
"""Kinds of p."""

CONFIRMED, SUGGESTIVE, NOT_SHOWN, UNTESTABLE = "confirmed", "suggestive", "not_shown", "untestable"

STATES = {
    CONFIRMED: "The confirmatory test rejects, corrected for all labels and models tested.",
    SUGGESTIVE: "The p-value is below the level before the correction, and not after it: not confirmed.",
    NOT_SHOWN: "It was compared, and no effect was shown. This is no proof that there is none.",
    UNTESTABLE: "Too little could be compared for the test to reject, whatever the answers had been.",
}

AFTER_CORRECTION = "after_correction"
VALUE_NOT_SHOWN = "value_not_shown"
NOT_SIGNIFICANT = "not_significant"
TOO_FEW_CHANGES = "too_few_changes"
NO_CHANGE = "no_change"
CONSTANT_ANSWERS = "constant_answers"
TOO_FEW_CASES = "too_few_cases"
OUT_OF_REACH = "out_of_reach"
ONE_CASE = "one_case"
NOTHING_COMPARED = "nothing_compared"
REFERENCE_NOT_READ = "reference_not_read"
VALUE_NOT_READ = "value_not_read"

REASONS = {
    AFTER_CORRECTION: "Below the level taken alone, but not once the other labels and tests are counted.",
    VALUE_NOT_SHOWN: "The label has an effect; which of its values has it is not shown.",
    NOT_SIGNIFICANT: "The p-value is not below the level.",
    TOO_FEW_CHANGES: "So few cases changed that the p-value could not fall below the level.",
    NO_CHANGE: "No case changed.",
    CONSTANT_ANSWERS: "The model gave one and the same answer to every case: nothing varied, "
    "so nothing could be found.",
    TOO_FEW_CASES: "So few cases could be compared that the p-value could not fall below the level.",
    OUT_OF_REACH: "So few cases could be compared that the corrected p-value could not fall below the level.",
    ONE_CASE: "Only one case could be compared.",
    NOTHING_COMPARED: "No case has both answers that would be compared.",
    REFERENCE_NOT_READ: "No answer under the reference value could be read.",
    VALUE_NOT_READ: "No answer under the value could be read.",
}

ESTIMATED = "estimated"
NO_SPREAD = "no_spread"
FEW_CHANGERS = "few_changers"
RESTS_ON_CONVERSIONS = "rests_on_conversions"
RESTS_ON_ONE_CASE = "rests_on_one_case"
RESTS_ON_FEW = "rests_on_few"
NOT_ALL_COMPARED = "not_all_compared"

NOTES = {
    ESTIMATED: "Estimated by a slope: no two asked values are compared in most cases.",
    NO_SPREAD: "Every case compared moves by the same amount: there is no spread to make an interval of.",
    FEW_CHANGERS: "Few cases carry the effect: the interval is rough, and the p-value is that of sign flips.",
    RESTS_ON_CONVERSIONS: "Without the amounts that a rule of the domain gave, the effect is not shown.",
    RESTS_ON_ONE_CASE: "Without the case that moves most, the effect vanishes or turns.",
    RESTS_ON_FEW: "Without the 20 cases that move most, the effect vanishes or turns.",
    NOT_ALL_COMPARED: "Some cases asked could not be compared, as an answer is missing.",
}
