"""Why a figure differs between two codings, in words and in steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scipy import stats

from analyze.compare.bridge import Middle
from analyze.compare.printed import Printed, agrees
from analyze.compare.rows import ComparedLabel, ComparedMetric, ComparedValue

METRIC_REASONS = {
    "inconsistency_weighted_printed": "as printed: labels weighted by their number of inconsistent documents",
    "inconsistency_weighted": "by the formula: labels weighted by their number of documents",
    "bernoulli_p_all_values": "as printed: every treated value of the design is a trial",
    "bernoulli_p": "trials are the values that could be estimated and whose answers changed",
}


def value_row(
    row: Mapping[str, Any], middle: Middle | None, printed: Printed | None, note: str | None
) -> ComparedValue:
    """Two estimates of the same value, `row` with the columns of `values.sql`, and how one becomes the other.

    `note` is what is known to be wrong with the label; it is given where the two differ.
    """
    steps: dict[str, Any] = dict.fromkeys(
        ("dropped_step", "dropped_answers", "reread_step", "reread_answers", "added_step", "added_answers")
    )
    before, after = row["before_coef"], row["after_coef"]
    reasons = []
    if before is None or after is None:
        for side in ("before", "after"):
            if row[f"{side}_coef"] is None:
                reasons.append(f"not estimated {side}: {row[f'{side}_note'] or 'not among its variants'}")
    elif middle is not None and middle.before is not None and middle.after is not None:
        steps = {
            "dropped_step": middle.before - before,
            "dropped_answers": row["before_n"] - middle.n,
            "reread_step": middle.after - middle.before,
            "reread_answers": middle.reread,
            "added_step": after - middle.after,
            "added_answers": row["after_n"] - middle.n,
        }
        named = (
            ("leaving out {} answers", "dropped"),
            ("reading {} otherwise", "reread"),
            ("adding {}", "added"),
        )
        reasons = [
            f"{words.format(steps[f'{step}_answers'])}: {steps[f'{step}_step']:+.4g}"
            for words, step in named
            if steps[f"{step}_answers"]
        ]
    if note:
        # What is known to be wrong with the figure under `before` explains a difference before any step does.
        reasons.insert(0, note)
    return ComparedValue(
        **row,
        printed_coef=_float(printed.coef) if printed else None,
        printed_p=_float(printed.p) if printed else None,
        printed_n=printed.n if printed else None,
        reproduced=_reproduced(row, printed),
        **steps,
        reason="; ".join(reasons) or None,
    )


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


def label_row(row: Mapping[str, Any], threshold: float, values: Sequence[ComparedValue]) -> ComparedLabel:
    """Whether a label's significance is lost, gained or kept; `values` are its rows, primary variant."""
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
        reason = f"{leading.value}: {_cause(leading, threshold)}"
    elif change == "not estimated" and values:
        reason = values[0].reason
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


def _cause(value: ComparedValue, threshold: float) -> str:
    """Whether the effect or its precision makes the difference, and by which answers."""
    b, a = value.before_coef, value.after_coef
    if b is None or a is None or not value.before_se or not value.after_se:
        return value.reason or "not estimated under one coding"
    critical = float(stats.norm.isf(threshold / 2))
    was = abs(b / value.before_se) > critical
    by_effect = (abs(a / value.before_se) > critical) != was
    by_error = (abs(b / value.after_se) > critical) != was
    what = {
        (True, False): "the effect makes the difference",
        (False, True): "the standard error makes the difference",
        (True, True): "effect and standard error each make the difference",
        (False, False): "effect and standard error make the difference together",
    }[(by_effect, by_error)]
    told = f"{what} (effect {b:.4g} to {a:.4g}, standard error {value.before_se:.4g} to {value.after_se:.4g})"
    return f"{told}; {value.reason}" if value.reason else told


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
