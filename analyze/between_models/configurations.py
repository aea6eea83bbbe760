"""What a model is called where several of its configurations stand side by side.

A model that was asked with reasoning and without is two models to the analysis, of one name. They are named
by the settings that differ (`reasoning=on`), and by the beginning of the key only where nothing else tells
them apart.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from store.identity import BASE_ARM

APART = frozenset({"model", "kind", "temperature"})
"""Settings that have a place of their own beside the name."""
_BODY = "extra_body"
_LONGEST = 40
_KEY = 6
_DATED = re.compile(r"[-_@](\d{8}|\d{6}|\d{4}-\d{2}-\d{2}|\d{2}-\d{4}|\d{2}-\d{2}|\d{4}|\d{3})$")
_SERVED = re.compile(r":(?:latest|free|nitro|floor|online|extended)$|\.gguf$")


@dataclass(frozen=True, slots=True)
class Configuration:
    """A model as it was asked to answer a collection, in an arm."""

    collection: str
    model_key: str
    model: str
    temperature: float | None
    settings: Mapping[str, Any]
    arm: str = BASE_ARM


@dataclass(frozen=True, slots=True)
class Called:
    """A configuration's name, and the part of it that settings other than the temperature make up."""

    name: str
    settings: str


def flat(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that have a value, those of the request's body among them; no temperature."""
    found = {key: value for key, value in settings.items() if key not in APART and value is not None}
    body = found.pop(_BODY, None)
    if isinstance(body, Mapping):
        found |= {f"body.{key}" if key in found else key: value for key, value in body.items()}
    elif body is not None:
        found[_BODY] = body
    return found


def said(value: object) -> str:
    """A setting's value, for people; a long one is cut."""
    if value is None:
        return "not set"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def differing(of: Iterable[Mapping[str, Any]]) -> list[str]:
    """The settings, of several configurations, that are not the same in all of them."""
    known = list(of)
    names = dict.fromkeys(name for settings in known for name in settings)
    return [name for name in names if len({_exact(settings.get(name)) for settings in known}) > 1]


def told(of: Sequence[Mapping[str, Any]]) -> list[str]:
    """Each configuration by the settings in which it differs from any of the others."""
    chosen = differing(of)
    return [", ".join(_setting(key, settings.get(key)) for key in chosen) for settings in of]


def called(rows: Sequence[Configuration]) -> list[Called]:
    """A name for each: the model, and as much as is needed to tell it from the others.

    An arm other than the base is always told: its figures are of other instructions than the domain's own.
    """
    names = [row.model for row in rows]
    for addition in (
        [f"T = {r.temperature:g}" if r.temperature is not None else "T not set" for r in rows],
        [row.collection for row in rows],
    ):
        names = _joined(names, addition)
    names = [
        name if row.arm == BASE_ARM else f"{name}, arm {row.arm}"
        for name, row in zip(names, rows, strict=True)
    ]
    apart = [""] * len(rows)
    for name in {name for name in names if names.count(name) > 1}:
        at = [i for i, other in enumerate(names) if other == name]
        for i, text in zip(at, told([rows[i].settings for i in at]), strict=True):
            apart[i] = text
    whole = [", ".join(filter(None, pair)) for pair in zip(names, apart, strict=True)]
    for i, row in enumerate(rows):
        if whole.count(whole[i]) > 1:
            apart[i] = ", ".join(filter(None, (apart[i], row.model_key[:_KEY])))
    return [
        Called(", ".join(filter(None, (name, settings))), settings)
        for name, settings in zip(names, apart, strict=True)
    ]


def read(connection: duckdb.DuckDBPyConnection) -> dict[str, dict[str, Any]]:
    """The settings of every model of a study, by key; none where the answers are not of a study."""
    has = "SELECT count(*) FROM duckdb_tables() WHERE table_name = 'models'"
    if not connection.execute(has).fetchall()[0][0]:
        return {}
    found = {}
    columns = "model_key, top_p, max_tokens, seed, settings"
    for key, top_p, max_tokens, seed, settings in connection.execute(
        f"SELECT {columns} FROM models"
    ).fetchall():
        own = {"top_p": top_p, "max_tokens": max_tokens, "seed": seed}
        found[key] = flat({**own, **json.loads(settings or "{}")})
    return found


def several_models(names: Counter[str]) -> bool:
    """Whether the names that came back with the answers are of more than one model.

    A date at the end is none of another model; two different dates are.
    """
    parts = {_parts(name) for name in names}
    dates = {date for _, date in parts if date is not None}
    return len({bare for bare, _ in parts}) > 1 or len(dates) > 1


def _parts(name: str) -> tuple[str, str | None]:
    bare = _SERVED.sub("", name.strip().lower().rpartition("/")[2])
    dated = _DATED.search(bare)
    return (bare, None) if dated is None else (bare[: dated.start()], re.sub(r"\D", "", dated[1]))


def _setting(key: str, value: object) -> str:
    return f"{key} not set" if value is None else f"{key}={said(value)}"


def _joined(names: Sequence[str], addition: Sequence[str]) -> list[str]:
    """The names with what is added where it tells apart those that are the same."""
    of_name: dict[str, set[str]] = {}
    for name, text in zip(names, addition, strict=True):
        of_name.setdefault(name, set()).add(text)
    return [
        f"{name}, {text}" if len(of_name[name]) > 1 else name
        for name, text in zip(names, addition, strict=True)
    ]


def _exact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
