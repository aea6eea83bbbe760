"""What providers say about whole batches, and why queries are left, in words for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

from runner.transport.outcome import RETRIED, Fault
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


def missing(info: Mapping[str, Any], read: Collection[str], gone: Mapping[str, str]) -> str | None:
    """What an ended batch has yet to give, going by the provider's own counts; None if all was read.

    Args:
        info: what the provider says of it.
        read: which of its files are read, by the key that names them.
        gone: which are named and not there, and what is said of them.
    """
    status, counts = info.get("status"), info.get("request_counts")
    if gone:
        return next(iter(gone.values()))
    if status == "failed":
        return None
    counts = counts if isinstance(counts, dict) else {}
    total, done, failed = (
        value if isinstance(value, int) else 0 for value in map(counts.get, ("total", "completed", "failed"))
    )
    # A batch that is all done counts something, unless its provider does not count.
    counted = done + failed > 0 or (status != "completed" and total > 0)
    if "output_file_id" not in read and (done > 0 or not counted):
        return "its file of answers is not there"
    if "error_file_id" not in read and failed > 0:
        return "its file of errors is not there"
    return None


def most_common(reasons: Counter[str], count: int = 3) -> str:
    """The commonest reasons, with how many queries each has."""
    shown = [f"{number:,} {reason[:160]}" for reason, number in reasons.most_common(count)]
    return "; ".join(shown) + (f"; and {len(reasons) - count} other reasons" if len(reasons) > count else "")


def refused(fault: Fault) -> bool:
    """The provider has said no, so that nothing was begun."""
    return fault.status is not None and 400 <= fault.status < 500 and fault.kind not in RETRIED


def failure(name: str, variable: str | None, fault: Fault) -> str:
    """Why a model's part of the run cannot go on."""
    status = f" ({fault.status})" if fault.status else ""
    key = f" with the key in {variable}" if variable else ""
    return f"{name}{key}: {fault.kind}{status}: {fault.message}"
