"""A domain from a folder.

domain.toml          what is judged: outcomes, the fields of an answer, groups, languages
labels.toml          the facts that vary, one table each
cases.jsonl          the cases, one a line (.toml: tables [[case]]; .csv and .parquet for plain tables)
prompt.md            the instructions, with {{case}}; prompt.ARM.md for other wordings of them
system.md            the system message, if there is one
answers.jsonl        raw answers with what each is to be read as, for `evenhand domain check`
specifications.toml  what is estimated, where the default for each kind of outcome does not suit
"""

from __future__ import annotations

import csv
import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from evenhand.audit.cases import Case
from evenhand.audit.domain import Domain
from evenhand.audit.folder_files import AnswerRow, CaseRow, Columns, DomainFile, LabelTable, number_of
from evenhand.audit.forms import AnswerField, AnswerForm
from evenhand.audit.labels import Label, LabelValue
from evenhand.audit.outcomes import Identifier, Strict, Value, check_value
from evenhand.audit.prompts import BASE_ARM, CASE, Prompt
from store.errors import BadInput
from store.input_files import read_json_lines, read_text, read_toml
from store.prompt import slots

HINT = "`evenhand domain new` writes an example of each file; `evenhand domain check FOLDER` checks one."


def load(folder: Path) -> Domain:
    """The domain in a folder.

    Raises:
        BadInput: a file is missing or wrong; the message names file, line and key.
    """
    file = folder / "domain.toml"
    if not file.is_file():
        raise BadInput(f"{folder} is no domain: it has no domain.toml.", hint=HINT)
    described = read_toml(file, DomainFile, hint=HINT)
    labels = _labels(folder)
    if "counterfactual" in described.designs and not labels:
        raise BadInput(
            f"{folder}: the counterfactual design needs labels.toml: the facts that vary.", hint=HINT
        )
    fields = tuple(
        AnswerField(one.field, one.outcome, one.synonyms, one.units, one.max_length)
        for one in described.answer
    ) or tuple(AnswerField(outcome.name, outcome.name) for outcome in described.outcomes)
    return Domain(
        name=described.name,
        title=described.title,
        outcomes=described.outcomes,
        form=AnswerForm(fields),
        prompts=_prompts(folder, described.name),
        languages=described.languages,
        designs=described.designs,
        labels=labels,
        attributes=described.attributes,
        description=described.description,
        refusals=described.refusals,
        columns=described.columns,
        scoring=described.scoring,
        folder=folder,
    )


def bundled_cases(domain: Domain) -> Sequence[Case]:
    """The cases in the domain's folder. Raises BadInput where there are none, or their file is wrong."""
    assert domain.folder is not None
    for name in ("cases.jsonl", "cases.toml", "cases.csv", "cases.parquet"):
        if (domain.folder / name).is_file():
            return read_cases(domain, domain.folder / name)
    raise BadInput(f"{domain.folder} has no cases.jsonl.", hint="Name a file of cases, or put one there.")


def read_cases(domain: Domain, path: Path) -> list[Case]:
    """The cases of a file: .jsonl, .toml ([[case]]), .csv or .parquet.

    Raises:
        BadInput: the file cannot be read, or a row is wrong; the message names file, row and key.
    """
    cases: list[Case] = []
    seen: dict[str, str] = {}
    for source, row in _rows(path):
        case = _case(domain, source, row)
        if case.id in seen:
            raise BadInput(f"{source}: the id '{case.id}' is that of {seen[case.id]} too; give each its own.")
        seen[case.id] = source
        cases.append(case)
    if not cases:
        raise BadInput(f"{path} holds no case.")
    return cases


def read_answers(folder: Path) -> list[tuple[int, AnswerRow]]:
    """The raw answers with their expected readings, by line number; empty where the folder has none."""
    file = folder / "answers.jsonl"
    return list(read_json_lines(file, AnswerRow, hint=HINT)) if file.is_file() else []


def _prompts(folder: Path, name: str) -> dict[str, Prompt]:
    system = read_text(folder / "system.md").strip() if (folder / "system.md").is_file() else None
    prompts = {}
    if (folder / "prompt.md").is_file():
        prompts[BASE_ARM] = _prompt(folder / "prompt.md", name, BASE_ARM, system)
    for file in sorted(folder.glob("prompt.*.md")):
        arm = file.name.removeprefix("prompt.").removesuffix(".md")
        prompts[arm] = _prompt(file, name, arm, system)
    if BASE_ARM not in prompts:
        raise BadInput(
            f"{folder} has no prompt.md: the instructions around a case, with {{{{case}}}}.", hint=HINT
        )
    return prompts


def _prompt(file: Path, name: str, arm: str, system: str | None) -> Prompt:
    text = read_text(file).strip()
    found = slots(text)
    if found != [CASE]:
        raise BadInput(
            f"{file}: the prompt must hold {{{{case}}}} and no other slot; it holds "
            f"{', '.join(f'{{{{{slot}}}}}' for slot in found) or 'none'}."
        )
    return Prompt(name if arm == BASE_ARM else f"{name}:{arm}", text, system, arm)


class _LabelsFile(Strict):
    labels: Mapping[Identifier, LabelTable]


def _labels(folder: Path) -> tuple[Label, ...]:
    file = folder / "labels.toml"
    if not file.is_file():
        return ()
    return read_labels(file)


def read_labels(file: Path) -> tuple[Label, ...]:
    """The labels of a file, `[labels.KEY]` each. Raises BadInput, naming file, line and key."""
    tables = read_toml(file, _LabelsFile, hint=HINT).labels
    return tuple(
        Label(
            key=key,
            values=tuple(
                LabelValue(value.name, value.title, value.wording or "", number_of(value))
                for value in table.values
            ),
            reference=table.reference,
            slot=table.slot or key,
            sentence=table.sentence,
            names=table.title,
            placebo=table.placebo,
            treatment=table.treatment,
            splits=table.splits,
        )
        for key, table in tables.items()
    )


