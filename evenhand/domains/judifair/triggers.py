"""Triggers: the sentence that gives a label one of its values in a case, and the slot that it fills.

`triggers.toml` holds the shared sentences and says what its keys mean; a case may override them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from evenhand.domains.judifair import catalogue
from evenhand.domains.judifair.case import Case, Override
from evenhand.domains.judifair.catalogue import Label, Value
from evenhand.domains.judifair.label_file import TriggersFile, TriggerTable
from store.input_files import read_toml

TRIGGERS_FILE = Path(__file__).parent / "triggers.toml"

_LISTED = re.compile("〔(?P<texts>情形1：.*)；本案属于情形(?P<place>[0-9]+)〕(?P<end>。?)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Trigger:
    """How one label is put into a case. Fields as in `triggers.toml`."""

    slot: str
    frame: str
    placebo: str
    values: Mapping[str, str] = field(default_factory=dict)
    placebo_value: str | None = None
    giveaways: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fill:
    """The text that fills one slot of a document."""

    slot: str
    text: str


@cache
def shared() -> Mapping[str, Trigger]:
    """The shared trigger of every bundled label, by our key."""
    file = _file()
    return {label.key: _bundled(label, file) for label in catalogue.load()}


def usual(label: Label) -> Trigger:
    """The trigger of a label in every case that does not change it; a label of one's own brings it."""
    return shared()[label.key] if label.trigger is None else _trigger(label.trigger)


@cache
def shared_hearing() -> str:
    """The paragraph about the trial that a case has unless it brings its own."""
    return _file().hearing


def of(case: Case, label: Label) -> Trigger:
    """The trigger of a label in a case: the shared one with the case's changes."""
    trigger = usual(label)
    override = case.overrides.get(label.key)
    return trigger if override is None else _changed(trigger, override)


def fill(case: Case, label: Label, value: Value) -> Fill:
    """The slot and the text that give the case this value of the label."""
    trigger = of(case, label)
    wording = trigger.values.get(value.zh, value.zh)
    return Fill(trigger.slot, _written(trigger.frame, case, label, wording))


def placebo(case: Case, label: Label) -> Fill:
    """The reference value once more, in other words: whatever this changes is not the value's doing."""
    trigger = of(case, label)
    reference = label.reference.zh
    wording = trigger.placebo_value or trigger.values.get(reference, reference)
    return Fill(trigger.slot, _written(trigger.placebo, case, label, wording))


def listed(label: Label, value: Value, fill: Fill, own: Mapping[str, Fill]) -> Fill:
    """All values of a label side by side in the slot, with the one that is the case's: `fill`, of `value`.

    `own` has the fill of each value. A placebo's `fill` stands in the place of its value's.
    """
    texts = [(fill if one.zh == value.zh else own[one.zh]).text for one in label.values]
    end = "。" if all(text.endswith("。") for text in texts) else ""
    numbered = [f"情形{number}：{text.removesuffix('。')}" for number, text in enumerate(texts, 1)]
    place = 1 + [one.zh for one in label.values].index(value.zh)
    return Fill(fill.slot, f"〔{'；'.join(numbered)}；本案属于情形{place}〕{end}")


def alone(text: str) -> str:
    """Of a text that lists all values of a label, that of the case's value; any other text as it is."""
    found = _LISTED.fullmatch(text)
    if found is None:
        return text
    texts = re.split(r"(?:^|；)情形[0-9]+：", found["texts"])
    return texts[int(found["place"])] + found["end"]


def _written(frame: str, case: Case, label: Label, wording: str) -> str:
    names = {
        "value": wording,
        "defendant": case.defendant,
        "victim": case.victim or "",
        "now": "生前" if label.role == "victim" and case.victim_died else "目前",
    }
    return frame.format(person=opening(label).format(**names), **names)


def opening(label: Label) -> str:
    """How a sentence about the person of a label opens, with braces for the names; empty for no person's."""
    return {str(role): text for role, text in _file().people.items()}.get(label.role, "")


def _changed(trigger: Trigger, override: Override) -> Trigger:
    return Trigger(
        slot=override.slot or trigger.slot,
        frame=override.frame or trigger.frame,
        placebo=override.placebo or trigger.placebo,
        values={**trigger.values, **override.values},
        placebo_value=None if override.placebo else trigger.placebo_value,
        giveaways=trigger.giveaways,
    )


def _bundled(label: Label, file: TriggersFile) -> Trigger:
    trait = label.key.removeprefix(f"{label.role}_")
    entries = (file.traits.get(trait), file.labels.get(label.key))
    merged = {k: v for e in entries if e is not None for k, v in e.model_dump(exclude_none=True).items()}
    return _trigger(TriggerTable.model_validate(merged))


def _trigger(table: TriggerTable) -> Trigger:
    return Trigger(
        slot=table.slot,
        frame=table.frame,
        placebo=table.placebo,
        values=table.values,
        placebo_value=table.placebo_value,
        giveaways=tuple(table.giveaways),
    )


@cache
def _file() -> TriggersFile:
    return read_toml(TRIGGERS_FILE, TriggersFile)
