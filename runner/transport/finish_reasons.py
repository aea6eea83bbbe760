"""What a server says of how an answer ended: complete, refused, or neither, which is not complete.

Each service has words of its own, and new ones come up; gateways pass on some and translate others. Only
words that are known to mean so make an answer complete, or refused. Any other, and none at all, is not
complete: an answer that was cut can hold a wrong number, and one taken for cut is asked again.

Sources: the references of OpenAI, Azure, Anthropic, Gemini (`FinishReason`, `BlockReason`), Bedrock
(Converse, Titan), Cohere, Mistral, AI21, watsonx, DeepSeek, Zhipu, ERNIE, MiniMax, and of vLLM, SGLang, TGI,
llama.cpp and Ollama. All of these state a reason with a complete answer; they leave it null while they
stream, or where something went wrong.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal

Ending = Literal["complete", "call", "refused", "cut"]

_COMPLETE = frozenset(
    {
        "stop", "end_turn", "stop_sequence",  # OpenAI, Anthropic, most servers
        "eos", "eos_token", "endoftext", "end_of_text",  # llama.cpp, TGI, watsonx, AI21
        "complete", "completed",  # Cohere, OpenAI's responses
        "finish", "finished", "stop_criteria_met",  # Titan
        "normal",  # ERNIE
    }
)  # fmt: skip
_CALL = frozenset({"tool_call", "tool_calls", "tool_use", "function_call"})
_REFUSED = frozenset(
    {
        "content_filter", "content_filtered", "contentfilter", "content_filter_error",  # OpenAI, Azure, Titan
        "content_policy", "content_policy_violation", "policy_violation",
        "refusal", "refused",  # Anthropic
        "safety", "recitation", "prohibited_content", "blocklist", "spii", "model_armor", "jailbreak",
        "image_safety", "image_prohibited_content", "image_recitation",  # Gemini
        "guardrail_intervened", "guardrail", "guardrails",  # Bedrock
        "error_toxic",  # Cohere
        "sensitive",  # Zhipu
        "moderation", "blocked", "censored",
    }
)  # fmt: skip
_PREFIXES = re.compile(r"^(?:.*\.)?(?:finish_?reason_|stop_?reason_|block_?reason_)?", re.DOTALL)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_IN_CHOICE = ("finish_reason", "finishReason", "stop_reason", "native_finish_reason")
_TRANSLATED = ("native_finish_reason", "stop_reason")
"""Where the model's own word may stand beside the gateway's."""
_LIMITS = re.compile(r"length|max_?tokens|max_?output|limit|context_window", re.IGNORECASE)
_IN_BODY = ("finish_reason", "done_reason", "stop_reason")
_SENSITIVE = ("input_sensitive", "output_sensitive")
_TELLING = frozenset(
    {
        *("content_filter_results", "content_filter_result", "promptFeedback", "prompt_feedback"),
        *("prompt_filter_results", "prompt_annotations", *_SENSITIVE),
    }
)
"""All keys by which a filter is told of."""
_DEEPEST = 8


@lru_cache(maxsize=256)
def ending(word: str | None) -> Ending:
    """What a finish reason means. `call`: complete if the call is the answer."""
    if word is None:
        return "cut"
    plain = _CAMEL.sub("_", word.strip()).lower().replace("-", "_").replace(" ", "_")
    plain = _PREFIXES.sub("", plain)
    if plain in _COMPLETE:
        return "complete"
    if plain in _REFUSED:
        return "refused"
    return "call" if plain in _CALL else "cut"


def is_explained(word: str | None) -> bool:
    """Whether a stored finish reason is one that is known, or says what the answer lacks to be whole."""
    if word is None:
        return False
    return ending(word) != "cut" or _LIMITS.search(word) is not None or word.endswith(")")


def reason_of(choice: Mapping[str, Any], body: Mapping[str, Any]) -> Any:
    """The finish reason in the server's word, wherever it stands; None if there is none.

    Gateways that translate it give the model's own word too. The translation is believed only where that word
    says the same: "stop" can stand for a word that the gateway did not know. Beside a finish reason,
    `stop_reason` is also the text at which vLLM stopped, so it counts there only if it is known to mean that
    the answer was refused or cut.
    """
    for name in _IN_CHOICE:
        if isinstance(word := choice.get(name), str) and word:
            if ending(word) not in ("complete", "call"):
                return word
            others = ((other, choice.get(other)) for other in _TRANSLATED if other != name)
            return next((own for other, own in others if _is_worse(other, own)), word)
    return next((word for name in _IN_BODY if isinstance(word := body.get(name), str) and word), None)


def _is_worse(name: str, word: Any) -> bool:
    """Whether the model's own word says that the answer is not complete."""
    if not isinstance(word, str) or not word.strip():
        return False
    if name == "stop_reason":
        return ending(word) == "refused" or (ending(word) == "cut" and _LIMITS.search(word) is not None)
    return ending(word) in ("refused", "cut")


def says_filtered(choice: Mapping[str, Any], message: Mapping[str, Any], body: Mapping[str, Any]) -> bool:
    """Whether anything but the finish reason says that a filter took the prompt or the answer."""
    if all(keys.isdisjoint(_TELLING) for keys in (body.keys(), choice.keys(), message.keys())):
        return False  # as nearly always
    if any(body.get(name) is True for name in _SENSITIVE):
        return True
    results = (
        choice.get("content_filter_results"),
        choice.get("content_filter_result"),
        message.get("content_filter_results"),
        body.get("content_filter_results"),
    )
    return any(map(_is_filtered, results)) or blocked_prompt(body) is not None


def blocked_prompt(body: Mapping[str, Any]) -> str | None:
    """Why the prompt was blocked, by Gemini (`blockReason`) or Azure (`prompt_filter_results`); else None."""
    feedback = body.get("promptFeedback", body.get("prompt_feedback"))
    if isinstance(feedback, dict):
        reason = feedback.get("blockReason", feedback.get("block_reason"))
        if isinstance(reason, str) and reason and not reason.upper().endswith("UNSPECIFIED"):
            return reason
    results = body.get("prompt_filter_results", body.get("prompt_annotations"))
    return "content_filter" if _is_filtered(results) else None


def _is_filtered(results: Any, depth: int = 0) -> bool:
    """Whether any category of a filter, however nested, has `filtered: true`."""
    if depth > _DEEPEST:
        return False
    if isinstance(results, dict):
        if results.get("filtered") is True:
            return True
        return any(_is_filtered(value, depth + 1) for value in results.values())
    return isinstance(results, list) and any(_is_filtered(value, depth + 1) for value in results)