def _rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows of a file of cases, each with its place."""
    match path.suffix.lower():
        case ".jsonl":
            for number, line in enumerate(read_text(path).split("\n"), start=1):
                if line.strip():
                    yield f"{path}: line {number}", _json_row(f"{path}: line {number}", line)
        case ".toml":
            try:
                tables = tomllib.loads(read_text(path))
            except tomllib.TOMLDecodeError as error:
                raise BadInput(f"{path} is not valid TOML: {error}.") from None
            rows = tables.get("case")
            if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
                raise BadInput(f"{path} holds no [[case]] tables.")
            for number, row in enumerate(rows, start=1):
                yield f"{path}: [[case]] number {number}", row
        case ".csv":
            reader = csv.DictReader(read_text(path).splitlines())
            for record in reader:
                yield f"{path}: line {reader.line_num}", {k: v for k, v in record.items() if k and v != ""}
        case ".parquet":
            import pyarrow.parquet as pq  # noqa: PLC0415

            try:
                file = pq.ParquetFile(path)
            except (OSError, ValueError) as error:
                raise BadInput(f"{path} cannot be read as Parquet: {error}.") from None
            number = 0
            for batch in file.iter_batches(4_096):
                for row in batch.to_pylist():
                    number += 1
                    yield f"{path}: row {number}", {k: v for k, v in row.items() if v is not None}
        case other:
            raise BadInput(
                f"{path}: cases cannot be read from '{other or 'a file without an ending'}'.",
                hint="Cases are .jsonl (one JSON object a line), .toml ([[case]]), .csv or .parquet.",
            )


def _json_row(source: str, line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise BadInput(f"{source}: this is not valid JSON: {error}.") from None
    if not isinstance(row, dict):
        raise BadInput(f"{source}: each line must be a JSON object.")
    return row


def _case(domain: Domain, source: str, row: Mapping[str, Any]) -> Case:
    renamed = _renamed(domain, row)
    try:
        checked = CaseRow.model_validate(renamed)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        key = ".".join(str(piece) for piece in first["loc"])
        what = {"missing": "is missing", "extra_forbidden": "there is no such key"}.get(
            first["type"], first["msg"]
        )
        raise BadInput(f"{source}: {key}: {what}.", hint=HINT) from None
    if not checked.text.strip():
        raise BadInput(f"{source}: text: is empty.")
    return Case(
        id=checked.id,
        text=checked.text,
        source=source,
        truth=_truth(domain, source, checked.truth),
        groups=_groups(domain, source, checked.groups),
        split=checked.split,
        cluster=checked.cluster,
        language=checked.language,
        not_applicable=_not_applicable(domain, source, checked.not_applicable),
    )


def _renamed(domain: Domain, row: Mapping[str, Any]) -> dict[str, Any]:
    """The row by the names of `CaseRow`; truths and groups may stand in columns of their own."""
    columns = domain.columns or Columns()
    rest = dict(row)
    found: dict[str, Any] = {}
    for key in ("id", "text", "split", "cluster", "language"):
        name = _column(columns, key, rest)
        if name is not None:
            found[key] = rest.pop(name)
    truth = dict(rest.pop("truth", None) or {}) if isinstance(rest.get("truth"), Mapping) else {}
    for outcome in domain.outcomes:
        name = _column(columns, outcome.name, rest)
        if name is not None:
            truth[outcome.name] = rest.pop(name)
    groups = dict(rest.pop("groups", None) or {}) if isinstance(rest.get("groups"), Mapping) else {}
    for attribute in domain.attributes:
        name = _column(columns, attribute.name, rest)
        if name is not None:
            groups[attribute.name] = rest.pop(name)
    return {**rest, **found, "truth": truth, "groups": groups}


def _column(columns: Columns, key: str, row: Mapping[str, Any]) -> str | None:
    return next((name for name in columns.of(key) if name in row), None)


def _truth(domain: Domain, source: str, given: Mapping[str, Any]) -> dict[str, Value]:
    truth: dict[str, Value] = {}
    for name, value in given.items():
        if value is None:
            continue
        try:
            truth[name] = check_value(domain.outcome(name), value)
        except BadInput as error:
            raise BadInput(f"{source}: truth: {error.message}", hint=error.hint) from None
        except ValueError as error:
            raise BadInput(f"{source}: truth.{name}: {error}.") from None
    return truth


def _groups(domain: Domain, source: str, given: Mapping[str, Any]) -> dict[str, str]:
    by_name = {attribute.name: attribute for attribute in domain.attributes}
    groups = {}
    for name, value in given.items():
        if value is None:
            continue
        if name not in by_name:
            raise BadInput(
                f"{source}: groups.{name}: {domain.name} has no attribute of this name.",
                hint=f"Its attributes are: {', '.join(by_name) or 'none'}.",
            )
        known = by_name[name].groups
        if isinstance(value, int) and 0 <= value < len(known):
            groups[name] = known[value]
        elif value in known:
            groups[name] = value
        else:
            raise BadInput(
                f"{source}: groups.{name}: {value!r} is no group of it; the groups are {', '.join(known)}."
            )
    return groups


def _not_applicable(domain: Domain, source: str, given: Mapping[str, str]) -> dict[str, str]:
    keys = {label.key for label in domain.labels}
    for key in given:
        if key not in keys:
            raise BadInput(f"{source}: not_applicable: {domain.name} has no label '{key}'.")
    return dict(given)
