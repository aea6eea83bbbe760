"""The catalogue of labels: which facts of a case are varied, and which values they take.

The bundled labels are read from `labels.toml`, which says what each field means. Labels of one's own come
from a file of the same form (`read_own`), are stored with the queries that ask them, and are known from then
on to whoever has the study (`of_study`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.domains.judifair.label_file import (
    Dimension,
    LabelsFile,
    LabelTable,
    OwnLabelsFile,
    Treatment,
)
from store.errors import BadInput
from store.input_files import read_toml

if TYPE_CHECKING:
    import duckdb

    from evenhand.domains.judifair.label_file import TriggerTable

LABELS_FILE = Path(__file__).parent / "labels.toml"

OWN_HINT = (
    "A file of labels has a table [labels.KEY] for each, with name_zh, name_en, dimension, demographic, "
    "role, values and reference, and [labels.KEY.trigger] with the sentence (frame) and its placebo."
)
MOST_OWN = 34
"""Labels of one's own in a study: the order of asking has no more places."""

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
    """One fact that is varied. `key` is our name; `published_*` are the strings of the published files, empty
    for a label of one's own.
    """

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
    trigger: TriggerTable | None = None
    """Of a label of one's own: the sentence that puts it into a case; the others' are in `triggers.toml`."""
    definition: str | None = None
    """Of a label of one's own: the table of its file, as JSON, by which the study knows it."""

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
    """All bundled labels in the order of the catalogue."""
    file = read_toml(LABELS_FILE, LabelsFile)
    return tuple(
        _label(key, table, file.crimes, position) for position, (key, table) in enumerate(file.labels.items())
    )


@cache
def by_key() -> Mapping[str, Label]:
    """Bundled labels by every name they are known by: ours, and the published one where it differs."""
    return names_of(load())


def names_of(labels: Iterable[Label]) -> Mapping[str, Label]:
    """These labels by every name they are known by."""
    return {alias: label for label in labels for alias in label.aliases}


def read_own(file: Path) -> tuple[Label, ...]:
    """The labels of a file of one's own, in its order.

    Raises:
        BadInput: the file is wrong, or a key is that of a bundled label; it names file, line and key.
    """
    found = read_toml(file, OwnLabelsFile, hint=OWN_HINT)
    for key in found.labels:
        if key in by_key():
            raise BadInput(
                f"{file}: labels.{key}: there is a bundled label of this name.",
                hint="Give it another key: results are stored under it.",
            )
    if len(found.labels) > MOST_OWN:
        raise BadInput(f"{file}: there are {len(found.labels)} labels; a study takes {MOST_OWN} at most.")
    return tuple(
        _label(key, table, found.crimes, len(load()) + place)
        for place, (key, table) in enumerate(found.labels.items())
    )


def with_own(file: Path | None) -> tuple[Label, ...]:
    """The bundled labels, and those of a file of one's own where there is one.

    Raises:
        BadInput: as of `read_own`.
    """
    return load() if file is None else (*load(), *read_own(file))


def of_study(connection: duckdb.DuckDBPyConnection) -> tuple[Label, ...]:
    """The bundled labels, and those of one's own that the study's queries ask."""
    rows = connection.execute("SELECT label, definition FROM judifair.own_labels ORDER BY position, label")
    return (
        *load(),
        *(
            _label(key, LabelTable.model_validate(json.loads(definition)), {}, len(load()) + place)
            for place, (key, definition) in enumerate(rows.fetchall())
            if key not in by_key()
        ),
    )


def resolve(names: Iterable[str], labels: Sequence[Label] | None = None) -> tuple[Label, ...]:
    """The labels of these names, ours or published, each once, in catalogue order.

    Args:
        names: of labels.
        labels: those that there are; the bundled ones by default.

    Raises `BadInput` with the nearest known names for a name that no label has.
    """
    there = load() if labels is None else labels
    known = names_of(there)
    wanted: set[str] = set()
    for name in names:
        if name not in known:
            import difflib  # noqa: PLC0415  (only on the way out)

            near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
            hint = f"Did you mean {', '.join(near)}?" if near else "`evenhand labels` lists the labels."
            raise BadInput(f"No label is named {name!r}.", hint=hint)
        wanted.add(known[name].key)
    return tuple(label for label in there if label.key in wanted)


def _label(key: str, table: LabelTable, crimes: Mapping[str, list[str]], position: int) -> Label:
    published = table.published
    exclude = _crimes(table.exclude, crimes)
    own_exclude = None if published is None else published.exclude
    definition = None
    if table.trigger is not None:
        whole = {**table.model_dump(exclude_none=True), "exclude": list(exclude)}
        definition = json.dumps(whole, ensure_ascii=False)
    return Label(
        key=key,
        name_zh=table.name_zh,
        name_en=table.name_en,
        dimension=table.dimension,
        demographic=table.demographic,
        role=table.role,
        treatment=table.treatment,
        values=tuple(
            Value(
                zh, en, is_reference=zh == table.reference, is_treated=zh != table.reference, position=index
            )
            for index, (zh, en) in enumerate(table.values)
        ),
        exclude_crimes=exclude,
        age_range=None if table.age_range is None else (table.age_range[0], table.age_range[1]),
        position=position,
        published_key=key if published is None else published.key or key,
        published_changed_label="" if published is None else published.changed_label,
        published_keywords=() if published is None else tuple(published.keywords),
        published_names=() if published is None else tuple(published.names),
        published_exclude_crimes=exclude if own_exclude is None else _crimes(own_exclude, crimes),
        trigger=table.trigger,
        definition=definition,
    )


def _crimes(names: Iterable[str], lists: Mapping[str, list[str]]) -> tuple[str, ...]:
    """Replace each @name by the crimes of that list."""
    return tuple(crime for name in names for crime in (lists[name[1:]] if name.startswith("@") else [name]))
