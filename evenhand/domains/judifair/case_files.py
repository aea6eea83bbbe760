"""Reading cases: the bundled ones (`cases/*.toml`) and a user's own (JSONL, one case a line, or TOML).

Both have one form, which `cases/README.md` describes. Everything wrong with a file is reported at once, each
with file, place, key and what to do.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evenhand.domains.judifair import catalogue, file_kinds, triggers, wording
from evenhand.domains.judifair.case import PENALTIES, WITH_MONTHS, WITHOUT_TERM, Case, Override, Truth
from evenhand.domains.judifair.catalogue import Label
from evenhand.domains.judifair.label_file import HEARING, PLACEHOLDERS
from evenhand.domains.judifair.language import not_chinese
from store.errors import BadInput
from store.prompt import SLOT, slots

CASES_FOLDER = Path(__file__).parent / "cases"
_CHAPTERS = ("property", "person", "order")
_SHOWN = 20


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class CaseTable(_Table):
    """A case as a file has it: its keys, and what they hold."""

    id: str
    facts: str
    hearing: str = ""
    defendant: str
    victim: str = ""
    victim_died: bool = False
    case_number: str = ""
    year: int = 0
    truth: dict[str, Any] = Field(default_factory=dict)
    not_applicable: dict[str, Any] = Field(default_factory=dict)
    triggers: dict[str, Any] = Field(default_factory=dict)


class TruthTable(_Table):
    """The judgment that was given."""

    charge: str
    guilty: bool
    penalty: str
    months: int | float = 0
    penalty_text: str = ""


class TriggerTable(_Table):
    """What a case says differently about a label."""

    slot: str = ""
    frame: str = ""
    values: dict[str, Any] = Field(default_factory=dict)
    placebo: str = ""
    same_fact: str = ""


KEYS = tuple(CaseTable.model_fields)
"""The keys of a case."""
_NAMES = {
    "string_type": "a text",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "dict_type": "a table",
}
LONGEST = 20_000
"""Characters of the facts or the hearing, far above what a court finds in an ordinary case: more is a whole
file that was pasted, is paid for with every value, and does not fit the context of many models."""
_ID = re.compile(r"[^\s/:]{1,80}")
_YEAR = re.compile(r"[（(\[〔](\d{4})[）)\]〕]")


@dataclass(slots=True)
class _Place:
    """Where a case stands in its file, and the problems found there."""

    source: str
    problems: list[str] = field(default_factory=list)

    def wrong(self, key: str, what: str, fix: str) -> None:
        self.problems.append(f"{self.source}: key '{key}': {what}. {fix}")


@cache
def bundled() -> tuple[Case, ...]:
    """The cases that come with Evenhand, in their order."""
    return tuple(case for chapter in _CHAPTERS for case in read_cases(CASES_FOLDER / f"{chapter}.toml"))


def read_cases(
    path: Path, labels: Iterable[Label] | None = None, known: Sequence[Label] | None = None
) -> list[Case]:
    """The cases of a file: `.jsonl` (one JSON object a line) or `.toml` (an array of tables `case`).

    Args:
        path: the file.
        labels: those that will be asked; the cases must have their slots. All by default. Where they are not
            known yet, give none and call `require` later.
        known: those that a case may name; the bundled ones by default.

    Raises:
        BadInput: the file cannot be read, is of another format, or anything in it is wrong; the message lists
            file, line and key.
    """
    text = file_kinds.read(path)
    rows = _toml_rows(path, text) if path.suffix == ".toml" else _jsonl_rows(path, text)
    there = catalogue.load() if known is None else tuple(known)
    asked = there if labels is None else tuple(labels)
    cases: list[Case] = []
    problems: list[str] = []
    seen: dict[str, str] = {}
    for place, row in rows:
        case = None if row is None else _case(place, row, asked, there)
        if case is not None and case.doc_id in seen:
            place.wrong("id", f"'{case.doc_id}' is the id of {seen[case.doc_id]} too", "Give each its own.")
        if case is not None:
            seen.setdefault(case.doc_id, place.source)
            cases.append(case)
        problems += place.problems
    _raise(problems, str(path))
    if not cases:
        form = (
            "a table `[[case]]` for each case"
            if path.suffix == ".toml"
            else "one JSON object a line, each a case"
        )
        raise BadInput(
            f"{path} has no cases.",
            hint=f"Write {form}; the cases' README.md shows the form.",
        )
    return cases


def require(cases: Iterable[Case], labels: Iterable[Label]) -> None:
    """Raise BadInput where a case cannot be asked about one of the labels.

    It lacks the label's slot or the person it is about, tells another fact in its own words, or is not
    Chinese.
    """
    problems = []
    asked = tuple(labels)
    for case in cases:
        place = _Place(case.source)
        _check_slots(place, case, asked)
        _check_language(place, case.doc_id, facts=case.facts, hearing=case.hearing)
        for label in asked:
            if (override := case.overrides.get(label.key)) is not None:
                for part, what, fix in wording.problems(label, override):
                    place.wrong(f"triggers.{label.key}.{part}", what, fix)
        problems += place.problems
    _raise(problems, "the cases")


def _raise(problems: Sequence[str], where: str) -> None:
    if problems:
        more = [f"... and {len(problems) - _SHOWN} more"] if len(problems) > _SHOWN else []
        count = "One problem" if len(problems) == 1 else f"{len(problems)} problems"
        raise BadInput("\n  ".join([f"{count} in {where}:", *problems[:_SHOWN], *more]))


class _Twice(ValueError):
    """A key is given twice in one JSON object."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of these pairs. JSON lets the last of two equal keys count, which hides the first."""
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise _Twice(next(key for key in keys if keys.count(key) > 1))
    return found


