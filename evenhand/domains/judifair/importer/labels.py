"""Which label a file is about: by its name, checked against `changed_label` and the values inside.

The values decide. Where they belong to another label than the file's name says, the file keeps both names:
the published one of its name, and ours of its values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from evenhand.domains.judifair import catalogue
from evenhand.domains.judifair.catalogue import Label

BEYOND_THE_CATALOGUE = ("victim_race", "defender_gender_identity")
"""Labels of some files that are not among the 65: their answers are stored, and no design compares them."""

_CHANGED = re.compile(r"^(?P<zh>[^(（]*)[(（](?P<en>[^)）]*)[)）]\s*$")
_AGE = re.compile(r"\d{1,3}(\.\d+)?")


@dataclass(frozen=True, slots=True)
class Inferred:
    """What a file is about: `published_label` is the key in its name, `label` ours of its values."""

    published_label: str | None
    label: str | None
    warnings: tuple[str, ...] = field(default=())


def split_name(stem: str) -> tuple[str | None, str]:
    """The published key that a file name begins with, by longest match, and the rest of the name.

    Underscores do not matter: `recusal_appliedphi4_t0` is recusal_applied and `phi4_t0`.
    """
    letters = [(i, c.lower()) for i, c in enumerate(stem) if c.isalnum()]
    name = "".join(c for _, c in letters)
    for bare, key in _STEMS:
        if name.startswith(bare):
            rest = stem[letters[len(bare) - 1][0] + 1 :]
            return key, rest.lstrip("_- ")
    return None, stem


def infer(name_key: str | None, changed: Mapping[str, int], values: Mapping[str, int]) -> Inferred:
    """What a file is about.

    Args:
        name_key: the published key in its name, if there is one.
        changed: its `changed_label` texts, with how many rows have each.
        values: its values, with how many rows have each.
    """
    by_name = catalogue.by_key().get(name_key) if name_key else None
    said = [label for text in changed if (label := label_of_text(text)) is not None]
    if by_name is None:
        return _without_name(name_key, said, values)
    other_text = _another_text(by_name, changed)
    published = by_name.published_key
    if _share(by_name, values) > 0.5:
        rival = _rival(by_name, said, changed, values)
        if rival is not None:
            warning = (
                f"the name says {published}, changed_label says {rival.published_key} "
                f"({next(iter(changed))}), and the values fit both: "
                f"published_label is {published}, label is {rival.key}"
            )
            return Inferred(published, rival.key, (warning,))
        return Inferred(published, by_name.key, (*other_text, *_strangers(by_name, values)))
    owner = _owner(by_name, said, values)
    if owner is None:
        warning = (
            f"the name says {published}, whose values are {_listed(v.zh for v in by_name.values)}, but the "
            f"values are {_listed(values)}, and no single label has them: not estimated"
        )
        return Inferred(published, by_name.key, (warning,))
    warning = (
        f"the name says {published}, but the values ({_listed(values)}) are those of {owner.published_key}: "
        f"published_label is {published}, label is {owner.key}"
    )
    return Inferred(published, owner.key, (warning, *_strangers(owner, values)))


def _rival(
    by_name: Label, said: list[Label], changed: Mapping[str, int], values: Mapping[str, int]
) -> Label | None:
    """Another label that every row's `changed_label` names and the values fit as well."""
    if len(changed) != 1 or len(said) != 1 or said[0].key == by_name.key:
        return None
    return said[0] if _share(said[0], values) > 0.5 else None


def label_of_text(text: str) -> Label | None:
    """The label that a `changed_label` text names, as 被告人性别(Defendant_sex); None if no single one."""
    text = text.strip()
    for label in catalogue.load():
        if text == label.published_changed_label and label.name_zh == _chinese(text):
            return label
    matched = _CHANGED.match(text)
    english = (matched["en"] if matched else text).strip().lower().replace(" ", "_")
    english = re.sub(r"_gender$", "_sex", english)
    by_english = catalogue.by_key().get(english)
    chinese = {label.key: label for label in catalogue.load() if label.name_zh == _chinese(text)}
    if by_english is not None and chinese and by_english.key not in chinese:
        return None
    if by_english is not None:
        return by_english
    return next(iter(chinese.values())) if len(chinese) == 1 else None


def _chinese(text: str) -> str:
    matched = _CHANGED.match(text)
    return (matched["zh"] if matched else text).strip()


def _without_name(key: str | None, said: list[Label], values: Mapping[str, int]) -> Inferred:
    """A file whose name has no label of the catalogue."""
    if key is not None:
        return Inferred(key, key, (f"{key} is not one of the 65 labels: stored, and not estimated",))
    fitting = {label.key: label for label in said if _share(label, values) > 0.5}
    if len(fitting) == 1:
        label = next(iter(fitting.values()))
        warning = f"the name has no label; changed_label and the values say {label.key}"
        return Inferred(label.published_key, label.key, (warning,))
    return Inferred(None, None)


def _another_text(label: Label, changed: Mapping[str, int]) -> tuple[str, ...]:
    """A warning where `changed_label` has a text that is not the label's."""
    strange = []
    for text in changed:
        if not text or text.strip() == label.published_changed_label:
            continue
        named = label_of_text(text)
        if named is None or named.key != label.key or "gender" in text.lower():
            strange.append(text)
    if not strange:
        return ()
    rows = sum(changed[text] for text in strange)
    return (f"changed_label is {_listed(strange)} in {rows} rows, not {label.published_changed_label}",)


def _share(label: Label, values: Mapping[str, int]) -> float:
    """The share of rows whose value the label has."""
    total = sum(values.values())
    return sum(n for value, n in values.items() if has_value(label, value)) / total if total else 0.0


def has_value(label: Label, value: str) -> bool:
    """Whether a label can take a value of a file."""
    if label.treatment == "log_age":
        return _AGE.fullmatch(value) is not None and 0 < float(value) < 130
    return any(value == v.zh for v in label.values)


def _owner(by_name: Label, said: list[Label], values: Mapping[str, int]) -> Label | None:
    """The label that values belong to: one of the same role, else the one that the file itself names."""
    fitting = [label for label in catalogue.load() if _share(label, values) > 0.5]
    same_role = [label for label in fitting if label.role == by_name.role]
    for candidates in (same_role, fitting):
        if len(candidates) == 1:
            return candidates[0]
        named = [label for label in candidates if any(label.key == s.key for s in said)]
        if len(named) == 1:
            return named[0]
    return None


def _strangers(label: Label, values: Mapping[str, int]) -> tuple[str, ...]:
    strange = [value for value in values if not has_value(label, value)]
    if not strange:
        return ()
    rows = sum(values[value] for value in strange)
    return (f"{rows} rows have values that {label.key} does not have ({_listed(strange)}): not estimated",)


def _listed(words: Iterable[str], most: int = 5) -> str:
    words = list(words)
    return "、".join(words[:most]) + (f" and {len(words) - most} more" if len(words) > most else "")


def _bare(name: str) -> str:
    return "".join(c for c in name.lower() if c.isalnum())


_STEMS = sorted(
    {
        *((_bare(alias), label.published_key) for label in catalogue.load() for alias in label.aliases),
        *((_bare(key), key) for key in BEYOND_THE_CATALOGUE),
    },
    key=lambda pair: -len(pair[0]),
)
