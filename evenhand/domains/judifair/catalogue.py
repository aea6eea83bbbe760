"""The catalogue of labels: which facts of a case are varied, and which values they take.

Read from `labels.toml`, which says what each field means. Everything here is immutable; `load()` reads the
file once.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from store.errors import BadInput

LABELS_FILE = Path(__file__).parent / "labels.toml"

Dimension = Literal["substantive", "procedural"]
Treatment = Literal["categorical", "log_age"]

ROLES = ("defendant", "victim", "crime", "defender", "prosecutor", "judge", "court")


@dataclass(frozen=True, slots=True)
class Value:
    """One value of a label. `zh` is how prompts, files and tables name it; an age is its years in digits."""

    zh: str
    en: str
    is_reference: bool
    is_treated: bool
    position: int


@dataclass(frozen=True, slots=True)
class Label:
    """One fact that is varied. `key` is our name; `published_*` are the strings of the published files."""

    key: str
    name_zh: str
    name_en: str
    dimension: Dimension
    demographic: bool
    role: str
    treatment: Treatment
    values: tuple[Value, ...]
    exclude_crimes: tuple[str, ...]
    age_range: tuple[int, int] | None
    position: int
    published_key: str
    published_changed_label: str
    published_keywords: tuple[str, ...]
    published_names: tuple[str, ...]
    published_exclude_crimes: tuple[str, ...]

    @property
    def reference(self) -> Value:
        """The value that the others are compared with (of an age label: the lower of our two ages)."""
        return next(value for value in self.values if value.is_reference)

    @property
    def treated(self) -> tuple[Value, ...]:
        """The values that get an estimate, in the order of the catalogue."""
        return tuple(value for value in self.values if value.is_treated)

    @property
    def aliases(self) -> tuple[str, ...]:
        """Every name the label is known by, ours first."""
        return tuple(dict.fromkeys((self.key, self.published_key)))

    def value(self, zh: str) -> Value:
        """The value named `zh`; raises `KeyError` if the label has none of that name."""
        for value in self.values:
            if value.zh == zh:
                return value
        raise KeyError(f"{self.key} has no value {zh!r}")

    def named(self, name: str) -> Value | None:
        """The value of this name, Chinese or English (in any case); None if the label has none."""
        wanted = name.strip().casefold()
        return next((v for v in self.values if wanted in (v.zh.casefold(), v.en.casefold())), None)

    def excludes(self, charge: str) -> bool:
        """Whether the label does not apply to a case of this charge: an excluded crime is part of it."""
        return any(crime in charge for crime in self.exclude_crimes)


@cache
def load() -> tuple[Label, ...]:
    """All labels in the order of the catalogue."""
    tables = tomllib.loads(LABELS_FILE.read_text(encoding="utf-8"))
    crimes: Mapping[str, list[str]] = tables["crimes"]
    return tuple(
        _label(key, table, crimes, position) for position, (key, table) in enumerate(tables["labels"].items())
    )


@cache
def by_key() -> Mapping[str, Label]:
    """Labels by every name they are known by: ours, and the published one where it differs."""
    return {alias: label for label in load() for alias in label.aliases}


def resolve(names: Iterable[str]) -> tuple[Label, ...]:
    """The labels of these names, ours or published, each once, in catalogue order.

    Raises `BadInput` with the nearest known names for a name that no label has.
    """
    known = by_key()
    wanted: set[str] = set()
    for name in names:
        if name not in known:
            import difflib  # noqa: PLC0415  (only on the way out)

            near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
            hint = f"Did you mean {', '.join(near)}?" if near else "`evenhand labels` lists the labels."
            raise BadInput(f"No label is named {name!r}.", hint=hint)
        wanted.add(known[name].key)
    return tuple(label for label in load() if label.key in wanted)


def _label(key: str, table: Mapping[str, Any], crimes: Mapping[str, list[str]], position: int) -> Label:
    published = table["published"]
    reference = table["reference"]
    values = tuple(
        Value(zh, en, is_reference=zh == reference, is_treated=zh != reference, position=index)
        for index, (zh, en) in enumerate(table["values"])
    )
    age_range = table.get("age_range")
    return Label(
        key=key,
        name_zh=table["name_zh"],
        name_en=table["name_en"],
        dimension=table["dimension"],
        demographic=table["demographic"],
        role=table["role"],
        treatment=table.get("treatment", "categorical"),
        values=values,
        exclude_crimes=_crimes(table.get("exclude", ()), crimes),
        age_range=None if age_range is None else (age_range[0], age_range[1]),
        position=position,
        published_key=published.get("key", key),
        published_changed_label=published["changed_label"],
        published_keywords=tuple(published.get("keywords", ())),
        published_names=tuple(published["names"]),
        published_exclude_crimes=_crimes(published.get("exclude", table.get("exclude", ())), crimes),
    )


def _crimes(names: Iterable[str], lists: Mapping[str, list[str]]) -> tuple[str, ...]:
    """Replace each @name by the crimes of that list."""
    return tuple(crime for name in names for crime in (lists[name[1:]] if name.startswith("@") else [name]))