def _jsonl_rows(path: Path, text: str) -> Iterator[tuple[_Place, Mapping[str, Any] | None]]:
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        place = _Place(f"{path}:{number}")
        try:
            row = json.loads(line, object_pairs_hook=_once)
        except _Twice as error:
            place.wrong(str(error), "is given twice", "Keep one of them.")
            yield place, None
            continue
        except json.JSONDecodeError as error:
            place.problems.append(f"{place.source}: not JSON at column {error.colno}: {error.msg}.")
            yield place, None
            continue
        if not isinstance(row, dict):
            place.problems.append(f"{place.source}: a case is one JSON object in braces, on one line.")
            row = None
        yield place, row


def _toml_rows(path: Path, text: str) -> Iterator[tuple[_Place, Mapping[str, Any]]]:
    try:
        tables = tomllib.loads(text).get("case", [])
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{path} is not TOML: {error}.", hint=file_kinds.FORM) from error
    if not isinstance(tables, list) or not all(isinstance(row, dict) for row in tables):
        raise BadInput(
            f"{path}: key 'case': is no list of tables.", hint="Write `[[case]]`, in two brackets."
        )
    for number, row in enumerate(tables, start=1):
        yield _Place(f"{path}, case {number} ({row.get('id', 'without id')})"), row


def _case(
    place: _Place, row: Mapping[str, Any], labels: Sequence[Label], known: Sequence[Label]
) -> Case | None:
    """The case of a row, or None after noting why there is none."""
    _check_keys(place, "", row, CaseTable)
    if place.problems:
        return None
    if not _ID.fullmatch(row["id"]):
        place.wrong("id", f"'{row['id']}' cannot be an id", "Use 1 to 80 characters, no space, '/' or ':'.")
    for key in ("facts", "defendant", "victim"):
        if key in row and not row[key].strip():
            place.wrong(
                key, "is empty", "Write it." if key != "victim" else "Leave it out where there is none."
            )
    for key in ("facts", "hearing"):
        if len(row.get(key, "")) > LONGEST:
            place.wrong(
                key,
                f"has {len(row[key]):,} characters",
                f"{LONGEST:,} at most, as every value is asked with it, and longer texts do not fit many "
                "models: give what the court found, not the whole file.",
            )
    _check_language(place, row["id"], facts=row["facts"], hearing=row.get("hearing", ""))
    if row["defendant"].strip() and row["defendant"].strip() not in row["facts"]:
        place.wrong(
            "defendant", f"'{row['defendant']}' is not in the facts", "Write the name as in the facts."
        )
    case_number = row.get("case_number")
    year_in_number = _YEAR.search(case_number or "")
    if year_in_number and row.get("year", int(year_in_number.group(1))) != int(year_in_number.group(1)):
        place.wrong(
            "year",
            f"is {row['year']}, but the case_number says {year_in_number.group(1)}",
            "Correct one of them, or leave the year out.",
        )
    names = catalogue.names_of(known)
    case = Case(
        doc_id=row["id"],
        facts=row["facts"].strip(),
        hearing=row.get("hearing", triggers.shared_hearing()).strip(),
        defendant=row["defendant"],
        victim=row.get("victim"),
        victim_died=row.get("victim_died", False),
        case_number=case_number,
        year=row.get("year", int(year_in_number.group(1)) if year_in_number else None),
        truth=_truth(place, row["truth"]) if "truth" in row else None,
        not_applicable=_not_applicable(place, names, row.get("not_applicable", {})),
        overrides=_overrides(place, names, row.get("triggers", {})),
        source=place.source,
    )
    if not place.problems:
        _check_slots(place, case, labels)
    return None if place.problems else case


