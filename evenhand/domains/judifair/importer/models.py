"""Which model answered, and at which temperature: by the folders, for file names often name another model.

The nearest folder that names a known model is the model's folder. Its own `_t0` or `_t1` says the
temperature (part of one model's files at temperature 0 lies below `t1/`), then the folders between it and
the file, then those above.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

MODELS = {
    "DeepSeek R1-32B": ("deepseek_r1_32b", "deepseekr1_32b", "deepseekr1"),
    "DeepSeek V3": ("deepseek_v3",),
    "GLM-4": ("glm4",),
    "GLM-4 Flash": ("glm4_flash", "legal_bias_glm4_flash", "legal_bias_glm4_flash(1)"),
    "GPT-4o": ("gpt_4o",),
    "Gemini Flash 1.5": ("gemini_flash_1.5", "gemini_flash15", "gemini_1.5_flash"),
    "Gemini Flash 1.5 8B": ("gemini_1.5_8b", "gemini_8b", "gemini_flash_1.5_8b"),
    "LFM 40B": ("lfm40b",),
    "LFM 7B": ("lfm7b",),
    "Llama 3.1": ("llama3_1",),
    "Llama 3.3": ("llama3_3",),
    "Mistral Nemo": ("mistral_nemo",),
    "Mistral Small 3": ("mistral_3_small", "mistral_small_3", "mistral_small"),
    "Nova Lite": ("nova_lite",),
    "Nova Micro": ("nova_micro",),
    "Phi 4": ("phi_4",),
    "Qwen2.5 72B": ("qwen2.5_72b", "qwen25_72b"),
    "Qwen2.5 7B": ("qwen2.5_7b", "qwen25_7b"),
}
"""Our names, and the names of folders and file suffixes that stand for them."""

_TEMPERATURE = re.compile(r"(?:^|[^a-z0-9])t(\d(?:\.\d+)?)$", re.IGNORECASE)
_ATTACHED = re.compile(r"[_\s-]?t\d(?:\.\d+)?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Origin:
    """Who answered a file; None where its place does not tell."""

    model: str | None
    temperature: float | None


def canonical(name: str) -> str | None:
    """Our name for a model as a folder or a person writes it, temperature aside; None if it is not known."""
    return _ALIASES.get(_bare(_ATTACHED.sub("", name.strip()))) or _ALIASES.get(_bare(name))


def temperature_of(name: str) -> float | None:
    """The temperature that a name ends with: `PHI4_t0`, `t1`."""
    found = _TEMPERATURE.search(name.strip())
    return float(found.group(1)) if found else None


def origin(folders: Sequence[str], suffix: str, model: str | None = None) -> Origin:
    """Who answered a file.

    Args:
        folders: the names of the folders it lies in, the outermost first.
        suffix: its file name without label and extension.
        model: the model, where the user says it.
    """
    nearest = next((i for i in reversed(range(len(folders))) if canonical(folders[i])), None)
    by_suffix = canonical(suffix)
    if nearest is not None:
        order = [folders[nearest], *reversed(folders[nearest + 1 :]), *reversed(folders[:nearest]), suffix]
        found = canonical(folders[nearest])
    elif by_suffix is not None or temperature_of(suffix) is not None:
        order, found = [suffix, *reversed(folders)], by_suffix
    else:
        order, found = [*reversed(folders), suffix], None
    degrees = (temperature_of(name) for name in order)
    temperature = next((t for t in degrees if t is not None), None)
    if model is not None:
        found = canonical(model) or model
    return Origin(found, temperature)


def _bare(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


_ALIASES = {_bare(alias): model for model, aliases in MODELS.items() for alias in (*aliases, model)}
