"""The scripted judge with a ledger of all that it served, made to fail in every way that a provider does.

GET  /ledger, /ledger?full      and all that the scripted judge has
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import orjson

from evenhand.simulate.http import Connection, Request, reply
from evenhand.simulate.judge import Asked, SimulatedJudge
from evenhand.simulate.prompts import PromptBook
from evenhand.simulate.script import Script
from tests.servers.fault_replies import carry_out
from tests.servers.faults import FaultPlan, Faults, Verdict
from tests.servers.ledger import Ledger, prompt_key


class FaultyJudge(SimulatedJudge):
    """The server, as `SimulatedJudge` is.

    Args:
        script, prompts, port: as there.
        faults: what goes wrong; nothing by default.
    """

    def __init__(
        self, script: Script, prompts: PromptBook, faults: FaultPlan | None = None, port: int = 0
    ) -> None:
        super().__init__(script, prompts, port)
        self.ledger = Ledger()
        self.faults = None if faults is None else Faults(faults, self.ledger)

    def handle(self, connection: Connection, request: Request) -> None:
        """Answer one request to any path."""
        if request.path.startswith("/ledger"):
            connection.send(reply(200, orjson.dumps(self._accounts("full" in request.path))))
        else:
            super().handle(connection, request)

    def refused(self, known: int, seed: int | None) -> None:
        """Note a prompt that is not in the book."""
        self.ledger.record(prompt_key(known, seed), "unknown_prompt")

    def prepare(self, connection: Connection, asked: Asked) -> Callable[[], object]:
        """Decide at once what becomes of a request; the result does it, when its time has come."""
        key = prompt_key(asked.digest, asked.seed)
        self.ledger.in_flight += 1
        self.ledger.peak_in_flight = max(self.ledger.peak_in_flight, self.ledger.in_flight)
        if self.faults is None:
            return partial(self._answer, connection, reply(200, asked.answer), partial(self._finished, key))
        api_key, used = asked.api_key(), asked.prompt_tokens + asked.completion_tokens
        verdict = self.faults.judge(
            key, api_key, asked.model, asked.prompt_tokens, asked.most_tokens, time.monotonic()
        )
        finished = partial(self._settled, api_key, asked.model, verdict, used, key)
        if verdict.kind == "answered":
            good = reply(200, asked.answer, verdict.headers)
            return partial(self._answer, connection, good, finished)
        return partial(
            carry_out, connection, verdict, self.faults.plan, asked.answer, api_key, asked.number, finished
        )

    def _answer(self, connection: Connection, good: bytes, finished: Callable[[str], None]) -> None:
        finished("answered" if connection.open else "gone")
        connection.send(good)

    def _finished(self, key: int, kind: str) -> None:
        self.ledger.in_flight -= 1
        self.ledger.record(key, kind)

    def _settled(self, api_key: str, model: str, verdict: Verdict, used: int, key: int, kind: str) -> None:
        assert self.faults is not None
        self.faults.settle(api_key, model, verdict.charge, used, time.monotonic())
        self._finished(key, kind)

    def _accounts(self, full: bool) -> dict[str, Any]:
        accounts = self.ledger.summary() | {"served": self.served}
        if self.faults is not None:
            # By the order in which they came: a key must not be shown.
            accounts["lanes"] = [
                {
                    "model": model,
                    "accepted": window.accepted,
                    "refused_requests": window.refused_requests,
                    "refused_tokens": window.refused_tokens,
                    "tokens": window.tokens,
                    "seconds": window.last_at - (window.first_at or window.last_at),
                }
                for (_, model), window in self.faults.windows.items()
            ]
        if full:
            accounts["history"] = {f"{key:x}": kinds.decode() for key, kinds in self.ledger.history.items()}
        return accounts
