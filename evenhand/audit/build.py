"""From cases and labels to queries in a study."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import store
from evenhand.audit import study as tables
from evenhand.audit.built import Built
from evenhand.audit.cases import Case
from evenhand.audit.labels import Label
from evenhand.audit.prompts import BASE_ARM, CASE
from store import identity
from store.errors import BadInput
from store.prompt import DOCUMENT, render, slots

if TYPE_CHECKING:
    from evenhand.audit.domain import Domain
    from evenhand.audit.folder_files import Design

PLACEBO = "placebo:"
"""Begins the label of a query that puts the reference value in other words."""

_CASE_STRIDE = 1_000_000_000
_SLOT_STRIDE = 10_000_000
_LABEL_STRIDE = 1_000
_PLACEBO_PLACE = 999
_MOST_TOLD = 5


def build(
    study: store.Study,
    domain: Domain,
    *,
    cases: Sequence[Case] | None = None,
    labels: Sequence[str] | None = None,
    design: Design | None = None,
    arm: str = BASE_ARM,
    collection: str | None = None,
    kind: str = "bundled",
    description: str = "",
    placebo: bool = False,
    retire_missing: bool = False,
) -> Built:
    """Put the queries of these cases into a study.

    Args:
        study: an open study; the domain's tables are made where they are missing. domain: what is judged.
        cases: those of the domain's folder by default. labels: keys; all by default. Only the slots of
        these are needed in the cases. design: counterfactual (case x label x value) or groups (each case as
        it is); the domain's first by default. arm: the wording of the instructions. collection: the body of
        cases that they belong to; the domain's name by default. kind: bundled or own. description: of the
        collection, for reports. placebo: also ask the reference value of each label that has a placebo in
        other words. retire_missing: retire what earlier builds of the collection asked, in this arm and
        design, and this one
            does not.

    Raises:
        BadInput: an unknown label or arm, a case without the slot of a label, nothing to ask, a collection
        of another
            kind or domain.
    """
    chosen_cases = tuple(domain.cases() if cases is None else cases)
    chosen_labels = domain.labels if labels is None else tuple(domain.label(key) for key in labels)
    design = design or domain.designs[0]
    if design not in domain.designs:
        raise BadInput(f"{domain.name} has no {design} design.", hint=f"It has: {', '.join(domain.designs)}.")
    prompt = domain.prompt(arm)
    user_text = prompt.user_text.replace(f"{{{{{CASE}}}}}", f"{{{{{DOCUMENT}}}}}")
    schema = domain.form.schema(domain.outcomes)
    template = identity.template_hash(prompt.system_text, user_text, schema)
    if design == "groups":
        planned = _as_they_are(chosen_cases)
    else:
        _check_slots(chosen_cases, chosen_labels)
        planned = _varied(chosen_cases, chosen_labels, placebo=placebo)
    queries = [
        store.Query(
            doc_id=one.case.id,
            label=one.label,
            value=one.value,
            ordinal=one.ordinal,
            prompt_hash=identity.prompt_hash(prompt.system_text, render(user_text, one.case.text, one.fills)),
            template_hash=template,
            fills=one.fills,
            arm=arm,
        )
        for one in planned
    ]
    if not queries:
        raise BadInput(
            "None of these cases can take any of these labels: there is nothing to ask.",
            hint="Choose other labels or other cases; `not_applicable` in a case says why it cannot.",
        )
    name = collection or domain.name
    tables.describe(study, domain)
    store.add_collection(
        study, name, kind=kind, description=description or domain.description, domain=domain.name
    )
    documents = [
        store.Document(
            case.id, place, case.text, case.split, case.cluster, case.language, case.truth, case.groups
        )
        for place, case in enumerate(chosen_cases)
    ]
    stale = store.add_documents(study, name, documents)
    store.add_template(
        study,
        name=prompt.name,
        system_text=prompt.system_text,
        user_text=user_text,
        answer_schema=schema,
    )
    added = store.add_queries(study, name, queries, retire_others=True, retire_missing=retire_missing)
    real = [query for query in queries if query.label is None or not query.label.startswith(PLACEBO)]
    varied = {(query.label, query.value) for query in real if query.label is not None}
    return Built(
        domain=domain.name,
        collection=name,
        arm=arm,
        template_hash=template,
        documents=len({query.doc_id for query in queries}),
        labels=len({label for label, _ in varied}),
        values=len(varied),
        queries=len(queries),
        added=added.added,
        retired=stale.retired + added.retired,
        placebos=len(queries) - len(real),
        not_applicable=sum(
            label.key in case.not_applicable for case in chosen_cases for label in chosen_labels
        ),
        left=added.left,
        left_documents=added.left_documents,
    )


@dataclass(frozen=True, slots=True)
class _Planned:
    case: Case
    label: str | None
    value: str | None
    ordinal: int
    fills: dict[str, str]


def _as_they_are(cases: Sequence[Case]) -> Iterator[_Planned]:
    for place, case in enumerate(cases):
        yield _Planned(case, None, None, place * _CASE_STRIDE, {})


def _varied(cases: Sequence[Case], labels: Sequence[Label], *, placebo: bool) -> Iterator[_Planned]:
    """Cases together; in a case the earliest slot first, so that what a prefix cache keeps only grows."""
    for number, case in enumerate(cases):
        places = {slot: place for place, slot in enumerate(slots(case.text))}
        for position, label in enumerate(labels):
            if label.key in case.not_applicable:
                continue
            fills = [
                (label.key, value.name, place, label.fill(value)) for place, value in enumerate(label.values)
            ]
            if placebo and (text := label.fill_placebo()) is not None:
                fills.append((PLACEBO + label.key, label.reference, _PLACEBO_PLACE, text))
            first = number * _CASE_STRIDE + places[label.slot] * _SLOT_STRIDE + position * _LABEL_STRIDE
            for key, value_name, place, text in fills:
                yield _Planned(case, key, value_name, first + place, {label.slot: text})


def _check_slots(cases: Sequence[Case], labels: Sequence[Label]) -> None:
    if not labels:
        raise BadInput("No label is chosen.", hint="Name labels, or leave the choice out to take all.")
    wrong = []
    for case in cases:
        has = set(slots(case.text))
        lacking = [
            label for label in labels if label.slot not in has and label.key not in case.not_applicable
        ]
        wrong += [
            f"{case.source}: case '{case.id}' lacks the slot {{{{{label.slot}}}}} of label '{label.key}'"
            for label in lacking
        ]
    if wrong:
        more = [f"... and {len(wrong) - _MOST_TOLD} more"] if len(wrong) > _MOST_TOLD else []
        raise BadInput(
            "\n".join([*wrong[:_MOST_TOLD], *more]),
            hint="Put the slot where the sentence belongs, or declare the label not_applicable.",
        )
