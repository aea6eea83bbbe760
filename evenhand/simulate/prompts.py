"""How the scripted judge knows what it is asked: by a digest of the user's message, never by its text.

177,100 prompts of 6 KB would be 1 GB; their digests and places are about 25 MB.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evenhand.simulate.wording import TERM
from store.errors import BadInput

if TYPE_CHECKING:
    from evenhand.simulate.script import Script
    from store import Selection, Study

_PAIR_BITS = 16
_PAIR_MASK = (1 << _PAIR_BITS) - 1
_NOBODY = "0" * 32
"""A model key that no model has: everything is pending for it."""


@dataclass(frozen=True, slots=True)
class Place:
    """What a prompt is about."""

    document: int
    """Index in `PromptBook.documents`."""
    label: str
    value: str


def digest(user_text: bytes) -> int:
    """The first 8 bytes of the SHA-256 of a user message (UTF-8), as a number."""
    return int.from_bytes(hashlib.sha256(user_text).digest()[:8])


@dataclass(slots=True)
class PromptBook:
    """Which document, label and value a prompt stands for.

    Two queries may have the same prompt (one label's reference may read as another's); the first one stands.
    """

    documents: list[str] = field(default_factory=list)
    charges: list[str] = field(default_factory=list)
    """Of each document; what the judge convicts of."""
    true_months: list[float | None] = field(default_factory=list)
    forms: list[dict[str, Any] | None] = field(default_factory=list)
    """Of each document: the JSON schema of its answers, where it is not that of a verdict."""
    pairs: list[tuple[str, str]] = field(default_factory=list)
    """All (label, value)."""
    places: dict[int, int] = field(default_factory=dict)
    """From the digest to the place: index of the document and of the pair in one number."""
    repeated: int = 0
    """Queries whose prompt another query has too."""
    _document_index: dict[str, int] = field(default_factory=dict)
    _pair_index: dict[tuple[str, str], int] = field(default_factory=dict)

    @classmethod
    def of_study(cls, study: Study, selection: Selection | None = None) -> PromptBook:
        """All prompts of a study's queries, or of a selection's; with charges and true terms it knows."""
        import store  # noqa: PLC0415 - brings duckdb

        book = cls()
        truths = _truths(study)
        for query in store.pending(study, _NOBODY, 1, selection):
            charge, months = truths.get((query.collection, query.doc_id), (None, None))
            document = f"{query.collection}/{query.doc_id}"
            book.add(
                query.user_text,
                document,
                query.label or "",
                query.value or "",
                charge=charge,
                true_months=months,
                form=query.answer_schema,
            )
        return book

    @classmethod
    def of_rows(cls, rows: Iterable[tuple[str, str, str, str]]) -> PromptBook:
        """From (user message, document, label, value)."""
        book = cls()
        for user_text, document, label, value in rows:
            book.add(user_text, document, label, value)
        return book

    def __len__(self) -> int:
        return len(self.places)

    def add(
        self,
        user_text: str,
        document: str,
        label: str,
        value: str,
        *,
        charge: str | None = None,
        true_months: float | None = None,
        form: dict[str, Any] | None = None,
    ) -> None:
        """Note one prompt. Charge and true term are taken from the first prompt of a document."""
        index = self._document_index.get(document)
        if index is None:
            index = self._document_index[document] = len(self.documents)
            self.documents.append(document)
            self.charges.append(charge or "盗窃罪")
            self.true_months.append(true_months)
            verdict = form is None or TERM in form.get("properties", {})
            self.forms.append(None if verdict else form)
        pair = self._pair_index.setdefault((label, value), len(self.pairs))
        if pair == len(self.pairs):
            self.pairs.append((label, value))
        before = len(self.places)
        self.places.setdefault(digest(user_text.encode()), index << _PAIR_BITS | pair)
        self.repeated += before == len(self.places)

    def place(self, key: int) -> Place | None:
        """What the prompt with this digest is about; None for one that is not in the book."""
        packed = self.places.get(key)
        if packed is None:
            return None
        label, value = self.pairs[packed & _PAIR_MASK]
        return Place(packed >> _PAIR_BITS, label, value)

    def bases(self, script: Script) -> list[int]:
        """Each document's own term, as an index on the grid."""
        return [
            script.base(document, months)
            for document, months in zip(self.documents, self.true_months, strict=True)
        ]

    def bases_with(self, script: Script, label: str, value: str) -> list[int]:
        """The same for those documents alone of which this value is asked."""
        wanted = self._pair_index.get((label, value))
        having = sorted({p >> _PAIR_BITS for p in self.places.values() if p & _PAIR_MASK == wanted})
        bases = self.bases(script)
        return [bases[index] for index in having]

    def check(self, script: Script) -> None:
        """Raise BadInput where a bias is planted on a value that no prompt has: it could never be found."""
        for bias in script.biases:
            if (bias.label, bias.value) not in self._pair_index:
                raise BadInput(
                    f"The script plants a bias on {bias.label} = {bias.value}, which no query here has.",
                    hint="Build the study with that label, or plant the bias elsewhere.",
                )


def _truths(study: Study) -> dict[tuple[str, str], tuple[str | None, float | None]]:
    """Charge and months of each document, if a domain put them there."""
    cursor = study.cursor()
    try:
        if not cursor.execute(
            "SELECT 1 FROM duckdb_tables() WHERE schema_name = 'judifair' AND table_name = 'truths'"
        ).fetchall():
            return {}
        rows = cursor.execute("SELECT collection, doc_id, charge, months FROM judifair.truths").fetchall()
    finally:
        cursor.close()
    return {(collection, doc_id): (charge, months) for collection, doc_id, charge, months in rows}
