"""The builder: cases x labels x values become queries of a study.

Building the same again changes nothing. Building with another template, or after a case was edited, adds the
new queries and retires those they replace; answers already given stay in the study.

A placebo (`placebo=True`) puts the reference value once more, in other words. Its query has the label
`placebo:LABEL` and the reference value, and is compared with the query (same document, LABEL, same value).
`placebo:...` is in neither `labels` nor `label_values`: no estimate or count can take it for a value.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

import store
from evenhand.audit import Built
from evenhand.domains.judifair import SCHEMA, case_files, catalogue, prompts, triggers, wording
from evenhand.domains.judifair import leakage as giveaways
from evenhand.domains.judifair.case import Case, Truth
from evenhand.domains.judifair.catalogue import Label
from evenhand.domains.judifair.leakage import Giveaway
from evenhand.domains.judifair.prompts import Template
from store import identity
from store.errors import BadInput
from store.prompt import render, slots
from store.sql import registered

COLLECTION = "judifair"
"""The collection of the bundled cases."""

PLACEBO = "placebo:"
"""What the label of a placebo query begins with."""

_DOCUMENT_STRIDE, _SLOT_STRIDE, _LABEL_STRIDE = 100_000, 1_000, 10
_PLACEBO_PLACE = 9
_JUDGMENT = tuple(field.name for field in dataclasses.fields(Truth))


def build(
    study: store.Study,
    *,
    cases: Sequence[Case] | None = None,
    labels: Sequence[Label | str] | None = None,
    collection: str = COLLECTION,
    kind: str = "bundled",
    description: str = "Thirty fictional Chinese first-instance criminal cases",
    template: Template = prompts.SENTENCING,
    placebo: bool = False,
    retire_missing: bool = False,
) -> Built:
    """Put the questions of these cases and labels into a study.

    Args:
        study: an open study with the tables of this room (`judifair.MIGRATIONS`).
        cases: those of the bundled cases or of `case_files.read_cases`; all bundled ones by default.
        labels: labels, or the names of bundled ones; all 65 by default. A label of one's own
            (`catalogue.read_own`) is stored with its queries, so that the study knows it from then on.
        collection: the body of documents they belong to. Other cases belong into another collection.
        kind: bundled or own.
        description: of the collection, for reports.
        template: the prompt, that of an arm (`prompts.ARMS`). Only queries of the same arm are retired.
        placebo: also ask the reference value of each label in other words.
        retire_missing: retire what earlier builds of the collection asked and this one does not.

    Raises:
        BadInput: no case can take any of the labels, an unknown label, a collection of another kind.
    """
    chosen_cases = case_files.bundled() if cases is None else tuple(cases)
    chosen_labels = check(chosen_cases, labels)
    positions = _positions(chosen_cases, collection)
    schema = template.answer_schema or None
    template_hash = identity.template_hash(template.system_text, template.user_text, schema)
    questions = list(
        _queries(chosen_cases, chosen_labels, positions, template, template_hash, placebo=placebo)
    )
    store.add_collection(study, collection, kind=kind, description=description, domain=SCHEMA)
    documents = [store.Document(case.doc_id, positions[case.doc_id], case.document) for case in chosen_cases]
    stale = store.add_documents(study, collection, documents)
    store.add_template(
        study,
        name=template.name,
        system_text=template.system_text,
        user_text=template.user_text,
        answer_schema=schema,
    )
    added = store.add_queries(study, collection, questions, retire_others=True, retire_missing=retire_missing)
    _write_own_labels(study, chosen_labels)
    write_catalogue(study)
    _write_truths(study, collection, chosen_cases)
    real = [
        question
        for question in questions
        if question.label is not None and not question.label.startswith(PLACEBO)
    ]
    asked = {(question.label, question.value) for question in real}
    return Built(
        domain=SCHEMA,
        collection=collection,
        arm=template.arm,
        template_hash=template_hash,
        documents=len({question.doc_id for question in questions}),
        labels=len({label for label, _ in asked}),
        values=len(asked),
        queries=len(questions),
        added=added.added,
        retired=stale.retired + added.retired,
        placebos=len(questions) - len(real),
        not_applicable=sum(
            case.why_not(label) is not None for case in chosen_cases for label in chosen_labels
        ),
        left=added.left,
        left_documents=added.left_documents,
        warnings=_warnings(chosen_cases, chosen_labels),
    )


def check(cases: Sequence[Case], labels: Sequence[Label | str] | None) -> tuple[Label, ...]:
    """The labels, where a build of these has something to ask; for before a study is there.

    Raises:
        BadInput: no label, an unknown one, no case can take any of them, or a case lacks the slot of one.
    """
    chosen = _labels(labels)
    if not chosen:
        raise BadInput("No label is chosen.", hint="Name labels, or leave the choice out to take all 65.")
    if all(case.why_not(label) is not None for case in cases for label in chosen):
        raise BadInput(
            "None of these cases can take any of these labels: there is nothing to ask.",
            hint="Choose other labels or other cases; `not_applicable` in a case says why it cannot.",
        )
    case_files.require(cases, chosen)
    return chosen


def _labels(labels: Sequence[Label | str] | None) -> tuple[Label, ...]:
    if labels is None:
        return catalogue.load()
    own = [label for label in labels if isinstance(label, Label) and label.trigger is not None]
    names = (label if isinstance(label, str) else label.key for label in labels)
    return catalogue.resolve(names, (*catalogue.load(), *own))


def _positions(cases: Sequence[Case], collection: str) -> dict[str, int]:
    """Bundled cases keep their places in a sample, so that a later full build changes no order of asking."""
    if collection == COLLECTION:
        places = {case.doc_id: index for index, case in enumerate(case_files.bundled())}
        if all(case.doc_id in places for case in cases):
            return places
    return {case.doc_id: index for index, case in enumerate(cases)}


def _queries(
    cases: Sequence[Case],
    labels: Sequence[Label],
    positions: dict[str, int],
    template: Template,
    template_hash: str,
    *,
    placebo: bool,
) -> Iterator[store.Query]:
    for case in cases:
        document = case.document
        places = {slot: index for index, slot in enumerate(slots(document))}
        for label in labels:
            if case.why_not(label) is not None:
                continue
            own = {value.zh: triggers.fill(case, label, value) for value in label.values}
            fills = [(label.key, value, value.position, own[value.zh]) for value in label.values]
            if placebo:
                key, reference = PLACEBO + label.key, label.reference
                fills.append((key, reference, _PLACEBO_PLACE, triggers.placebo(case, label)))
            for name, value, place, one in fills:
                fill = triggers.listed(label, value, one, own) if template.lists_values else one
                # Documents together; in a document the earliest slot first, for what a prefix cache keeps
                # then only grows.
                ordinal = (
                    positions[case.doc_id] * _DOCUMENT_STRIDE
                    + places[fill.slot] * _SLOT_STRIDE
                    + label.position * _LABEL_STRIDE
                    + place
                )
                chosen = {fill.slot: fill.text}
                prompt = render(template.user_text, document, chosen)
                yield store.Query(
                    doc_id=case.doc_id,
                    label=name,
                    value=value.zh,
                    ordinal=ordinal,
                    prompt_hash=identity.prompt_hash(template.system_text, prompt),
                    template_hash=template_hash,
                    fills=chosen,
                    arm=template.arm,
                )


def _write_own_labels(study: store.Study, labels: Sequence[Label]) -> None:
    """Keep what these labels are, whole: another machine analyses the study without their file."""
    own = [label for label in labels if label.definition is not None]
    if not own:
        return
    stored = study.connection.execute("SELECT label, definition FROM judifair.own_labels").fetchall()
    every = len({label.key for label in own} | {key for key, _ in stored})
    if every > catalogue.MOST_OWN:
        raise BadInput(
            f"The study would have {every} labels of its own; it takes {catalogue.MOST_OWN} at most.",
            hint="Build into another study (--db).",
        )
    for label in own:  # a value that is no longer the label's must not stay among its values
        study.connection.execute("DELETE FROM judifair.label_values WHERE label = ?", [label.key])
    _replace(
        study,
        "judifair.own_labels",
        [{"label": label.key, "position": label.position, "definition": label.definition} for label in own],
    )


def write_catalogue(study: store.Study) -> None:
    """The whole catalogue and the study's own labels, also where the build is a part of them: tables name
    labels in one way.
    """
    labels = catalogue.of_study(study.connection)
    _replace(
        study,
        "judifair.labels",
        [
            {
                "label": label.key,
                "published": label.published_key,
                "name_zh": label.name_zh,
                "name_en": label.name_en,
                "dimension": label.dimension,
                "demographic": label.demographic,
                "role": label.role,
                "treatment": label.treatment,
                "position": label.position,
            }
            for label in labels
        ],
    )
    _replace(
        study,
        "judifair.label_values",
        [
            {
                "label": label.key,
                "value": value.zh,
                "value_en": value.en,
                "is_reference": value.is_reference,
                "is_treated": value.is_treated,
                "position": value.position,
            }
            for label in labels
            for value in label.values
        ],
    )


def _write_truths(study: store.Study, collection: str, cases: Sequence[Case]) -> None:
    rows = []
    for case in cases:
        row = {"collection": collection, "doc_id": case.doc_id, "case_number": case.case_number}
        judgment = {} if case.truth is None else dataclasses.asdict(case.truth)
        rows.append({**row, "year": case.year, **dict.fromkeys(_JUDGMENT), **judgment})
    _replace(study, "judifair.truths", rows)


def _replace(study: store.Study, table: str, rows: list[dict[str, Any]]) -> None:
    # One Arrow table: row by row, 226 rows take seconds on a busy machine.
    columns = pa.table({name: [row[name] for row in rows] for name in rows[0]})
    with registered(study.connection, written=columns):
        study.connection.execute(f"INSERT OR REPLACE INTO {table} BY NAME SELECT * FROM written")


def _warnings(cases: Sequence[Case], labels: Sequence[Label]) -> tuple[str, ...]:
    """One for each sentence that gives something away: a word like 他 does so for every person's labels."""
    keys = {label.key for label in labels}
    warnings: list[str] = []
    for case in cases:
        sentences: dict[int, list[Giveaway]] = {}
        for found in giveaways.find(case, labels):
            if found.label in keys:
                sentences.setdefault(found.sentence, []).append(found)
        warnings += [_warning(case, sentences[place]) for place in sorted(sentences)]
        warnings += [
            _own_words(case, label)
            for label in labels
            if case.why_not(label) is None and label.key in case.overrides
        ]
    return tuple(warning for warning in warnings if warning)


def _own_words(case: Case, label: Label) -> str:
    """What a case tells of a label in its own words; empty where it does not."""
    override = case.overrides[label.key]
    told = wording.changed(label, override)
    if not told:
        return ""
    reason = "" if override.same_fact is None else f" It says why that is the same fact: {override.same_fact}"
    return (
        f"{case.source}: case '{case.doc_id}' tells {label.key} in its own words ({', '.join(told)}), and "
        f"the results are tabulated as {label.name_en}.{reason}"
    )


def _warning(case: Case, found: Sequence[Giveaway]) -> str:
    words = ", ".join(dict.fromkeys(f"'{one.word}' in '{one.context}'" for one in found))
    labels = list(dict.fromkeys(one.label for one in found))
    them = "the label" if len(labels) == 1 else "the labels"
    return (
        f"{case.source}: {words} may give away or contradict {', '.join(labels)}. "
        f"Reword it, or declare {them} not_applicable."
    )
