"""Showing a prompt beside its counterpart: what a model was asked, and the one place where the two differ."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import store
from store.errors import BadInput
from store.identity import BASE_ARM
from store.prompt import difference, render

if TYPE_CHECKING:
    from rich.text import Text

_FEWEST_DIGITS = 4
_FIND = Path(__file__).parent / "find_queries.sql"
PLACEBO = "placebo:"
"""What the label of a placebo query begins with."""


@dataclass(frozen=True, slots=True)
class KnownLabel:
    """A label of the domain, by the names that people type."""

    key: str
    name_en: str
    values: Mapping[str, str]
    """Value -> its English name, in order."""
    reference: str

    def named(self, name: str) -> str | None:
        """The value of this name, its own or the English one (in any case); None if the label has none."""
        wanted = name.strip().casefold()
        return next((v for v, en in self.values.items() if wanted in (v.casefold(), en.casefold())), None)


@dataclass(frozen=True, slots=True)
class Shown:
    """One prompt and its counterpart: the same document and label with the value it is compared with.

    The counterpart of a reference value is the first treated one. The user text is `before + here + after`,
    the counterpart's `before + there + after`.
    """

    query_id: uuid.UUID
    collection: str
    doc_id: str
    arm: str
    label: str | None
    """None: the case as it is, without a label."""
    value: str | None
    counterpart_id: uuid.UUID | None
    counterpart_value: str | None
    system_text: str | None
    before: str
    here: str
    there: str
    after: str
    retired: bool
    known: KnownLabel | None
    """The label, where it is known."""

    @property
    def user_text(self) -> str:
        """The user message as it is sent."""
        return self.before + self.here + self.after

    @property
    def counterpart_text(self) -> str | None:
        """The counterpart's user message."""
        return None if self.counterpart_id is None else self.before + self.there + self.after

    def as_dict(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            "query_id": str(self.query_id),
            "collection": self.collection,
            "doc_id": self.doc_id,
            "arm": self.arm,
            "label": self.label,
            "value": self.value,
            "label_en": None if self.known is None else self.known.name_en,
            "value_en": _value_en(self.known, self.value),
            "retired": self.retired,
            "system_text": self.system_text,
            "user_text": self.user_text,
            "counterpart_id": None if self.counterpart_id is None else str(self.counterpart_id),
            "counterpart_value": self.counterpart_value,
            "counterpart_value_en": _value_en(self.known, self.counterpart_value),
            "counterpart_text": self.counterpart_text,
            "difference": {"here": self.here, "there": self.there},
        }

    def as_text(self) -> Text:
        """For a terminal: the difference stands out in colour and, without colour, in brackets."""
        from rich.text import Text  # noqa: PLC0415  (only where something is printed)

        text = Text()
        about = "" if self.label is None else f" / {self.label} = {_both(self.known, self.value or '')}"
        text.append(f"{self.collection} / {self.doc_id}{about}", style="bold")
        if self.counterpart_id is not None:
            text.append(f"   beside {_both(self.known, self.counterpart_value or '')}")
        if self.arm != BASE_ARM:
            text.append(f"   arm {self.arm}")
        if self.retired:
            text.append("   retired: no longer asked", style="yellow")
        text.append(f"\n{self.query_id}\n\n", style="dim")
        if self.system_text:
            text.append(f"{self.system_text}\n\n", style="italic")
        text.append(self.before)
        if self.counterpart_id is None:
            text.append(self.here)
        else:
            text.append(f"[{self.here}]", style="bold green")
            text.append(f"[{self.there}]", style="strike red")
        text.append(self.after)
        return text


def _value_en(known: KnownLabel | None, value: str | None) -> str | None:
    return None if known is None or value is None else known.values.get(value)


def _both(known: KnownLabel | None, value: str) -> str:
    """A value by its name, and the English one where it has another."""
    english = _value_en(known, value)
    return value if english in (None, value) else f"{value} ({english})"


@dataclass(frozen=True, slots=True)
class _Row:
    query_id: uuid.UUID
    collection: str
    doc_id: str
    arm: str
    label: str | None
    value: str | None
    system_text: str | None
    user_text: str
    retired: bool


