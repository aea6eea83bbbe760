"""The words of a report about an outcome, where the domain has no specifications of its own.

They are the `[report]` table of a specifications file (`analyze/report/texts.py` says what each key is), made
from the titles of the domain and of the outcome, by the outcome's kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from evenhand.audit.names import DEFAULT_LANGUAGE, name_in
from evenhand.audit.outcomes import Amount, Classes, OneClass, Ordinal, Outcome, Probability, YesNo

if TYPE_CHECKING:
    from evenhand.audit.domain import Domain

_READ_AS = {
    "exact": "One JSON object, as asked",
    "repaired": "An object with mistakes that could be repaired",
    "prose": "An object or a statement within other text",
    "refused": "The model declined, or the provider withheld the answer",
    "empty": "Empty",
    "truncated": "Cut off",
    "ambiguous": "Several values that differ, or a range",
    "out_of_range": "A number outside the range asked for",
    "unreadable": "No value that can be recognised",
    "request_failed": "The request failed",
}
_MISSING = {
    "refused": "declined",
    "empty": "empty",
    "truncated": "cut off",
    "ambiguous": "ambiguous",
    "out_of_range": "out of range",
    "unreadable": "unreadable",
    "request_failed": "request failed",
}
_CAUTIONS = [
    "An effect says that the model's answer depends on a fact. It does not say why, nor that a person in "
    "its place would have done better.",
    "Which facts must not matter is a judgement that the data cannot make.",
    "No significant effect is not proof of even-handedness: with few cases only large effects can be seen. "
    "The intervals say how large an effect the data leave open.",
    "The findings hold for these cases, this prompt and these settings of the models. They do not carry "
    "over to others without asking again.",
]


def report_texts(domain: Domain, outcome: Outcome, variants: Mapping[str, str]) -> dict[str, Any]:
    """The `[report]` table for one outcome. `variants` has the short names of the specifications."""
    title = title_of(outcome)
    return {
        "title": f"{name_in(domain.title, DEFAULT_LANGUAGE, domain.name)}: {title}",
        "subject": domain.description,
        "question": "Each case was put to the model several times. Between two of these times one fact was "
        "changed that must not matter to the answer. If the answer changes with that fact, the model does "
        "not treat like cases alike.",
        "reading": f"An effect is the average change {_of_what(outcome)}, within the same case, when the "
        f"fact "
        "changes from the reference value to the value named. It is confirmed only if the confirmatory "
        f"test rejects after the correction for all labels tested{_and_outcomes(domain)}.",
        "outcome": _outcome(outcome, title),
        "inconsistency": "Inconsistency is the share of cases in which the answer is not the same under "
        "all values of a label. A model that answers differently when asked the very same thing twice is "
        "inconsistent without being biased.",
        "document": "case",
        "documents": "cases",
        "measure": measure_of(outcome),
        "answer": "answer",
        **_moves(outcome),
        "carrier": "cluster",
        "cautions": list(_CAUTIONS),
        "codings": {"read": "Read"},
        "groups": {"labels": "Labels"},
        "variants": {name: text for name, text in variants.items() if text},
        "read_as": dict(_READ_AS),
        "missing": dict(_MISSING),
        "kinds": _kinds(outcome),
        "error": _error(outcome),
    }


def _of_what(outcome: Outcome) -> str:
    """What an effect is a change of."""
    match outcome:
        case YesNo() | Probability():
            return f"of {measure_of(outcome)}"
        case OneClass() | Classes():
            return "of the share of answers with a class"
        case _:
            return "of the answer"


def _moves(outcome: Outcome) -> dict[str, str]:
    """How a change is said."""
    match outcome:
        case YesNo():
            return {"up": f"to “{outcome.yes}”", "down": f"to “{outcome.no}”"}
        case Ordinal():
            return {"changes": "the class", "severer": "higher", "milder": "lower"}
        case OneClass():
            return {
                "changes": "the answer",
                "p": "any class",
                "counting": "variant of the class that moves most surely",
            }
        case Classes():
            return {
                "changes": "the set of classes answered",
                "p": "any class",
                "counting": "variant of the class that moves most surely",
            }
        case _:
            return {}


def _and_outcomes(domain: Domain) -> str:
    """What else is corrected for."""
    others = len(domain.outcomes)
    return f", and for the {others} outcomes of each answer" if others > 1 else ""


def title_of(outcome: Outcome) -> str:
    """What an outcome is called, for people."""
    plain = outcome.name.replace("_", " ")
    return name_in(outcome.title, DEFAULT_LANGUAGE, plain[:1].upper() + plain[1:])


def measure_of(outcome: Outcome) -> str:
    """What moves, with its article: "the share of “yes”"."""
    called = f"“{title_of(outcome)}”"
    match outcome:
        case YesNo():
            return f"the share of “{outcome.yes}”"
        case Probability():
            return f"the probability in {called}"
        case Ordinal():
            return f"the class in {called}"
        case _:
            return f"the answer to {called}"


def _outcome(outcome: Outcome, title: str) -> str:
    said = f" {outcome.description}" if outcome.description else ""
    match outcome:
        case Amount():
            told = (
                f"“{title}” is an amount in {outcome.unit}, from {outcome.minimum:g} to {outcome.maximum:g}."
            )
        case YesNo():
            told = (
                f"“{title}” is answered with “{outcome.yes}” or “{outcome.no}”. Effects are changes of the "
                f"share of “{outcome.yes}”, in percentage points."
            )
        case Probability():
            told = f"“{title}” is a probability. Effects are in percentage points."
        case Ordinal():
            told = (
                f"“{title}” is one of the classes {_listed(outcome)}, in this order. Effects are in steps "
                "from one class to the next; the rank test compares the order alone."
            )
        case OneClass():
            told = (
                f"“{title}” is one of the classes {_listed(outcome)}. The test asks whether the answers are "
                "spread over them differently; effects on the share of each class are in percentage points."
            )
        case Classes():
            told = (
                f"“{title}” is any number of the classes {_listed(outcome)}; an answer with none is "
                f"“{outcome.none}”. The test asks whether the sets of classes differ; effects on the "
                "share of answers that hold a class are in percentage points."
            )
    return told + said


def _listed(outcome: OneClass | Ordinal | Classes) -> str:
    return ", ".join(f"“{name_in(one.title, DEFAULT_LANGUAGE, one.name)}”" for one in outcome.classes)


def _kinds(outcome: Outcome) -> dict[str, str]:
    if isinstance(outcome, YesNo):
        return {word: f"“{word}”" for word in (outcome.yes, outcome.no)}
    if isinstance(outcome, OneClass | Ordinal):
        return {one.name: f"“{name_in(one.title, DEFAULT_LANGUAGE, one.name)}”" for one in outcome.classes}
    return {}


def _error(outcome: Outcome) -> str:
    match outcome:
        case Amount():
            return f"Mean error, {outcome.unit}"
        case Probability():
            return "Brier score"
        case Ordinal():
            return "Mean error, steps"
        case Classes():
            return "Classes wrong, %"
        case _:
            return "Answers wrong, %"
