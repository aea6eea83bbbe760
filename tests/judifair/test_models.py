"""The bundled attributes of models: that they reach the models they are of, and hold no guess."""

from __future__ import annotations

import datetime
import tomllib
from pathlib import Path

import pytest

from analyze.between_models.attributes import Attributes, load_attributes
from evenhand.domains import judifair
from evenhand.domains.judifair.importer.models import MODELS

BUNDLED = Path(judifair.__file__).parent / "models.toml"
PROVIDERS = Path(__file__).parents[2] / "providers.toml"
KINDS = {"parameters": float, "released": datetime.date, "origin": str, "open_weights": str}


@pytest.fixture(scope="module")
def bundled() -> Attributes:
    return load_attributes(BUNDLED)


@pytest.mark.parametrize("model", MODELS)
def test_every_model_that_the_importer_names_is_listed(bundled: Attributes, model: str) -> None:
    listed = bundled.of(model)
    assert listed is not None
    assert listed.names[0] == model


def test_every_model_that_can_be_asked_is_listed(bundled: Attributes) -> None:
    providers = tomllib.loads(PROVIDERS.read_text(encoding="utf-8"))["providers"]
    asked = {model for provider in providers.values() for model in provider["models"]}
    assert {model for model in asked if bundled.of(model) is None} == {"scripted-judge"}
    for copy, model in (
        ("phi-4", "Phi 4"),
        ("llama-3.3-70b-turbo", "Llama 3.3"),
        ("qwen2.5-72b", "Qwen2.5 72B"),
    ):
        assert bundled.of(copy) is bundled.of(model)
    # A dated version is another model than the undated one, and was made public on another day.
    assert bundled.of("gpt-4o") is not bundled.of("GPT-4o")


def test_attributes_are_of_one_kind_and_in_reason(bundled: Attributes) -> None:
    for model in bundled.models:
        assert set(model.attributes) <= set(KINDS), model.names
        for key, value in model.attributes.items():
            assert isinstance(value, KINDS[key]), model.names
        assert 0.1 < model.attributes.get("parameters", 1.0) < 2_000
        assert datetime.date(2023, 1, 1) < model.attributes.get("released", datetime.date(2024, 1, 1))
