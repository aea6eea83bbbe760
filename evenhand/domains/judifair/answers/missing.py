"""Why an answer that says something was left without a reading: each kind once, with its text.

A reading that is not certain is missing. The kind is stored with the reading and counted by `evenhand
check`; the text is what people see.
"""

from __future__ import annotations

from enum import StrEnum


class Missing(StrEnum):
    """The kinds; the value is what is stored."""

    text: str

    def __new__(cls, value: str, text: str) -> Missing:
        """A member with its text."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.text = text
        return member

    @classmethod
    def text_of(cls, kind: str) -> str:
        """The text of a kind as it is stored; a kind that this version does not know stands for itself."""
        return next((member.text for member in cls if member.value == kind), kind)

    CUT_OFF = "cut_off", "the answer breaks off before what it says is complete"
    RANGE = "range", "a range or a bound, not a term"
    SEVERAL_TERMS = "several_terms", "several terms, and none is called the total"
    UNCLEAR_NUMBER = "unclear_number", "a number that can be read in more than one way"
    UNCLEAR_UNIT = "unclear_unit", "a number whose unit is not known"
    UNCLEAR_WORDS = "unclear_words", "a number or a penalty among words that are not understood"
    SUSPENSION = "suspension", "a length that may be that of the suspension"
    CONTRADICTION = "contradiction", "two statements of the answer contradict each other"
    SEVERAL_VERDICTS = "several_verdicts", "several verdicts that differ, and none is clearly the final one"
    DRAFT = "draft", "a draft, a quotation, an example or another case, or a label that is not understood"
    REASONING = "reasoning", "reasoning that never ends, or that nothing follows"
