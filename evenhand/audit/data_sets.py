"""Cases of the groups design from the files of a data set: a split each (train, val, test), or one file.

A text is always the name of a class or group, an integer its code: the place in the domain's list, from 0.
Only in CSV, where every cell is a text, are digits that are no name a code.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.audit.cases import Case
from evenhand.audit.folder_files import AttributeTable, Columns
from evenhand.audit.outcomes import Amount, Classes, Outcome, Probability, Value, YesNo, check_value
from evenhand.audit.table_files import ENDINGS, FileRow, ending, read_rows
from store.errors import BadInput

if TYPE_CHECKING:
    from evenhand.audit.domain import Domain

TRAIN, VAL, TEST = "train", "val", "test"
SPLITS: Mapping[str, tuple[str, ...]] = {
    TEST: ("test",),
    TRAIN: ("train", "training"),
    VAL: ("val", "validation", "dev"),
}
"""Each split with the names that files give it, in the order in which they are read."""

PARAGRAPHS = " </s> "
"""What joins the paragraphs of a text."""

_SHARD = re.compile(r"(.+)-\d+-of-\d+")
_CODE = re.compile(r"\d{1,9}")
_NESTED = ("attributes", "groups")


@dataclass(slots=True)
class Tally:
    """What was met while reading."""

    rows: dict[str, int] = field(default_factory=dict)
    """Split -> rows."""
    groups: dict[tuple[str, str, str], int] = field(default_factory=dict)
    """(split, attribute, group) -> rows."""
    without_group: dict[str, int] = field(default_factory=dict)
    """Attribute -> rows that have none of its groups."""
    without_truth: dict[str, int] = field(default_factory=dict)
    """Outcome -> rows whose true value is not known."""
    empty_texts: int = 0
    unused: dict[str, None] = field(default_factory=dict)
    """Columns that the domain has no use for."""


@dataclass(frozen=True, slots=True)
class DataSet:
    """The files of a data set, by split. A single file whose rows name their splits is under ''."""

    files: Mapping[str, tuple[Path, ...]]

    def cases(
        self, domain: Domain, tally: Tally | None = None, *, limit: int | None = None
    ) -> Iterator[Case]:
        """The cases, test first, in bounded memory.

        Args:
            domain: says the columns, the classes and the groups.
            tally: filled with what was met.
            limit: at most so many of each split, the first.

        Raises:
            BadInput: a column is missing, or a value is no class or group; the message names file and line.
        """
        counted = tally if tally is not None else Tally()
        for split, paths in self.files.items():
            reader = _Reader(domain, counted)
            for path in paths:
                for row in read_rows(path):
                    found = split or reader.split(row)
                    number = counted.rows.get(found, 0)
                    if limit is not None and number >= limit:
                        if split:
                            break
                        continue
                    case = reader.case(row, found, number)
                    counted.rows[found] = number + 1
                    yield case


def find(path: Path, *, only_test: bool = False) -> DataSet:
    """The files of a data set: PATH is its folder, or one file.

    Raises:
        BadInput: there is no test file, or a split has several files.
    """
    if path.is_file():
        if ending(path) is None:
            raise BadInput(
                f"{path}: files of this kind cannot be read.", hint=f"Known: {', '.join(ENDINGS)}."
            )
        return DataSet({_split_of(path) or "": (path,)})
    if not path.is_dir():
        raise BadInput(f"There is no file or folder {path}.")
    found: dict[str, list[Path]] = {}
    for file in sorted(path.iterdir()):
        split = _split_of(file) if file.is_file() and ending(file) else None
        if split is not None:
            found.setdefault(split, []).append(file)
    for split, files in found.items():
        if len(files) > 1 and not all(_SHARD.fullmatch(_stem(file)) for file in files):
            names = ", ".join(file.name for file in files)
            raise BadInput(
                f"{path} has several files of the split {split}: {names}.", hint="Keep one of them."
            )
    if TEST not in found:
        names = " or ".join(f"test{one}" for one in ENDINGS)
        raise BadInput(f"{path} has no test file.", hint=f"It must be called {names}.")
    taken = [TEST] if only_test else [split for split in SPLITS if split in found]
    return DataSet({split: tuple(found[split]) for split in taken})


def _stem(file: Path) -> str:
    return file.name[: -len(ending(file) or "")]


def _split_of(file: Path) -> str | None:
    stem = _stem(file).lower()
    shard = _SHARD.fullmatch(stem)
    return _split_named(shard.group(1) if shard else stem)


def _split_named(name: str) -> str | None:
    return next((split for split, names in SPLITS.items() if name in names), None)


class _Reader:
    """Turns the rows of one split into cases."""

    def __init__(self, domain: Domain, tally: Tally) -> None:
        self._domain, self._tally = domain, tally
        self._columns = domain.columns or Columns()
        self._seen: dict[str, str] = {}
        self._known = {
            name for key in ("id", "text", "split", "cluster", "language") for name in self._columns.of(key)
        } | {"truth", *_NESTED}
        for one in (*domain.outcomes, *domain.attributes):
            self._known.update(self._columns.of(one.name))
        self._language = domain.languages[0] if len(domain.languages) == 1 else None

    def split(self, row: FileRow) -> str:
        """The split that a row names; test where it names none."""
        value = self._optional("split", row)
        if value is None:
            return TEST
        split = _split_named(str(value).lower())
        if split is None:
            raise BadInput(f"{row.source}: split: {value!r} is none of train, val (validation, dev), test.")
        return split

    def case(self, row: FileRow, split: str, number: int) -> Case:
        """The row as a case."""
        self._tally.unused.update(dict.fromkeys(name for name in row.values if name not in self._known))
        given = self._optional("id", row)
        if given is not None and (isinstance(given, bool) or not isinstance(given, str | int)):
            raise BadInput(f"{row.source}: id: {given!r} must be a text or a whole number.")
        id_ = f"{split}-{number}" if given is None else str(given) if split == TEST else f"{split}-{given}"
        if given is not None:
            other = self._seen.setdefault(f"{split} {id_}", row.source)
            if other != row.source:
                raise BadInput(
                    f"{row.source}: the id {given!r} is that of {other} too.", hint="Ids are unique."
                )
        cluster, language = self._optional("cluster", row), self._optional("language", row)
        return Case(
            id=id_,
            text=self._text(row),
            source=row.source,
            truth={
                outcome.name: value
                for outcome in self._domain.outcomes
                if (value := self._truth(outcome, row)) is not None
            },
            groups={
                attribute.name: group
                for attribute in self._domain.attributes
                if (group := self._group(attribute, row, split)) is not None
            },
            split=split,
            cluster=None if cluster is None else str(cluster),
            language=language if isinstance(language, str) else self._language,
        )

    def _optional(self, key: str, row: FileRow) -> Any:
        return next((row.values[name] for name in self._columns.of(key) if name in row.values), None)

    def _needed(self, key: str, row: FileRow, nested: Sequence[str]) -> Any:
        names = self._columns.of(key)
        for inside in nested:
            holder = row.values.get(inside)
            if isinstance(holder, Mapping):
                for name in names:
                    if name in holder:
                        return holder[name]
        for name in names:
            if name in row.values:
                return row.values[name]
        has = [*row.values, *(key for inside in nested for key in _keys(row.values.get(inside)))]
        raise BadInput(
            f"{row.source}: there is no column '{names[0]}'; it has {', '.join(map(str, has)) or 'none'}.",
            hint=f"The domain {self._domain.name} needs it"
            + (f"; it may also be called {', '.join(names[1:])}." if names[1:] else "."),
        )

    def _text(self, row: FileRow) -> str:
        text = self._needed("text", row, ())
        if isinstance(text, list) and all(isinstance(one, str) for one in text):
            text = PARAGRAPHS.join(text)
        if row.is_text and text is None:
            text = ""
        if not isinstance(text, str):
            raise BadInput(f"{row.source}: text: {_shown(text)} must be a text, or a list of paragraphs.")
        if not text.strip():
            self._tally.empty_texts += 1
        return text

    def _truth(self, outcome: Outcome, row: FileRow) -> Value | None:
        value = self._needed(outcome.name, row, ("truth",))
        if value is None:
            self._tally.without_truth[outcome.name] = self._tally.without_truth.get(outcome.name, 0) + 1
            return None
        try:
            return true_value(outcome, value, is_text=row.is_text)
        except ValueError as error:
            raise BadInput(f"{row.source}: {self._columns.of(outcome.name)[0]}: {error}.") from None

    def _group(self, attribute: AttributeTable, row: FileRow, split: str) -> str | None:
        value = self._needed(attribute.name, row, _NESTED)
        if value is None:
            self._tally.without_group[attribute.name] = self._tally.without_group.get(attribute.name, 0) + 1
            return None
        group = _named(attribute.groups, value, is_text=row.is_text)
        if group is None:
            raise BadInput(
                f"{row.source}: {attribute.name}: {_shown(value)} is no group; the groups are "
                f"{', '.join(attribute.groups)}, or their places in this list, from 0."
            )
        key = (split, attribute.name, group)
        self._tally.groups[key] = self._tally.groups.get(key, 0) + 1
        return group


def true_value(outcome: Outcome, given: Any, *, is_text: bool = False) -> Value:
    """A value of an outcome as a data set or a file of predictions has it: by name or by code.

    Raises:
        ValueError: it is no value of this outcome; the message says what one looks like.
    """
    match outcome:
        case Amount() | Probability():
            return check_value(outcome, _number(given) if is_text else given)
        case YesNo():
            if not isinstance(given, bool):
                named = _named((outcome.no, outcome.yes), given, is_text=is_text)
                if named is None and is_text and str(given).lower() in ("true", "false"):
                    return str(given).lower() == "true"
                if named is not None:
                    return named == outcome.yes
            return check_value(outcome, given)
        case Classes():
            if is_text:
                given = _listed(given)
            if not isinstance(given, list):
                raise ValueError(
                    f"{_shown(given)} must be a list of classes; an empty list is '{outcome.none}'"
                )
            names = outcome.names()
            chosen = {_class(names, one, is_text=is_text) for one in given}
            return tuple(name for name in names if name in chosen)
        case _:
            return _class(outcome.names(), given, is_text=is_text)


def _class(names: Sequence[str], given: Any, *, is_text: bool) -> str:
    named = _named(names, given, is_text=is_text)
    if named is None:
        raise ValueError(
            f"{_shown(given)} is no class; the classes are {', '.join(names)}, or their places in this list, "
            "from 0"
        )
    return named


def _named(names: Sequence[str], given: Any, *, is_text: bool) -> str | None:
    """The name that a name or a code stands for; None where it is neither."""
    if isinstance(given, str):
        if given in names:
            return given
        if not is_text or not _CODE.fullmatch(given):
            return None
        given = int(given)
    if isinstance(given, int) and not isinstance(given, bool) and 0 <= given < len(names):
        return names[given]
    return None


def _listed(given: Any) -> Any:
    """The list that a cell of CSV holds: JSON, or names with semicolons between."""
    if not isinstance(given, str):
        return given
    if given.lstrip().startswith("["):
        try:
            return json.loads(given)
        except ValueError:
            return given
    return [part.strip() for part in given.split(";") if part.strip()]


def _number(given: Any) -> Any:
    try:
        return float(given)
    except (TypeError, ValueError):
        return given


def _keys(found: Any) -> Sequence[str]:
    return [*found] if isinstance(found, Mapping) else []


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
