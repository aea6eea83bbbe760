"""Identities: every key of a study is made here and nowhere else.

Hashed keys are the first 16 bytes of a SHA-256 over a JSON array. JSON is the encoding because it is
unambiguous (`["a","b"]` and `["ab",""]` differ, as joined strings need not) and any language can repeat it.
Changing anything in this module orphans the answers of every existing study.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import threading
import time
import uuid
from collections.abc import Mapping
from typing import Any

_clock = threading.Lock()
_last_stamp = 0
_noise = random.Random()  # seeded by the system; asking it for each id costs a system call and the GIL
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_noise.seed)

# `json.dumps` with these settings would make a new encoder for each of an import's 177,100 queries.
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True, allow_nan=False).encode


def _digest(kind: str, *parts: Any) -> bytes:
    """The first 16 bytes of the SHA-256 of `[kind, *parts]` as canonical JSON; `kind` keeps domains apart."""
    return hashlib.sha256(_encode([kind, *parts]).encode("utf-8", "surrogatepass")).digest()[:16]


BASE_ARM = "base"
"""The arm of a query that is asked with the domain's own instructions."""


def query_id(
    collection: str,
    doc_id: str,
    label: str | None,
    value: str | None,
    prompt_hash: str | None,
    arm: str = BASE_ARM,
) -> uuid.UUID:
    """The identity of a question.

    An imported query has no prompt: its `prompt_hash` is None. A query of the groups design has no label
    and no value. These, and queries of arms other than the base, have a tag of their own in the hash; all
    others are hashed as they were before there were any.
    """
    if label is None or arm != BASE_ARM:
        tag = "query as it is" if label is None else "query of an arm"
        return uuid.UUID(bytes=_digest(tag, collection, doc_id, label, value, prompt_hash, arm))
    return uuid.UUID(bytes=_digest("query", collection, doc_id, label, value, prompt_hash))


def prompt_hash(system_text: str | None, user_text: str) -> str:
    """32 hex digits of the whole prompt as it is sent (system text and filled user text)."""
    return _digest("prompt", system_text, user_text).hex()


def template_hash(system_text: str | None, user_text: str, answer_schema: Mapping[str, Any] | None) -> str:
    """32 hex digits of a template: its texts, unfilled, and the schema that answers are held to."""
    return _digest("template", system_text, user_text, answer_schema).hex()


def model_key(settings: Mapping[str, Any]) -> str:
    """32 hex digits of everything that can change an answer.

    `settings` holds the canonical model name, temperature, top_p, max_tokens, seed, system text, response
    format, reasoning settings, extra body; never limits, prices, keys or routes. Entries that are None count
    as absent, so that a setting added later does not change the key of a model that does not use it.

    Raises:
        ValueError: a number is not finite.
        TypeError: a value has no JSON form.
    """
    return _digest("model", {key: value for key, value in settings.items() if value is not None}).hex()


def import_prediction_id(source_hash: str, source_row: int) -> uuid.UUID:
    """The identity of an imported answer: importing the same file again makes the same ids."""
    return uuid.UUID(bytes=_digest("import", source_hash, source_row))


def batch_row_id(batch: uuid.UUID, query: uuid.UUID, repeat: int) -> uuid.UUID:
    """The identity of what a batch brought for a query: fetching it again makes the same id."""
    return uuid.UUID(bytes=_digest("batch", str(batch), str(query), repeat))


def batch_cost_id(batch: uuid.UUID, query: uuid.UUID | None, repeat: int | None) -> uuid.UUID:
    """The identity of what a failed try in a batch cost; without a query, of what the rest of it may have."""
    return uuid.UUID(bytes=_digest("batch cost", str(batch), None if query is None else str(query), repeat))


def new_prediction_id() -> uuid.UUID:
    """A fresh, time-ordered identity (UUID version 7) for an answer, a failure or a run.

    Within a process ids rise strictly, also when the clock steps back, so that "the newest row" is well
    defined among rows of one instant.
    """
    stamp, noise = _next_stamp(1), _noise.getrandbits(62)
    return uuid.UUID(int=(stamp >> 12) << 80 | 0x7 << 76 | (stamp & 0xFFF) << 64 | 0b10 << 62 | noise)


def new_prediction_ids(count: int) -> bytes:
    """So many such identities, 16 bytes each: for the rows of a commit, at a tenth of the cost."""
    import numpy as np  # noqa: PLC0415  (most who need identities do not need it)

    stamps = np.arange(count, dtype=np.uint64) + np.uint64(_next_stamp(count))
    ids = np.empty((count, 2), dtype=">u8")
    ids[:, 0] = (stamps >> np.uint64(12)) << np.uint64(16) | np.uint64(0x7000) | stamps & np.uint64(0xFFF)
    noise = np.frombuffer(_noise.randbytes(8 * count), np.uint64)
    ids[:, 1] = np.uint64(0b10 << 62) | noise >> np.uint64(2)
    return ids.tobytes()


def _next_stamp(count: int) -> int:
    """The first of so many stamps that follow each other and all that were given before.

    60 bits: milliseconds and, in the 12 bits of rand_a, their fraction (RFC 9562, method 3).
    """
    global _last_stamp  # noqa: PLW0603  (the clock of the process)
    with _clock:
        first = max((time.time_ns() << 12) // 1_000_000, _last_stamp + 1)
        _last_stamp = first + count - 1
    return first
