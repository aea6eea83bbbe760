"""What a run needs of the way to a model: send one body, bring an answer or a fault. HTTP is one such way."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Protocol

from runner.transport.address import Address
from runner.transport.outcome import Answer, Fault


@dataclass(slots=True)
class Sent:
    """What one request came to. `latency_s` is from sending to the last byte, or to the fault."""

    result: Answer | Fault
    latency_s: float
    headers: Mapping[str, str] = field(default_factory=dict)
    """Of the reply, as far as it came: what the server says about its limits stands there."""


class Transport(Protocol):
    """The way to one address. It never retries and knows no limits: those are the caller's."""

    async def ask(self, body: bytes) -> Sent:
        """Send one body and read the reply. Raises nothing but CancelledError, which ends the request."""

    async def close(self) -> None:
        """End its connections."""


class Transports(Protocol):
    """Makes the transports of a run, which are closed before what made them is left."""

    def __call__(self, address: Address) -> Transport:
        """The transport to an address."""


OpenTransports = AbstractAsyncContextManager[Transports]
