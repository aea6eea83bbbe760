"""The glossary: the words of statistics that the report uses, and the domain's own, by alphabet."""

from __future__ import annotations

import tomllib
from pathlib import Path

from analyze.report.texts import Term, Texts

_FILE = Path(__file__).parent / "glossary.toml"


def terms(texts: Texts) -> list[Term]:
    """All entries by alphabet. A term of the domain replaces the general one of the same name."""
    nouns = {"{document}": texts.document, "{documents}": texts.documents}
    general = []
    for entry in tomllib.loads(_FILE.read_text(encoding="utf-8"))["term"]:
        meaning = " ".join(entry["meaning"].split())
        for slot, noun in nouns.items():
            meaning = meaning.replace(slot, noun)
        general.append(Term(entry["term"], meaning))
    own = {term.term.casefold() for term in texts.glossary}
    merged = [*(term for term in general if term.term.casefold() not in own), *texts.glossary]
    return sorted(merged, key=lambda term: term.term.casefold())
