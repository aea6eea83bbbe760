"""What a request will use, from what earlier ones used: tokens in and out, the share cached, the latency.

Stored answers of the model are best, at the same settings or at others; those of other models come next
(their tokenizers differ); where there are none, a stated rule. Every figure is a range and says how it was
got.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from store.prompt import render

if TYPE_CHECKING:
    from runner.providers.file import Route
    from runner.providers.settings import ModelSettings
    from store.pending_queries import PendingQuery
    from store.study import Study

SAMPLE = 200
"""Prompts read to measure their length, and stored answers read to measure tokens a character."""
ENOUGH = 20
"""So many stored answers are preferred to any assumption."""

OVERHEAD = 10.0
"""Tokens that a chat template puts around the messages."""
ANSWER = (30.0, 80.0)
"""Tokens, at least and expected, of a short JSON answer."""
REASONED = 1_000.0
"""Tokens of an answer with its reasoning: wide of the mark by a factor of three either way."""
_OTHER_TOKENIZER = 1.5
"""Between two tokenizers that know Chinese, one may need so many times the tokens of the other."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A number with its range, and how it was got."""

    low: float
    expected: float
    high: float
    how: str

    def times(self, factor: float) -> Figure:
        """This many times as much."""
        return replace(self, low=self.low * factor, expected=self.expected * factor, high=self.high * factor)


@dataclass(frozen=True, slots=True)
class Rule:
    """Tokens of a Chinese (any non-ASCII) and of an ASCII character: low, expected, high."""

    chinese: tuple[float, float, float]
    ascii: tuple[float, float, float]


MULTILINGUAL = Rule(chinese=(0.55, 0.8, 1.3), ascii=(0.2, 0.3, 0.4))
"""Makers state 0.6 (DeepSeek) and 0.55 to 0.67 (Qwen) for Chinese and 0.3 for English; older and
English-first vocabularies come to a token and more a Chinese character."""
ENGLISH_FIRST = Rule(chinese=(1.0, 1.8, 2.6), ascii=(0.2, 0.3, 0.4))
"""Small embedded models: most Chinese characters are spelt in bytes, up to three tokens each."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Of one request. `latency_s` is None where no answer tells and no assumption is made here."""

    prompt: Figure
    answer: Figure
    cached_share: float | None
    """Of the prompt tokens, in stored answers of this model; None where there are none."""
    latency_s: Figure | None
    longest_prompt: float
    """Tokens of the longest prompt sampled, at its upper estimate."""
    tokens_per_character: float


@dataclass(frozen=True, slots=True)
class _Stored:
    """What stored answers tell. `scale`: their prompt tokens over the rule's; low, expected, high."""

    whose: str
    rows: Sequence[dict[str, Any]]
    scale: tuple[float, float, float]
    of_this_model: bool


def usage(study: Study, settings: ModelSettings, route: Route, sample: Sequence[PendingQuery]) -> Usage:
    """What a request of these settings uses, from the stored answers and a sample of the pending prompts.

    Args:
        study: an open study; nothing is written.
        settings: of the model.
        route: by which it will be asked.
        sample: not empty; fewer than `SAMPLE` are taken to be all that is pending.
    """
    rule = ENGLISH_FIRST if route.kind == "embedded" else MULTILINGUAL
    own = settings.system_text or ""
    prompts = ["\n\n".join(t for t in (own, query.system_text, query.user_text) if t) for query in sample]
    ruled = [_ruled(text, rule) for text in prompts]
    whole = len(sample) < SAMPLE
    spread = 0.0 if whole else _sampling_error([middle for _, middle, _ in ruled])
    stored = _stored(study, settings, route, rule)
    means = [sum(row[n] for row in ruled) / len(ruled) for n in range(3)]
    if stored is None:
        low, expected, high = means
        middle = rule.chinese
        how = (
            f"by rule: {middle[1]:g} tokens a Chinese character ({middle[0]:g} to {middle[2]:g}, as "
            f"tokenizers differ), {rule.ascii[1]:g} an ASCII one"
        )
        longest = max(row[2] for row in ruled)
    else:
        low, expected, high = (means[1] * scale for scale in stored.scale)
        longest = max(row[1] for row in ruled) * stored.scale[2]
        how = f"tokens a character measured on {stored.whose}"
    every = f"all {len(prompts):,}" if whole else f"a sample of {len(prompts):,}"
    prompt = Figure(
        low * (1 - spread), expected, high * (1 + spread), f"{every} of the pending prompts read; {how}"
    )
    characters = sum(map(len, prompts)) / len(prompts)
    return Usage(
        prompt=prompt,
        answer=_answer(stored, settings, route),
        cached_share=float(stored.rows[0]["cached_share"]) if stored and stored.of_this_model else None,
        latency_s=_latency(stored),
        longest_prompt=longest,
        tokens_per_character=expected / characters,
    )


def _ruled(text: str, rule: Rule) -> tuple[float, float, float]:
    """Tokens of a prompt by the rule: low, expected, high."""
    plain = len(text.encode("ascii", "ignore"))
    wide = len(text) - plain
    low, middle, high = (
        wide * chinese + plain * other + OVERHEAD
        for chinese, other in zip(rule.chinese, rule.ascii, strict=True)
    )
    return low, middle, high


