"""What servers say about their limits: `Retry-After`, `x-ratelimit-*` and its cousins, the IETF's headers."""

from __future__ import annotations

import datetime as dt
import math
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from runner.limits.ietf_headers import policies, refused_for, speaks_of_policies

_DURATION = re.compile(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?\Z")
_IN_TEXT = re.compile(
    r"""(?:try\ again\ in|retry\ in|"?retryDelay"?:)\s*"?((?:\d+h)?(?:\d+m(?!s))?(?:\d+(?:\.\d+)?m?s)?)""",
    re.IGNORECASE | re.VERBOSE,
)
MINUTE_S = 60.0
_EPOCH = 1e9  # a number of seconds beyond this is a date, not a duration
_EPOCH_MS = 1e12


@dataclass(frozen=True, slots=True)
class Allowance:
    """One limit as the server states it. `reset_s`: seconds from now."""

    limit: float | None
    remaining: float | None
    reset_s: float | None
    window_s: float | None = None
    """What the limit is for, where the server says so."""

    @property
    def per_minute(self) -> float | None:
        """The limit as a pace; None where it is of a longer time, which may be used up before it is over.

        Without a window, the services that send such headers mean a minute, if it is over within one.
        """
        over_s = self.reset_s if self.window_s is None else self.window_s
        if self.limit is None or not 0 < self.limit < math.inf or over_s is None or over_s > MINUTE_S:
            return None
        return self.limit if self.window_s is None else self.limit * MINUTE_S / self.window_s

    @property
    def pause_s(self) -> float | None:
        """Seconds for which nothing more may be sent; None where something remains."""
        return self.reset_s if self.remaining is not None and self.remaining < 1 else None


def duration(text: str, now: float) -> float | None:
    """Seconds meant by '1.5', '6m0s', '12ms', an HTTP or ISO date, or a Unix time; None when unreadable.

    `now` is a Unix time.
    """
    text = text.strip()
    try:
        number = float(text)
    except ValueError:
        pass
    else:
        if not 0 <= number < math.inf:
            return None
        if number > _EPOCH_MS:
            number = number / 1000 - now
        elif number > _EPOCH:
            number -= now
        return max(number, 0.0)
    if text and (match := _DURATION.match(text)):
        days, hours, minutes, seconds, millis = (float(part or 0) for part in match.groups())
        total = days * 86400 + hours * 3600 + minutes * 60 + seconds + millis / 1000
        return total if total < math.inf else None
    return _date(text, now)


def _date(text: str, now: float) -> float | None:
    for read in (dt.datetime.fromisoformat, parsedate_to_datetime):
        try:
            when = read(text)
            if when.tzinfo is None:
                when = when.replace(tzinfo=dt.UTC)
            return max(when.timestamp() - now, 0.0)
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
    return None


def retry_after(
    headers: Mapping[str, str], body: str = "", now: float | None = None, *, is_refusal: bool = False
) -> float | None:
    """Seconds to stay away, from the headers or, where they are silent, from the error text.

    Args:
        is_refusal: the reply is a 429, so that what it says about its limits is the reason.
    """
    now = time.time() if now is None else now
    if (millis := headers.get("retry-after-ms")) is not None:
        number = _number(millis)
        if number is not None and number < math.inf:
            return max(number, 0.0) / 1000
    if (value := headers.get("Retry-After")) is not None and (seconds := duration(value, now)) is not None:
        return seconds
    if body and (match := _IN_TEXT.search(body)) and match[1]:
        return duration(match[1], now)
    return _from_now(refused_for(headers), now) if is_refusal else None


_FAMILIES = (
    ("x-ratelimit-limit-{}", "x-ratelimit-remaining-{}", "x-ratelimit-reset-{}"),
    ("anthropic-ratelimit-{}-limit", "anthropic-ratelimit-{}-remaining", "anthropic-ratelimit-{}-reset"),
)
_NAMES = {
    what: [tuple(name.format(what) for name in family) for family in _FAMILIES]
    for what in ("requests", "tokens")
}
_NAMES["requests"].append(("x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"))


def speaks_of_limits(headers: Mapping[str, str]) -> bool:
    """A cheap look, for the path of every answer."""
    return (
        "x-ratelimit-remaining-requests" in headers
        or "x-ratelimit-remaining-tokens" in headers
        or "x-ratelimit-remaining" in headers
        or "anthropic-ratelimit-requests-remaining" in headers
        or "anthropic-ratelimit-tokens-remaining" in headers
        or speaks_of_policies(headers)
    )


def allowance(headers: Mapping[str, str], what: str, now: float | None = None) -> Allowance | None:
    """What the headers say about 'requests' or 'tokens'; None when they are silent."""
    now = time.time() if now is None else now
    found = []
    for limit, remaining, reset in _NAMES[what]:
        if limit in headers or remaining in headers:
            reset_text = headers.get(reset)
            reset_s = None if reset_text is None else duration(reset_text, now)
            found.append(Allowance(_number(headers.get(limit)), _number(headers.get(remaining)), reset_s))
            break
    if speaks_of_policies(headers):
        found += [
            Allowance(
                None if one.counts == "other" else one.quota,
                one.remaining,
                _from_now(one.wait_s, now),
                one.window_s or math.inf,
            )
            for one in policies(headers)
            if (one.counts == "tokens") == (what == "tokens")
        ]
    return _strictest(found) if found else None


def _strictest(stated: list[Allowance]) -> Allowance:
    """What is left by several limits at once: the longest pause, and the slowest pace."""
    if len(stated) == 1:
        return stated[0]
    least = min(stated, key=lambda one: (-(one.pause_s or 0.0), _or_inf(one.remaining)))
    slowest = min(stated, key=lambda one: _or_inf(one.per_minute))
    pace = slowest.per_minute
    if pace is None:
        return Allowance(least.limit, least.remaining, least.reset_s, math.inf)
    return Allowance(pace, least.remaining, least.reset_s, MINUTE_S)


def _or_inf(value: float | None) -> float:
    return math.inf if value is None else value


def _from_now(seconds: float | None, now: float) -> float | None:
    """Seconds from now; some servers write a Unix time in their place."""
    return None if seconds is None else duration(str(seconds), now)


def _number(text: str | None) -> float | None:
    """A number, never NaN; None for anything else."""
    try:
        number = math.nan if text is None else float(text)
    except ValueError:
        return None
    return None if math.isnan(number) else number