def show(
    study: store.Study,
    query: str,
    arm: str | None = None,
    *,
    domain: str,
    labels: Mapping[str, KnownLabel],
) -> Shown:
    """The query that is named: its id or at least 4 of its first digits, or CASE, CASE:LABEL or
    CASE:LABEL:VALUE, with COLLECTION/ before it where several have the case. A value may be named in
    English. The first that fits is shown, of the base arm before others unless `arm` says which.

    Raises:
        BadInput: no query, or more than one id, fits.
    """
    row = _find(study, query, arm, domain, labels)
    label = labels.get((row.label or "").removeprefix(PLACEBO))
    other = None if label is None else _counterpart(study, row, domain, label)
    if other is None:
        return _shown(row, None, (row.user_text, "", "", ""), label)
    return _shown(row, other, difference(row.user_text, other.user_text), label)


def _shown(
    row: _Row, other: _Row | None, parts: tuple[str, str, str, str], known: KnownLabel | None
) -> Shown:
    before, here, there, after = parts
    return Shown(
        query_id=row.query_id,
        collection=row.collection,
        doc_id=row.doc_id,
        arm=row.arm,
        label=row.label,
        value=row.value,
        counterpart_id=None if other is None else other.query_id,
        counterpart_value=None if other is None else other.value,
        system_text=row.system_text,
        before=before,
        here=here,
        there=there,
        after=after,
        retired=row.retired,
        known=known,
    )


def _find(
    study: store.Study, query: str, arm: str | None, domain: str, labels: Mapping[str, KnownLabel]
) -> _Row:
    digits = query.replace("-", "").lower()
    if len(digits) >= _FEWEST_DIGITS and all(digit in "0123456789abcdef" for digit in digits):
        rows = _rows(study, domain=domain, id=digits)
        if len(rows) > 1:
            raise BadInput(
                f"More than one query has an id that begins with {query}.", hint="Give more of it."
            )
        if rows:
            return rows[0]
    collection, _, rest = query.rpartition("/")
    doc_id, _, rest = rest.partition(":")
    label, value = _label_and_value(rest, labels)
    rows = _rows(
        study, domain, collection=collection or None, doc_id=doc_id, arm=arm, label=label, value=value
    )
    if not rows:
        raise BadInput(
            f"The study has no query '{query}'{f' in the arm {arm!r}' if arm else ''}.",
            hint="Name it by its id, or the beginning of its id, or as DOCUMENT:LABEL:VALUE, for instance "
            "theft-ebike:defendant_sex:女.",
        )
    return rows[0]


def _label_and_value(text: str, labels: Mapping[str, KnownLabel]) -> tuple[str | None, str | None]:
    """`LABEL:VALUE`, `LABEL` or nothing; a placebo's label has a colon of its own."""
    prefix = PLACEBO if text.startswith(PLACEBO) else ""
    name, _, value = text.removeprefix(prefix).partition(":")
    known = labels.get(name)
    label = prefix + (name if known is None else known.key)
    if known is not None and (named := known.named(value)) is not None:
        value = named
    return label or None, value or None


def _counterpart(study: store.Study, row: _Row, domain: str, label: KnownLabel) -> _Row | None:
    if (row.label or "").startswith(PLACEBO) or row.value != label.reference:
        wanted = [label.reference]
    else:
        wanted = [value for value in label.values if value != label.reference]
    for value in wanted:
        rows = _rows(
            study,
            domain=domain,
            collection=row.collection,
            doc_id=row.doc_id,
            arm=row.arm,
            label=label.key,
            value=value,
        )
        if rows:
            return rows[0]
    return None


def _rows(study: store.Study, domain: str, **chosen: str | None) -> list[_Row]:
    """At most two of the queries that `find_queries.sql` finds."""
    names = ("id", "collection", "doc_id", "arm", "label", "value")
    parameters: dict[str, str | None] = {**dict.fromkeys(names), **chosen, "domain": domain}
    found = study.connection.execute(_FIND.read_text(encoding="utf-8"), parameters).fetchall()
    rows = []
    for query_id, collection, doc_id, arm, label, value, system_text, template, text, fills, retired in found:
        rows.append(
            _Row(
                query_id=query_id,
                collection=collection,
                doc_id=doc_id,
                arm=arm,
                label=label,
                value=value,
                system_text=system_text,
                user_text=render(template, text, json.loads(fills) if fills else {}),
                retired=retired,
            )
        )
    return rows
