"""What can come of one request: an answer of four outcomes, or a fault whose kind decides what is next."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from runner.transport.usage import Usage

_CHANGING = re.compile(r"\b[0-9a-f-]{8,}\b|\d+")
"""Parts of a message that say which request it is about."""


class Kind(StrEnum):
    """What a request came to; tries are counted by these. `failure_policy` says what each means."""

    RATE_LIMITED = "rate_limited"
    OVERLOADED = "overloaded"
    TIMEOUT = "timeout"
    CONNECTION = "connection"
    SERVER_ERROR = "server_error"
    BAD_BODY = "bad_body"
    NO_CHOICES = "no_choices"
    BAD_KEY = "bad_key"
    NO_MONEY = "no_money"
    NO_MODEL = "no_model"
    REDIRECTED = "redirected"
    CONTEXT_OVERFLOW = "context_overflow"
    REJECTED = "rejected"


@dataclass(slots=True)
class Answer:
    """What the model said. `cost_usd` only where the provider itself states it."""

    outcome: str
    """answered, refused, empty or truncated"""
    text: str
    reasoning: str | None = None
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None = None
    cache_write_tokens: int | None = None
    cost_usd: float | None = None
    model: str | None = None
    fingerprint: str | None = None


@dataclass(slots=True)
class Fault:
    """Why there is no answer. The message is redacted."""

    kind: Kind
    message: str
    status: int | None = None
    retry_after: float | None = None
    """Seconds, where the server said so."""
    unreached: bool = False
    """No connection was made: refused, unanswered, or the host's name is not known."""
    usage: Usage | None = None
    """What the reply stated of its use: a try that gave no answer may have been paid for."""

    @property
    def at_the_query(self) -> bool:
        """The server took the query and failed at it, rather than being gone, too busy or out of reach.

        A body that breaks off (it has no status) is a connection that breaks: nobody is to blame for that.
        """
        unreadable = self.kind is Kind.BAD_BODY and self.status is not None
        return unreadable or self.kind is Kind.NO_CHOICES or self.status == 500

    @property
    def alike(self) -> str:
        """The message without what tells one request from another: equal where the reason is."""
        return _CHANGING.sub("#", self.message)

    @property
    def reason(self) -> str:
        """Status (of an error) or kind, and message, for people."""
        failed = self.status is not None and self.status >= 400
        return f"{f'HTTP {self.status}' if failed else self.kind}: {self.message}"