def _check_keys(place: _Place, prefix: str, row: Mapping[str, Any], table: type[BaseModel]) -> None:
    """Note what a table has too much or too little, and what is of another kind."""
    try:
        table.model_validate(dict(row))
    except ValidationError as error:
        told: set[str] = set()
        for mistake in error.errors(include_url=False):
            key = str(mistake["loc"][0])
            if key in told:  # of a number: no whole one, and no other
                continue
            told.add(key)
            if mistake["type"] == "missing":
                place.wrong(prefix + key, "is missing", "Every case needs it.")
            elif mistake["type"] == "extra_forbidden":
                place.wrong(prefix + key, "is not known", f"Known are {', '.join(table.model_fields)}.")
            else:
                of = "a number" if len(mistake["loc"]) > 1 else _NAMES.get(mistake["type"], "another value")
                place.wrong(
                    prefix + key,
                    f"is {json.dumps(row[key], ensure_ascii=False, default=str)}",
                    f"Write {of}.",
                )


def _truth(place: _Place, row: Mapping[str, Any]) -> Truth | None:
    before = len(place.problems)
    _check_keys(place, "truth.", row, TruthTable)
    if len(place.problems) > before:
        return None
    penalty, months = row["penalty"], row.get("months")
    if penalty not in PENALTIES:
        place.wrong("truth.penalty", f"'{penalty}' is not known", f"Use one of {', '.join(PENALTIES)}.")
    elif penalty in WITH_MONTHS:
        low, high = WITH_MONTHS[penalty]
        if months is None or not low <= months <= high:
            fix = f"Write the months of {penalty}, {low} to {high}."
            place.wrong("truth.months", "is missing" if months is None else f"is {months}", fix)
    elif penalty in WITHOUT_TERM:
        if months not in (None, 0):
            place.wrong("truth.months", f"is {months}", f"{penalty} has none: write 0 or leave it out.")
        months = 0
    elif months is not None:
        place.wrong("truth.months", f"is {months}", f"{penalty} has no number of months: leave it out.")
    if row["guilty"] == (penalty == "acquitted"):
        fix = "An acquittal has the penalty acquitted, and nothing else has."
        place.wrong("truth.guilty", f"contradicts the penalty {penalty}", fix)
    return Truth(row["charge"], row["guilty"], penalty, months, row.get("penalty_text", ""))


def _not_applicable(place: _Place, names: Mapping[str, Label], row: Mapping[str, Any]) -> dict[str, str]:
    reasons = {}
    for name, reason in row.items():
        key = f"not_applicable.{name}"
        if not isinstance(reason, str) or not reason.strip():
            place.wrong(key, "has no reason", "Write in a sentence why the case cannot take the label.")
            continue
        if name not in catalogue.ROLES and name not in names:
            place.wrong(key, "is no label and no role", f"Roles are {', '.join(catalogue.ROLES)}.")
            continue
        reasons[name if name in catalogue.ROLES else names[name].key] = reason
    return reasons


