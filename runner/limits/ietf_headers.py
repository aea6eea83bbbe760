"""The rate limit headers of the IETF, in the forms of all its drafts (draft-ietf-httpapi-ratelimit-headers).

    RateLimit-Limit: 100, 100;w=60     RateLimit-Remaining: 0     RateLimit-Reset: 5     (up to draft 6)
    RateLimit: limit=100, remaining=0, reset=5     RateLimit-Policy: 100;w=60            (draft 7)
    RateLimit: "default";r=0;t=5     RateLimit-Policy: "default";q=100;w=60;qu="requests" (draft 8 and later)

Times are seconds from now. Several policies can stand in one header, or in several lines of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from multidict import MultiMapping

_LONGEST = 4_000
"""Characters of a header that are looked at."""
_HEADERS = ("ratelimit", "ratelimit-policy", "ratelimit-limit", "ratelimit-remaining", "ratelimit-reset")


@dataclass(slots=True)
class Policy:
    """One limit. None for what is not stated."""

    quota: float | None = None
    window_s: float | None = None
    remaining: float | None = None
    reset_s: float | None = None
    counts: Literal["requests", "tokens", "other"] = "requests"
    """What it counts: other things, such as bytes or open requests, have no pace that could be kept."""

    @property
    def is_exhausted(self) -> bool:
        """Nothing more may be sent before it is reset."""
        return self.remaining is not None and self.remaining < 1

    @property
    def wait_s(self) -> float | None:
        """Seconds until it is reset: where that is not stated, a whole window."""
        return self.window_s if self.reset_s is None else self.reset_s


@dataclass(slots=True)
class _Member:
    """One member of a list: its name or number, and its parameters."""

    name: str
    parameters: dict[str, str] = field(default_factory=dict)


def speaks_of_policies(headers: Mapping[str, str]) -> bool:
    """A cheap look, for the path of every answer."""
    return "ratelimit" in headers or "ratelimit-remaining" in headers or "ratelimit-policy" in headers


def policies(headers: Mapping[str, str]) -> list[Policy]:
    """What the headers say, a policy each; empty where they are silent."""
    texts = {name: text for name in _HEADERS if (text := _text(headers, name))}
    if not texts:
        return []
    found: dict[str, Policy] = {}
    limits = _members(texts.get("ratelimit-limit", ""))
    for member in [*_members(texts.get("ratelimit-policy", "")), *limits[1:]]:
        _policy(found, member)
    remaining, reset = (
        [_number(member.name) for member in _members(texts.get(name, ""))]
        for name in ("ratelimit-remaining", "ratelimit-reset")
    )
    stated = Policy(
        quota=_number(limits[0].name) if limits else None, remaining=_least(remaining), reset_s=_most(reset)
    )
    for member in _members(texts.get("ratelimit", "")):
        key, _, value = member.name.partition("=")
        told = {**member.parameters, key.strip().lower(): value.strip()}
        if {"limit", "remaining", "reset"} & told.keys():  # of draft 7, about the one policy there is
            stated.quota = _first(_number(told.get("limit")), stated.quota)
            stated.remaining = _first(_number(told.get("remaining")), stated.remaining)
            stated.reset_s = _first(_number(told.get("reset")), stated.reset_s)
        else:
            policy = _policy(found, member)
            policy.remaining = _first(_number(told.get("r")), policy.remaining)
            policy.reset_s = _first(_number(told.get("t")), policy.reset_s)
    return _with_stated(list(found.values()), stated)


def _with_stated(listed: list[Policy], stated: Policy) -> list[Policy]:
    """The policies, one of which may be what headers without a name of it are about."""
    if stated.quota is None and stated.remaining is None and stated.reset_s is None:
        return listed
    alike = [one for one in listed if stated.quota in (None, one.quota) and one.remaining is None]
    if len(alike) != 1:
        return [*listed, stated]
    alike[0].remaining, alike[0].reset_s = stated.remaining, stated.reset_s
    return listed


def refused_for(headers: Mapping[str, str]) -> float | None:
    """Seconds for which a server that refused a request wants none; None if it does not say.

    Of policies that say how much remains, only the exhausted ones count.
    """
    listed = policies(headers)
    exhausted = [policy.wait_s for policy in listed if policy.is_exhausted]
    return _most(exhausted or [policy.reset_s for policy in listed if policy.remaining is None])


def _policy(found: dict[str, Policy], member: _Member) -> Policy:
    """The policy that a member names, with what it adds to it. Older drafts have a quota for a name."""
    policy = found.setdefault(member.name.lower(), Policy())
    parameters = member.parameters
    policy.quota = _first(_number(parameters.get("q")), _number(member.name), policy.quota)
    window = _number(parameters.get("w"))
    policy.window_s = _first(window if window else None, policy.window_s)
    unit = parameters.get("qu", "").lower()
    if "token" in (unit or member.name.lower()):
        policy.counts = "tokens"
    elif unit and unit != "requests":
        policy.counts = "other"
    return policy


def _text(headers: Mapping[str, str], name: str) -> str:
    """A header, all its lines together."""
    if isinstance(headers, MultiMapping):
        return ", ".join(headers.getall(name, []))[:_LONGEST]
    return next((text for key, text in headers.items() if key.lower() == name), "")[:_LONGEST]


def _members(text: str) -> list[_Member]:
    found = []
    for part in _split(text, ","):
        name, *parameters = _split(part, ";") or [""]
        pairs = (parameter.partition("=") for parameter in parameters)
        values = {key.strip().lower(): value.strip().strip('"') for key, _, value in pairs}
        found.append(_Member(name.strip('"'), values))
    return found


def _split(text: str, mark: str) -> list[str]:
    """The parts between marks that are not within quotes."""
    parts, start, quoted = [], 0, False
    for at, character in enumerate(text):
        if character == '"':
            quoted = not quoted
        elif character == mark and not quoted:
            parts.append(text[start:at])
            start = at + 1
    return [part.strip() for part in [*parts, text[start:]] if part.strip()]


def _number(text: str | None) -> float | None:
    """A number that is not negative; None for anything else."""
    try:
        number = math.nan if text is None else float(text)
    except ValueError:
        return None
    return number if 0 <= number < math.inf else None


def _first(*values: float | None) -> float | None:
    return next((value for value in values if value is not None), None)


def _least(values: Iterable[float | None]) -> float | None:
    return min((value for value in values if value is not None), default=None)


def _most(values: Iterable[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)
