"""Which names that servers answer with mean the model that was asked."""

from __future__ import annotations

from collections import Counter

import pytest

from runner.providers.model_names import is_same, others


@pytest.mark.parametrize(
    ("returned", "asked"),
    [
        ("gpt-4o-mini-2024-07-18", "gpt-4o-mini"),
        ("gpt-4o-mini", "gpt-4o-mini-2024-07-18"),
        ("openai/gpt-4o-mini", "gpt-4o-mini"),
        ("judge-1-0613", "judge-1"),
        ("glm-4-flash-250414", "glm-4-flash"),
        ("claude-3-5-sonnet-20241022", "claude-3-5-sonnet-latest"),
        ("gemini-2.5-flash-preview-05-20", "models/gemini-2.5-flash"),
        ("gemini-2.0-flash-001", "gemini-2.0-flash"),
        ("/srv/models/Qwen3-8B", "qwen/qwen3-8b"),
        ("phi4:latest", "phi4"),
        ("deepseek/deepseek-r1:free", "deepseek-r1"),
        ("smollm2-135m.gguf", "smollm2-135m"),
    ],
)
def test_one_model(returned, asked):
    assert is_same(returned, asked)


@pytest.mark.parametrize(
    ("returned", "asked"),
    [
        ("gpt-4o", "gpt-4o-mini"),
        ("gpt-4o-2024-08-06", "gpt-4o-2024-05-13"),
        ("qwen3:14b", "qwen3:8b"),
        ("gpt-4-32k", "gpt-4"),
        ("Qwen2.5-7B-Instruct-Turbo", "Qwen/Qwen2.5-7B-Instruct"),
        ("", "gpt-4o"),
    ],
)
def test_two_models(returned, asked):
    assert not is_same(returned, asked)


def test_only_other_models_are_listed_the_commonest_first():
    returned = Counter({"a": 1, "b": 5, "judge-1-0613": 90, "judge-2": 3})
    assert list(others(returned, ["judge-1", "vendor/judge-2"]).items()) == [("b", 5), ("a", 1)]
