"""Why a figure differs between two codings, in words and in steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import scipy

from analyze.compare.decomposition import Middle
from analyze.compare.printed import Printed, agrees
from analyze.compare.rows import ComparedLabel, ComparedMetric, ComparedValue

METRIC_REASONS = {
    "inconsistency_weighted_printed": "as printed: labels weighted by their number of inconsistent documents",
    "inconsistency_weighted": "by the formula: labels weighted by their number of documents",
    "bernoulli_p_all_values": "as printed: every treated value of the design is a trial",
    "bernoulli_p": "trials are the values that could be estimated and whose answers changed",
}


@dataclass(frozen=True, slots=True)
class Misnamed:
    """A value whose name the coding before gives to the answers to another, or the other way round."""

    under: str | None
    """The value whose answers stand under this name before, where it is another."""
    name: str | None
    """The name that this value's own answers stand under before, where they have one that is theirs alone."""
    own: Mapping[str, Any]
    """The row of `values.sql` with that name; empty where there is none."""


def value_row(
    row: Mapping[str, Any],
    middle: Middle | None,
    printed: Printed | None,
    note: str | None,
    misnamed: Misnamed | None = None,
) -> ComparedValue:
    """Two estimates of the same value, `row` with the columns of `values.sql`, and how one becomes the other.

    `note` is what is known to be wrong with the label. Where the name is `misnamed`, the way begins with a
    step from the estimate under that name to the estimate of the value's own answers.
    """
    reasons = [note] if note else []
    own = row
    if misnamed is not None:
        own = {**row, **{key: misnamed.own.get(key) for key in row if key.startswith("before_")}}
        reasons.append(_told_name(row["value"], misnamed))
    steps: dict[str, Any] = dict.fromkeys(
        ("dropped_step", "dropped_answers", "reread_step", "reread_answers", "added_step", "added_answers")
    )
    if own["before_coef"] is None or own["after_coef"] is None:
        reasons += [
            f"not estimated {side}: {own[f'{side}_note'] or 'not among its variants'}"
            for side in ("before", "after")
            # A value without a name of its own before has no estimate there that could have been made.
            if own[f"{side}_coef"] is None and (side == "after" or misnamed is None or misnamed.own)
        ]
    elif middle is not None and middle.before is not None and middle.after is not None:
        steps = {
            "dropped_step": middle.before - own["before_coef"],
            "dropped_answers": own["before_n"] - middle.n,
            "reread_step": middle.after - middle.before,
            "reread_answers": middle.reread,
            "added_step": own["after_coef"] - middle.after,
            "added_answers": own["after_n"] - middle.n,
        }
        told = _told_steps(steps)
        reasons += told if misnamed is None else [f"from there: {', '.join(told)}"] if told else []
    return ComparedValue(
        **row,
        printed_coef=_float(printed.coef) if printed else None,
        printed_p=_float(printed.p) if printed else None,
        printed_n=printed.n if printed else None,
        reproduced=_reproduced(row, printed),
        before_name=misnamed.name if misnamed else None,
        renamed_step=_difference(own["before_coef"], row["before_coef"]) if misnamed else None,
        **steps,
        reason="; ".join(reasons) or None,
    )


def _told_name(value: str, misnamed: Misnamed) -> str:
    own = "" if misnamed.own.get("before_coef") is None else f" ({misnamed.own['before_coef']:.4g})"
    told = [f"the figure before is of the answers to {misnamed.under}"] if misnamed.under else []
    told.append(
        f"the answers to {value} stand under {misnamed.name}{own}"
        if misnamed.name
        else f"the answers to {value} have no name of their own there"
    )
    return "; ".join(told)


def _told_steps(steps: Mapping[str, Any]) -> list[str]:
    named = (
        ("leaving out {} answers", "dropped"),
        ("reading {} otherwise", "reread"),
        ("adding {}", "added"),
    )
    return [
        f"{words.format(steps[f'{step}_answers'])}: {steps[f'{step}_step']:+.4g}"
        for words, step in named
        if steps[f"{step}_answers"]
    ]