def _sampling_error(values: Sequence[float]) -> float:
    """Two standard errors of the mean of a sample, relative to the mean."""
    mean = sum(values) / len(values)
    variance = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
    return min(2 * math.sqrt(variance / len(values)) / mean, 0.5)


def _stored(study: Study, settings: ModelSettings, route: Route, rule: Rule) -> _Stored | None:
    """The stored answers nearest to what will be asked; None where none are any guide."""
    no: dict[str, str | None] = {"model_key": None, "model": None, "other": None}
    tiers = [
        ({**no, "model_key": settings.model_key}, "answers of this model at these settings"),
        ({**no, "model": settings.model}, "answers of this model"),
    ]
    if route.kind in ("api", "vllm"):
        # A script's tokens are made up, and a small embedded model's are another world.
        tiers.append(({**no, "other": settings.model}, "answers of other models"))
    for place, (whose, whom) in enumerate(tiers):
        rows = _read(study, "stored_usage", whose)
        count = sum(row["answers"] for row in rows)
        if count < (ENOUGH if place == 0 else 1):
            continue
        scales = _scales(study, whose, rule)
        if not scales:
            continue
        this = place < 2
        middle = sum(scales.values()) / len(scales)
        low, high = (min(scales.values()), max(scales.values()))
        words = whom
        if this:
            # What is left is that other prompts mix other words; a handful of answers tells less.
            room = 0.02 + 0.2 / math.sqrt(count)
            bounds = (middle * (1 - room), middle, middle * (1 + room))
        else:
            bounds = (low / _OTHER_TOKENIZER, middle, high * _OTHER_TOKENIZER)
            words = f"{whom} ({', '.join(scales)}), whose tokenizers may differ"
        return _Stored(f"{count:,} stored {words}", rows, bounds, this)
    return None


def _scales(study: Study, whose: dict[str, str | None], rule: Rule) -> dict[str, float]:
    """For each model, the prompt tokens that were counted over those of the rule."""
    sums: dict[str, list[float]] = {}
    for row in _read(study, "stored_prompts", {**whose, "most": SAMPLE}):
        fills = json.loads(row["fills"]) if row["fills"] else {}
        user = render(row["user_text"], row["text"], fills)
        text = "\n\n".join(t for t in (row["model_system_text"], row["system_text"], user) if t)
        both = sums.setdefault(row["model"], [0.0, 0.0])
        both[0] += row["prompt_tokens"]
        both[1] += _ruled(text, rule)[1]
    return {model: counted / ruled for model, (counted, ruled) in sums.items()}


def _answer(stored: _Stored | None, settings: ModelSettings, route: Route) -> Figure:
    """Tokens of an answer; the high end is what max_tokens allows."""
    most = float(settings.max_tokens)
    bound = f"at most --max-tokens {settings.max_tokens:,}"
    if stored is not None and stored.of_this_model:
        row = stored.rows[0]
        error = 2 * row["completion_deviation"] / math.sqrt(row["answers"])
        mean = min(row["completion_tokens"], most)
        return Figure(max(mean - error, 0.0), mean, most, f"the mean of {stored.whose}; {bound}")
    if _reasons(settings, route):
        mean = min(REASONED, most)
        return Figure(
            mean / 3, mean, most, f"assumed: {mean:,.0f} with the reasoning, which counts as output; {bound}"
        )
    if stored is not None:
        means = [min(row["completion_tokens"], most) for row in stored.rows]
        return Figure(min(means) / 2, sum(means) / len(means), most, f"the mean of {stored.whose}; {bound}")
    low, mean = (min(tokens, most) for tokens in ANSWER)
    return Figure(low, mean, most, f"assumed: a short JSON answer of {mean:.0f}; {bound}")


def _reasons(settings: ModelSettings, route: Route) -> bool:
    """Whether the model seems to reason before it answers: it is told to, or refuses a temperature."""
    return not route.style.temperature or settings.reasoning not in (None, "off", "none", "minimal")


def _latency(stored: _Stored | None) -> Figure | None:
    if stored is None or not stored.of_this_model or stored.rows[0]["latency_mean"] is None:
        return None
    row = stored.rows[0]
    return Figure(
        min(row["latency_low"], row["latency_mean"]),
        row["latency_mean"],
        max(row["latency_high"], row["latency_mean"]),
        f"the mean latency ({row['latency_mean']:.3g} s) of {stored.whose}",
    )


def _read(study: Study, name: str, parameters: dict[str, Any]) -> list[dict[str, Any]]:
    cursor = study.cursor()
    try:
        found = cursor.execute(_statement(name), parameters)
        columns = [column[0] for column in found.description or ()]
        return [dict(zip(columns, row, strict=True)) for row in found.fetchall()]
    finally:
        cursor.close()


@cache
def _statement(name: str) -> str:
    return (Path(__file__).parent / "statements" / f"{name}.sql").read_text("utf-8")
