"""What things are called, in each language of a domain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator

DEFAULT_LANGUAGE = "en"


def _by_language(given: Any) -> Any:
    """A plain text is the English name."""
    return {DEFAULT_LANGUAGE: given} if isinstance(given, str) else given


Names = Annotated[Mapping[str, str], BeforeValidator(_by_language)]
"""A name by language code: `{"en": "Sex", "zh": "性别"}`. In a file, a plain text is the English name."""


def name_in(names: Mapping[str, str], language: str, default: str) -> str:
    """The name in a language; in English, or in any language, where there is none; `default` where it is
    empty."""
    return names.get(language) or names.get(DEFAULT_LANGUAGE) or next(iter(names.values()), "") or default