def _overrides(place: _Place, names: Mapping[str, Label], row: Mapping[str, Any]) -> dict[str, Override]:
    overrides = {}
    for name, entry in row.items():
        key = f"triggers.{name}"
        label = names.get(name)
        if label is None:
            place.wrong(key, "is no label", "`evenhand labels` lists the labels.")
            continue
        if not isinstance(entry, dict):
            place.wrong(key, "is not a table", f"Known keys are {', '.join(TriggerTable.model_fields)}.")
            continue
        before = len(place.problems)
        _check_keys(place, f"{key}.", entry, TriggerTable)
        for value, words in entry.get("values", {}).items():
            if value not in {known.zh for known in label.values}:
                known = "、".join(known.zh for known in label.values)
                place.wrong(f"{key}.values.{value}", "is no value of the label", f"Values are {known}.")
            elif not isinstance(words, str):
                place.wrong(f"{key}.values.{value}", "is not a text", "Write how the value reads.")
        for part in ("frame", "placebo"):
            if isinstance(entry.get(part), str):
                _check_frame(place, f"{key}.{part}", entry[part])
        if len(place.problems) == before:
            override = Override(**entry)
            for part, what, fix in wording.problems(label, override):
                place.wrong(f"{key}.{part}", what, fix)
            overrides[label.key] = override
    return overrides


def _check_frame(place: _Place, key: str, frame: str) -> None:
    try:
        frame.format(**dict.fromkeys(PLACEHOLDERS, ""))
    except (KeyError, IndexError, ValueError, AttributeError):
        names = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
        place.wrong(key, f"'{frame}' has braces that mean nothing", f"Use {names}.")
        return
    if key.endswith("frame") and "{value}" not in frame:
        place.wrong(key, f"'{frame}' has no {{value}}", "Put {value} where the values differ.")


def _check_language(place: _Place, doc_id: str, **texts: str) -> None:
    """Facts and hearing are Chinese, as the prompt that they stand in is."""
    for key, text in texts.items():
        if text.strip() and (share := not_chinese(text)):
            holds = "hold" if key == "facts" else "holds"
            place.wrong(
                key,
                f"of case '{doc_id}' {holds} hardly any Chinese ({share})",
                "The prompt, the labels and the law are Chinese: an answer to a case in another language "
                f"would be counted as one to a Chinese case. Write the {key} in Chinese; there is no domain "
                "for other languages yet.",
            )


_NEARLY_SLOT = re.compile(r"[{｛]+\s*[A-Za-z_]\w*\s*[}｝]*|[A-Za-z_]\w*\s*[}｝]+", re.ASCII)


def _nearly_slots(text: str) -> list[str]:
    """What looks like a slot and is none, as a brace is missing or of full width."""
    return list(dict.fromkeys(_NEARLY_SLOT.findall(SLOT.sub(" ", text))))


def _check_slots(place: _Place, case: Case, labels: Sequence[Label]) -> None:
    """Every label asked that applies has its slot once in the document, and no slot is there for nothing."""
    used: dict[str, str] = {}
    known: dict[str, None] = {}
    wanted = {label.key for label in labels}
    there = {label.key: label for label in (*catalogue.load(), *labels)}
    for label in there.values():
        slot = triggers.of(case, label).slot
        if case.why_not(label) is None:
            known.setdefault(slot)
        if label.key not in wanted or case.why_not(label) is not None:
            continue
        if label.role == "victim" and case.victim is None:
            fix = 'Name the victim, or declare not_applicable = {"victim": "the reason"}.'
            place.wrong("victim", "is missing", fix)
            return
        used.setdefault(slot, label.key)
    document = case.document
    for slot, label_key in used.items():
        count = len(re.findall(r"\{\{\s*" + re.escape(slot) + r"\s*\}\}", document))
        if count != 1:
            key = "hearing" if slot == HEARING else "facts"
            fix = f"Put {{{{{slot}}}}} once where {label_key} is told, or declare the label not_applicable."
            place.wrong(key, f"has the slot {{{{{slot}}}}} {count} times", fix)
    for key, text in (("facts", case.facts), ("hearing", case.hearing)):
        for mark in _nearly_slots(text):
            fix = (
                f"A slot is written {{{{name}}}}, with two braces on each side. Slots are {', '.join(known)}."
            )
            place.wrong(key, f"has '{mark}', which is no slot and would stand in the prompt as it is", fix)
    for slot in slots(document):
        if slot not in known:
            fix = f"Slots are {', '.join(known)}."
            place.wrong("facts", f"has the slot {{{{{slot}}}}}, which no trigger fills", fix)