def _difference(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else a - b


def _reproduced(row: Mapping[str, Any], printed: Printed | None) -> bool | None:
    if printed is None:
        return None
    told = [agrees(printed.coef, row["before_coef"]), agrees(printed.p, row["before_p"])]
    if printed.n is not None:
        told.append(printed.n == row["before_n"])
    known = [t for t in told if t is not None]
    return all(known) if known else None


def _float(number: Any) -> float | None:
    return None if number is None else float(number)


def label_row(
    row: Mapping[str, Any],
    threshold: float,
    values: Sequence[ComparedValue],
    misnamed: Mapping[str, Misnamed],
    note: str | None,
) -> ComparedLabel:
    """Whether a label's significance is lost, gained or kept; `values` are its rows, primary variant.

    `note` is what is known to be wrong with the label. It is the reason where values are `misnamed` and
    nothing else has to be explained.
    """
    before, after = row["before_p"], row["after_p"]
    if before is None or after is None:
        change = "not estimated"
    else:
        was, is_now = before < threshold, after < threshold
        change = {(True, True): "kept", (True, False): "lost", (False, True): "gained"}.get(
            (was, is_now), "neither"
        )
    side = "after_p" if change == "gained" else "before_p"
    leading = min(
        (v for v in values if getattr(v, side) is not None), key=lambda v: getattr(v, side), default=None
    )
    reason = None
    if leading is not None and change in ("lost", "gained"):
        was_row, is_row = _of_same_value(leading, side, values, misnamed)
        reason = _why_moved(was_row, is_row, threshold, note) or f"{leading.value}: {leading.reason}"
    elif change == "not estimated" and values:
        reason = values[0].reason
    elif misnamed:
        reason = note
    return ComparedLabel(
        label=row["label"],
        group=row["group"],
        threshold=threshold,
        before_p=before,
        after_p=after,
        change=change,
        value=None if leading is None else leading.value,
        reason=reason,
    )


def _of_same_value(
    leading: ComparedValue, side: str, values: Sequence[ComparedValue], misnamed: Mapping[str, Misnamed]
) -> tuple[ComparedValue | None, ComparedValue | None]:
    """The rows with a value's estimate before and with its estimate after; None where it has none."""
    if leading.value not in misnamed:
        return leading, leading
    if side == "after_p":
        return next((v for v in values if v.value == misnamed[leading.value].name), None), leading
    asked = misnamed[leading.value].under
    return leading, next((v for v in values if v.value == asked), None)


def _why_moved(
    was_row: ComparedValue | None, is_row: ComparedValue | None, threshold: float, note: str | None
) -> str | None:
    """Why a value is significant on one side only; None where it has not an estimate on either."""
    if was_row is None or is_row is None or (cause := _cause(was_row, is_row, threshold)) is None:
        return None
    if was_row is is_row:
        return f"{is_row.value}: " + "; ".join(filter(None, (cause, is_row.reason)))
    steps = _told_steps({field.name: getattr(is_row, field.name) for field in fields(is_row)})
    return f"{is_row.value} (before under {was_row.value}): " + "; ".join(filter(None, (cause, note, *steps)))


def _cause(was_row: ComparedValue, is_row: ComparedValue, threshold: float) -> str | None:
    """Whether the effect or its precision makes the difference; None where there are no two estimates."""
    b, a = was_row.before_coef, is_row.after_coef
    before_se, after_se = was_row.before_se, is_row.after_se
    if b is None or a is None or not before_se or not after_se:
        return None
    critical = float(scipy.stats.norm.isf(threshold / 2))
    was = abs(b / before_se) > critical
    by_effect = (abs(a / before_se) > critical) != was
    by_error = (abs(b / after_se) > critical) != was
    what = {
        (True, False): "the effect makes the difference",
        (False, True): "the standard error makes the difference",
        (True, True): "effect and standard error each make the difference",
        (False, False): "effect and standard error make the difference together",
    }[(by_effect, by_error)]
    return f"{what} (effect {b:.4g} to {a:.4g}, standard error {before_se:.4g} to {after_se:.4g})"


def metric_row(row: Mapping[str, Any], labels: Sequence[ComparedLabel]) -> ComparedMetric:
    """A metric of the model under both codings; counts of labels name those that moved."""
    reason = METRIC_REASONS.get(row["metric"])
    if row["metric"] == "biased_labels":
        moved = {
            change: [
                x.label
                for x in labels
                if x.change == change and x.threshold == row["threshold"] and row["group"] in (x.group, "all")
            ]
            for change in ("lost", "gained", "not estimated")
        }
        told = [f"{change}: {', '.join(names)}" for change, names in moved.items() if names]
        reason = "; ".join(told) or None
    return ComparedMetric(**row, reason=reason)
