"""What providers say about whole batches, and why queries are left, in words for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from runner.batch.lines import Ledger
from runner.transport.outcome import Fault
from runner.transport.redact import Redactor

ENDED = frozenset({"completed", "failed", "expired", "cancelled", "canceled"})
"""States of which a batch does not come back."""


def _listed(info: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    errors = info.get("errors")
    listed = errors.get("data") if isinstance(errors, dict) else errors
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


def errors(info: Mapping[str, Any], redactor: Redactor) -> str:
    """What the provider says is wrong with the batch as a whole."""
    words = [f"{one.get('code') or 'error'}: {one.get('message') or ''}" for one in _listed(info)[:3]]
    return redactor.clean("; ".join(words)) if words else ""


def too_much_queued(info: Mapping[str, Any]) -> bool:
    """Whether it failed as the account may not have so many tokens waiting at once."""
    return any(
        "token_limit" in str(one.get("code")) or "nqueued" in str(one.get("message")) for one in _listed(info)
    )


FILES = ("output_file_id", "error_file_id")
"""By which an ended batch names its files: of answers, and of errors."""
_COUNTS = {"output_file_id": "completed", "error_file_id": "failed"}


def _counts(info: Mapping[str, Any]) -> dict[str, int] | None:
    """How many queries the provider says have ended, by file; None where it does not count."""
    counts = info.get("request_counts")
    counts = counts if isinstance(counts, dict) else {}
    known = {name: value for name, value in counts.items() if type(value) is int and value >= 0}
    ended = {what: known.get(name, 0) for what, name in _COUNTS.items()}
    # A batch that is all done counts something, unless its provider does not count.
    if sum(ended.values()) > 0 or (info.get("status") != "completed" and known.get("total", 0) > 0):
        return ended
    return None


def whole(info: Mapping[str, Any], what: str, ledger: Ledger) -> bool:
    """Whether a file held as many results as the provider counts."""
    counts = _counts(info)
    return counts is not None and what in ledger.contents and len(ledger.contents[what].ours) >= counts[what]


def missing(
    info: Mapping[str, Any], ledger: Ledger, named: Sequence[str], gone: Mapping[str, str]
) -> str | None:
    """What an ended batch has yet to give, going by the provider's own counts; None if all came.

    Args:
        info: what the provider says of it.
        ledger: what came.
        named: which of its files the provider names.
        gone: which of those are not there, and what is said of them.
    """
    silent = ledger.silent()
    if not silent or info.get("status") == "failed":  # a failed batch has asked nothing
        return None
    counts = _counts(info)
    if counts is not None:
        due = min(sum(counts.values()), ledger.asked)
    else:
        seems_whole = info.get("status") != "completed" and named and not gone and not ledger.strange
        due = 0 if seems_whole else ledger.asked
    came = ledger.asked - silent
    if came >= due:
        return None
    if gone:
        return next(iter(gone.values()))
    short = counts or {"output_file_id": 1, "error_file_id": 0}
    parts = [
        one.describe()
        for what, one in ledger.contents.items()
        if what in named and not whole(info, what, ledger)
    ]
    names = {"output_file_id": "answers", "error_file_id": "errors"}
    parts += [
        f"its file of {name} is not there"
        for what, name in names.items()
        if what not in named and short[what]
    ][:1]
    return f"{' and '.join(parts)}; {due - came:,} of {due:,} results are missing"


def most_common(reasons: Counter[str], count: int = 3) -> str:
    """The commonest reasons, with how many queries each has."""
    shown = [f"{number:,} {reason[:160]}" for reason, number in reasons.most_common(count)]
    return "; ".join(shown) + (f"; and {len(reasons) - count} other reasons" if len(reasons) > count else "")


def failure(name: str, variable: str | None, fault: Fault) -> str:
    """Why a model's part of the run cannot go on."""
    status = f" ({fault.status})" if fault.status else ""
    key = f" with the key in {variable}" if variable else ""
    return f"{name}{key}: {fault.kind}{status}: {fault.message}"
