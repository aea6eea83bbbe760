"""Loading a data set of the groups design: its cases, and a query for each case of the test split."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import store
from evenhand.audit import BASE_ARM, stored
from evenhand.audit import study as tables
from evenhand.audit.cases import Case
from evenhand.audit.data_sets import TEST, Tally, find
from evenhand.audit.prompts import CASE
from store import identity
from store.errors import BadInput
from store.prompt import DOCUMENT, render
from store.runs import finish_run, start_run

if TYPE_CHECKING:
    from evenhand.audit import Domain

_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a data set holds, and what was new in it."""

    collection: str
    domain: str
    rows: Mapping[str, int]
    """Split -> rows."""
    added: int
    """Cases that the study did not have."""
    queries: int
    """Cases of the test split: what a model is asked."""
    groups: Sequence[Mapping[str, object]]
    """attribute, group_name, is_identified, and the rows of each split."""
    without_group: Mapping[str, int]
    without_truth: Mapping[str, int]
    empty_texts: int
    unused: Sequence[str]
    """Columns of the files that the domain has no use for."""


def load_data_set(
    study: store.Study,
    domain: Domain,
    path: Path,
    *,
    splits: Literal["all", "test"] = "all",
    limit: int | None = None,
    collection: str | None = None,
) -> Loaded:
    """Read a data set of a domain into a study. Nothing is stored unless all of it is right.

    Args:
        study: an open study.
        domain: says the columns, classes and groups.
        path: a folder with the files test, train and val (jsonl, jsonl.gz, parquet, csv), or one file.
        splits: all that are there, or test alone.
        limit: at most so many rows of each split.
        collection: its name in the study; the domain's by default.

    Raises:
        BadInput: a file, column or value is wrong (the message names file and line), the domain has no groups
        design, or the collection holds other data.
    """
    if "groups" not in domain.designs:
        raise BadInput(
            f"The domain {domain.name} does not compare groups: it has no groups design.",
            hint='Add "groups" to `designs` in its domain.toml, and `[[attributes]]`.',
        )
    name = collection or domain.name
    data = find(path, only_test=splits == "test")
    tally = Tally()
    for _ in data.cases(domain, tally, limit=limit):
        pass  # all of it is checked before anything is stored
    if not tally.rows.get(TEST):
        raise BadInput(f"{path} holds no row of the test split.")
    hashes = {split or "all": _hash(files) for split, files in data.files.items()}
    _refuse_other_data(study, name, hashes)
    tables.describe(study, domain)
    stored.keep(study, domain)
    store.add_collection(study, name, kind="own", description=domain.description, domain=domain.name)
    run = start_run(study, "import", {"collection": name, "domain": domain.name, "files": hashes})
    try:
        added = store.add_documents(study, name, _documents(data.cases(domain, limit=limit)))
        _ask(study, domain, name, data.cases(domain, limit=limit))
    except BaseException:
        finish_run(study, run, "failed")
        raise
    finish_run(study, run, "finished")
    return Loaded(
        collection=name,
        domain=domain.name,
        rows=dict(tally.rows),
        added=added.added,
        queries=tally.rows[TEST],
        groups=[
            {
                "attribute": attribute.name,
                "group_name": group,
                "is_identified": group not in attribute.unidentified,
                **{split: tally.groups.get((split, attribute.name, group), 0) for split in tally.rows},
            }
            for attribute in domain.attributes
            for group in attribute.groups
        ],
        without_group=dict(tally.without_group),
        without_truth=dict(tally.without_truth),
        empty_texts=tally.empty_texts,
        unused=tuple(tally.unused),
    )


def _documents(cases: Iterator[Case]) -> Iterator[store.Document]:
    for place, case in enumerate(cases):
        yield store.Document(
            case.id, place, case.text, case.split, case.cluster, case.language, case.truth, case.groups
        )


def _ask(study: store.Study, domain: Domain, collection: str, cases: Iterator[Case]) -> None:
    """Add the template, and a query for each case of the test split."""
    prompt = domain.prompt(BASE_ARM)
    user_text = prompt.user_text.replace(f"{{{{{CASE}}}}}", f"{{{{{DOCUMENT}}}}}")
    template = store.add_template(
        study,
        name=prompt.name,
        system_text=prompt.system_text,
        user_text=user_text,
        answer_schema=domain.form.schema(domain.outcomes),
    )
    store.add_queries(
        study,
        collection,
        (
            store.Query(
                case.id,
                None,
                None,
                place,
                identity.prompt_hash(prompt.system_text, render(user_text, case.text, {})),
                template,
                {},
            )
            for place, case in enumerate(cases)
            if case.split == TEST
        ),
        retire_others=True,
    )


def _refuse_other_data(study: store.Study, collection: str, hashes: Mapping[str, str]) -> None:
    """Raise BadInput where the collection was loaded from files with another content: nothing is pooled."""
    rows = study.connection.execute(
        "SELECT manifest -> '$.files' FROM runs "
        "WHERE kind = 'import' AND state = 'finished' AND manifest ->> '$.collection' = ?",
        [collection],
    ).fetchall()
    known: dict[str, str] = {}
    for (files,) in rows:
        known |= json.loads(files) if files else {}
    for split, content in hashes.items():
        if known.get(split, content) != content:
            raise BadInput(
                f"The collection '{collection}' holds other data: its {split} file had another content.",
                hint="Give this data set a name of its own: --collection NAME.",
            )


def _hash(files: Sequence[Path]) -> str:
    digest = hashlib.sha256()
    for path in files:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                digest.update(block)
    return digest.hexdigest()
