"""The views of one outcome: its frame and its placebos, with answers as the numbers that are analysed.

By kind of outcome, `amount` and `true_amount` are

    amount       the amount, in the outcome's unit
    probability  in percentage points
    yes_no       100 or 0: averages are percentages, differences percentage points
    ordinal      the place of the class, from 0: differences are steps
    class        the place of the class, as a code: only whether two are equal means anything
    classes      the set of classes as a code, likewise

`kind` is the class, or the set of classes, by name. `error` is the distance between the two: of an amount and
of steps absolute; of yes_no and class 100 where they differ; of classes the share of classes on which they
differ, in per cent (the Hamming loss); of a probability the squared difference of probabilities (the Brier
score).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from evenhand.audit.outcomes import Amount, Classes, OneClass, Ordinal, Outcome, Probability, YesNo
from store.migrate import quoted

_VIEWS = (Path(__file__).parent / "outcome_views.sql").read_text(encoding="utf-8")
_MOST_BITS = 52
"""A DOUBLE holds whole numbers of so many bits."""


@dataclass(frozen=True, slots=True)
class Expressions:
    """SQL over the columns of the domain's frame; `error` and `error_percent` also over those before them."""

    amount: str
    true_amount: str
    error: str
    kind: str = "CAST(NULL AS VARCHAR)"
    true_kind: str = "CAST(NULL AS VARCHAR)"
    error_percent: str = "CAST(NULL AS DOUBLE)"


def frame_name(outcome: Outcome) -> str:
    """The view with the frame of an outcome."""
    return f"{outcome.name}_frame"


def placebos_name(outcome: Outcome) -> str:
    """The view with the placebos of an outcome."""
    return f"{outcome.name}_placebos"


def statements(schema: str, outcome: Outcome) -> str:
    """What makes the views of an outcome in a study."""
    of = expressions(outcome)
    return _VIEWS.format(
        schema=quoted(schema),
        frame=quoted(frame_name(outcome)),
        placebos=quoted(placebos_name(outcome)),
        outcome=outcome.name,
        amount=of.amount,
        kind=of.kind,
        true_amount=of.true_amount,
        true_kind=of.true_kind,
        error=of.error,
        error_percent=of.error_percent,
    )


def expressions(outcome: Outcome) -> Expressions:
    """How an outcome's answers become numbers."""
    match outcome:
        case Amount():
            return Expressions(
                amount="number",
                true_amount="try_cast(truth AS DOUBLE)",
                error="abs(true_amount - amount)",
                error_percent="CASE WHEN true_amount <> 0 "
                "THEN abs(true_amount - amount) / abs(true_amount) * 100 END",
            )
        case Probability():
            return Expressions(
                amount="100 * number",
                true_amount="100 * try_cast(truth AS DOUBLE)",
                error="((true_amount - amount) / 100) ** 2",
            )
        case YesNo():
            return Expressions(
                amount="100 * number",
                true_amount="100.0 * CAST(try_cast(truth AS BOOLEAN) AS INTEGER)",
                error="abs(true_amount - amount)",
                kind=_yes_or_no(outcome, "number = 1"),
                true_kind=_yes_or_no(outcome, "try_cast(truth AS BOOLEAN)"),
            )
        case Ordinal():
            names = _list(outcome.names())
            return Expressions(
                amount="number",
                true_amount=f"CAST(list_position({names}, truth ->> '$') - 1 AS DOUBLE)",
                error="abs(true_amount - amount)",
                kind="class",
                true_kind="truth ->> '$'",
            )
        case OneClass():
            names = _list(outcome.names())
            return Expressions(
                amount=f"CAST(list_position({names}, class) AS DOUBLE)",
                true_amount=f"CAST(list_position({names}, truth ->> '$') AS DOUBLE)",
                error="100.0 * CAST(true_kind <> kind AS INTEGER)",
                kind="class",
                true_kind="truth ->> '$'",
            )
        case Classes():
            true = "try_cast(truth AS VARCHAR[])"
            wrong = " + ".join(
                f"CAST(list_contains(classes, {text}) <> list_contains({true}, {text}) AS INTEGER)"
                for text in map(_text, outcome.names())
            )
            return Expressions(
                amount=_code_of_set(outcome, "classes"),
                true_amount=_code_of_set(outcome, true),
                error=f"100.0 * ({wrong}) / {len(outcome.names())}",
                kind=_set(outcome, "classes"),
                true_kind=_set(outcome, true),
            )


def is_class(outcome: OneClass | Classes | Ordinal, name: str) -> str:
    """SQL over the frame: whether the answer is, or holds, a class; null where there is no answer."""
    if isinstance(outcome, Classes):
        return f"list_contains(classes, {_text(name)})"
    return f"class = {_text(name)}"


def _code_of_set(outcome: Classes, listed: str) -> str:
    names = outcome.names()
    if len(names) > _MOST_BITS:
        text = _set(outcome, listed)
        return f"CASE WHEN {listed} IS NOT NULL THEN CAST(hash({text}) % {2**_MOST_BITS} AS DOUBLE) END"
    bits = (
        f"{2**place}.0 * CAST(list_contains({listed}, {_text(name)}) AS INTEGER)"
        for place, name in enumerate(names)
    )
    return f"({' + '.join(bits)})"


def _set(outcome: Classes, listed: str) -> str:
    """The classes of a list in the outcome's order, as a text."""
    return (
        f"CASE WHEN len({listed}) = 0 THEN {_text(outcome.none)} "
        f"WHEN {listed} IS NOT NULL THEN array_to_string(list_filter("
        f"{_list(outcome.names())}, lambda one: list_contains({listed}, one)), ' + ') END"
    )


def _yes_or_no(outcome: YesNo, holds: str) -> str:
    return f"CASE WHEN {holds} THEN {_text(outcome.yes)} WHEN NOT ({holds}) THEN {_text(outcome.no)} END"


def _list(names: tuple[str, ...]) -> str:
    return f"[{', '.join(map(_text, names))}]"


def _text(name: str) -> str:
    """A text as SQL has it."""
    return "'" + name.replace("'", "''") + "'"
