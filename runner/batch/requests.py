"""Files of requests for a batch: a line for each pending query, within what providers accept."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import orjson

from runner.lifecycle.budget import Dearest
from runner.providers.file import Route
from runner.providers.settings import ModelSettings
from runner.transport.request import Bodies

if TYPE_CHECKING:
    from store.pending_queries import PendingQuery

MOST_REQUESTS = 50_000
"""Of one batch, as OpenAI documents it."""
MOST_BYTES = 200_000_000
"""Of one file, as OpenAI documents it."""
_BUFFER = 2**20


@dataclass(slots=True)
class Piece:
    """What one file asks."""

    items: list[tuple[uuid.UUID, int]] = field(default_factory=list)
    size: int = 0
    """Bytes."""
    dearest_usd: float = 0.0
    """If every answer were as long as max_tokens allows."""


@dataclass(slots=True)
class Allowance:
    """What may still be spent, in US dollars, over all models of a run; None: anything."""

    left: float | None = None
    wanted: float = 0.0
    """What the last query that it did not pay for might have cost."""


class Pieces:
    """Cuts the pending queries of a model into files, as many as the allowance pays for at their dearest."""

    def __init__(
        self,
        cursor: Iterator[PendingQuery],
        settings: ModelSettings,
        route: Route,
        *,
        allowance: Allowance,
        longest_answer: int = 0,
    ) -> None:
        self.too_dear = False
        """Queries are left that the allowance does not pay for."""
        self.wanted = 0.0
        """What the first of those might cost, in US dollars."""
        self.halt = False
        """Set to end the writing."""
        self._allowance = allowance
        self._cursor = cursor
        self._bodies = Bodies(settings, route)
        self._endpoint = endpoint(route)
        self._max_tokens = settings.max_tokens
        self._money = Dearest(route.prices, longest_answer=longest_answer, share=1 - route.batch_discount)
        self._held: PendingQuery | None = None

    def write(self, path: Path) -> Piece:
        """Write the next file; nothing is written into it when nothing (affordable) is left."""
        piece = Piece()
        self.too_dear = False
        with path.open("wb", buffering=_BUFFER) as file:
            while len(piece.items) < MOST_REQUESTS and not self.halt:
                query = self._next()
                if query is None:
                    break
                line = self._line(query)
                dearest = self._dearest(query)
                if piece.items and piece.size + len(line) > MOST_BYTES:
                    self._held = query
                    break
                if self._allowance.left is not None:
                    if dearest > self._allowance.left:
                        self._held = query
                        self.too_dear = True
                        self.wanted = self._allowance.wanted = dearest
                        break
                    self._allowance.left -= dearest
                file.write(line)
                piece.items.append((query.query_id, query.repeat))
                piece.size += len(line)
                piece.dearest_usd += dearest
        return piece

    def _next(self) -> PendingQuery | None:
        held, self._held = self._held, None
        return held if held is not None else next(self._cursor, None)

    def _line(self, query: PendingQuery) -> bytes:
        return orjson.dumps(
            {
                "custom_id": custom_id(query.query_id, query.repeat),
                "method": "POST",
                "url": self._endpoint,
                "body": self._bodies.plain(query),
            },
            option=orjson.OPT_APPEND_NEWLINE,
        )

    def _dearest(self, query: PendingQuery) -> float:
        """US dollars."""
        prompt = len(query.user_text.encode()) + len((query.system_text or "").encode())
        return self._money.of(prompt, 1.0, self._max_tokens)


def custom_id(query: uuid.UUID, repeat: int) -> str:
    """The name of a request in its batch, from which the query and its repeat can be read again."""
    return f"{query.hex}-{repeat}"


def read_custom_id(text: object) -> tuple[uuid.UUID, int] | None:
    """The query and the repeat; None for anything that `custom_id` does not make."""
    if not isinstance(text, str):
        return None
    query, _, repeat = text.partition("-")
    try:
        found = (uuid.UUID(hex=query), int(repeat))
    except ValueError:
        return None
    return found if custom_id(*found) == text else None


def endpoint(route: Route) -> str:
    """What a batch says is to be called: as OpenAI has it, with the version that the base URL ends in."""
    version = urlsplit(route.base_url or "").path.rsplit("/", 1)[-1]
    return f"/{version if version[:1] == 'v' and version[1:2].isdigit() else 'v1'}/chat/completions"
