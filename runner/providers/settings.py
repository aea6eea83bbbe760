"""Everything that can change what a model answers, and the key that stands for it.

Limits, prices, keys and routes are deliberately absent: the same model through another provider, or at
another pace, is the same model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from runner.providers.schema import AnswerFormat


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """One model as it is asked. `seed` is that of repeat 0; repeat r is asked with seed + r."""

    model: str
    kind: str
    temperature: float | None = 0.0
    top_p: float | None = None
    max_tokens: int = 2048
    seed: int | None = None
    system_text: str | None = None
    answer_format: AnswerFormat = "none"
    reasoning: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    def hashed(self) -> dict[str, Any]:
        """What the key is made of, readable."""
        return {
            "model": self.model,
            "temperature": None if self.temperature is None else float(self.temperature),
            "top_p": None if self.top_p is None else float(self.top_p),
            "max_tokens": self.max_tokens,
            "seed": self.seed,
            "system_text": self.system_text,
            "response_format": None if self.answer_format == "none" else self.answer_format,
            "reasoning": self.reasoning,
            "extra_body": dict(self.extra) or None,
        }

    @property
    def model_key(self) -> str:
        """The identity of these settings (32 hex digits)."""
        from store.identity import model_key  # noqa: PLC0415 - keeps `evenhand providers` free of the store

        return model_key(self.hashed())

    def row(self) -> dict[str, Any]:
        """What `store.add_model` takes."""
        return {
            "model": self.model,
            "kind": self.kind,
            "temperature": self.temperature,
            "top_p": self.top_p,
            "max_tokens": self.max_tokens,
            "seed": self.seed,
            "settings": self.hashed(),
        }
