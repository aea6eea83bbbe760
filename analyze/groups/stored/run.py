"""The group analysis of a study: every collection whose cases have groups, into tables."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import duckdb
import pyarrow as pa

from analyze.groups import rows
from analyze.groups.analysis import GroupAnalysis, analyze
from analyze.groups.settings import Settings
from analyze.groups.stored.frame import Cases, read_cases, read_predictions
from analyze.groups.stored.work import Design, Settled, codings, designs, settled
from analyze.stored import tables
from store.errors import BadInput, RunFailed
from store.sql import registered

OF_MODELS: Mapping[str, tuple[str, type]] = {
    "group_answers": ("answers", rows.AnswerCounts),
    "group_scores": ("group_scores", rows.GroupScore),
    "group_disparities": ("disparities", rows.Disparity),
    "group_gaps": ("gaps", rows.Gap),
    "group_rates": ("rates", rows.GroupRates),
    "group_classes": ("class_scores", rows.ClassScore),
    "group_confusion": ("confusion", rows.Confusion),
    "worst_class": ("worst_classes", rows.WorstClass),
    "cross_attribute": ("cross_scores", rows.CrossScore),
    "group_seed_noise": ("seed_noise", rows.SeedNoise),
}
"""Tables about one model each: name -> where their rows are in an analysis, and what they are."""

DIFFERENCES = "group_differences"

OF_DATA: Mapping[str, tuple[str, type]] = {
    "group_drift": ("drift", rows.GroupDrift),
    "group_representation": ("representation", rows.Representation),
    "group_labels": ("label_counts", rows.LabelCount),
    "group_overlaps": ("overlaps", rows.Overlap),
}
"""Tables about a data set, without a model."""

ANALYSES = "group_analyses"


@dataclass(frozen=True, slots=True)
class Key:
    """What rows are about besides the collection."""

    coding: str
    arm: str
    outcome: str


@dataclass(frozen=True, slots=True)
class OutcomeKey:
    """The outcome that the rows of a data set are about."""

    outcome: str


@dataclass(frozen=True, slots=True)
class Noted:
    """A row of `group_analyses` besides the key."""

    collection: str
    model: str
    analysed_at: dt.datetime
    settled: int
    fingerprint: str
    without_truth: int


@dataclass(frozen=True, slots=True)
class GroupRun:
    """What was analysed."""

    collections: tuple[str, ...]
    models: tuple[str, ...]
    removed: tuple[str, ...]
    """Models whose results were removed, as none of their answers counts any more."""
    notices: tuple[str, ...]
    """What a person should know besides the results."""


@dataclass(slots=True)
class _Found:
    of_models: dict[str, list[tuple[Key, Any]]]
    of_data: dict[str, list[tuple[OutcomeKey, Any]]]
    noted: list[tuple[Key, Noted]]


def run(
    connection: duckdb.DuckDBPyConnection,
    *,
    models: Sequence[str] | None = None,
    settings: Settings | None = None,
    progress: Callable[[str], None] | None = None,
) -> GroupRun:
    """Analyse every collection of the groups design, and put the results in the place of earlier ones.

    All tables are written in one transaction; whatever is raised, earlier results stay as they are. With
    `models`, only theirs are analysed and replaced, differences between them included.

    Raises:
        BadInput: a model has no answers. RunFailed: stored values are none of the domain's.
    """
    work = designs(connection)
    answered = settled(connection)
    known = dict.fromkeys(one.model for of_arm in answered.values() for one in of_arm)
    for model in models or ():
        if model not in known:
            raise BadInput(
                f"No answer of the model '{model}' to cases with groups counts.",
                hint=f"There are answers of: {', '.join(known) or 'none'}.",
            )
    now = dt.datetime.now(dt.UTC).replace(tzinfo=None)
    found = _Found({name: [] for name in (*OF_MODELS, DIFFERENCES)}, {name: [] for name in OF_DATA}, [])
    notices: list[str] = []
    for design in work:
        cases = read_cases(connection, design)
        if cases.without_truth:
            notices.append(
                f"Left out of '{design.collection}': {cases.without_truth:,} cases whose true value of "
                f"{design.outcome} is not known."
            )
        data_done = False
        for coding in codings(connection, design.schema):
            for (collection, arm), of_arm in answered.items():
                chosen = [one for one in of_arm if models is None or one.model in models]
                if collection == design.collection and chosen:
                    key = Key(coding, arm, design.outcome)
                    analysis = _analyse(connection, design, cases, key, chosen, settings, progress, data_done)
                    _keep(found, analysis, key, with_data=not data_done)
                    found.noted += [(key, _noted(of_model, now, cases)) for of_model in _by_model(chosen)]
                    data_done = True
        if not data_done:
            analysis = analyze(cases.data, settings, pairs=(), progress=progress)
            _keep(found, analysis, Key("", "", design.outcome), with_data=True)
    removed = _write(connection, found, work, models)
    return GroupRun(
        tuple(dict.fromkeys(design.collection for design in work)),
        tuple(dict.fromkeys(noted.model for _, noted in found.noted)),
        removed,
        tuple(notices),
    )


def _analyse(
    connection: duckdb.DuckDBPyConnection,
    design: Design,
    cases: Cases,
    key: Key,
    chosen: Sequence[Settled],
    settings: Settings | None,
    progress: Callable[[str], None] | None,
    data_done: bool,
) -> GroupAnalysis:
    predictions = read_predictions(connection, design, cases, key.coding, key.arm, chosen)
    given = settings or Settings()
    if data_done:
        given = replace(given, drift_draws=0)  # the data set's own rows are there already
    try:
        data = replace(cases.data, predictions=tuple(predictions))
    except ValueError as error:
        raise RunFailed(
            f"'{design.collection}' cannot be analysed: {error}.",
            hint="`evenhand runs` lists the runs and imports; exclude the unwanted one.",
        ) from None
    return analyze(data, given, progress=progress)


def _keep(found: _Found, analysis: GroupAnalysis, key: Key, *, with_data: bool) -> None:
    for table, (name, _) in OF_MODELS.items():
        found.of_models[table] += [(key, row) for row in getattr(analysis, name)]
    found.of_models[DIFFERENCES] += [(key, row) for row in analysis.differences]
    if with_data:
        for table, (name, _) in OF_DATA.items():
            found.of_data[table] += [(OutcomeKey(key.outcome), row) for row in getattr(analysis, name)]


def _by_model(chosen: Sequence[Settled]) -> list[list[Settled]]:
    by_model: dict[str, list[Settled]] = {}
    for one in chosen:
        by_model.setdefault(one.model, []).append(one)
    return list(by_model.values())


def _noted(of_model: Sequence[Settled], now: dt.datetime, cases: Cases) -> Noted:
    return Noted(
        of_model[0].collection,
        of_model[0].model,
        now,
        sum(one.settled for one in of_model),
        fingerprint(of_model),
        cases.without_truth,
    )


def fingerprint(of_model: Sequence[Settled]) -> str:
    """Of all answers of a model, whatever their seed."""
    return " ".join(sorted(one.fingerprint for one in of_model))


def _write(
    connection: duckdb.DuckDBPyConnection,
    found: _Found,
    work: Sequence[Design],
    models: Sequence[str] | None,
) -> tuple[str, ...]:
    """Replace the earlier results; gives the models whose results went without new ones."""
    collections = list(dict.fromkeys(design.collection for design in work))
    arrow: dict[str, pa.Table] = {
        table: tables.arrow(Key, kind, found.of_models[table]) for table, (_, kind) in OF_MODELS.items()
    }
    arrow[DIFFERENCES] = tables.arrow(Key, rows.ModelDifference, found.of_models[DIFFERENCES])
    arrow |= {
        table: tables.arrow(OutcomeKey, kind, found.of_data[table]) for table, (_, kind) in OF_DATA.items()
    }
    arrow[ANALYSES] = tables.arrow(Key, Noted, found.noted)
    with tables.transaction(connection):
        before = connection.execute(f"SELECT DISTINCT model FROM {ANALYSES}").fetchall()
        for table, content in arrow.items():
            condition, parameters = _replaced(table, collections, models)
            connection.execute(f"DELETE FROM {table} WHERE {condition}", parameters)
            with registered(connection, new_rows=content):
                connection.execute(f"INSERT INTO {table} BY NAME SELECT * FROM new_rows")
    new = {noted.model for _, noted in found.noted}
    return () if models is not None else tuple(sorted(row[0] for row in before if row[0] not in new))


def _replaced(table: str, collections: Sequence[str], models: Sequence[str] | None) -> tuple[str, list[Any]]:
    """Which earlier rows the new ones stand for. Without `models` also what no answer is behind any more."""
    if models is None:
        return "true", []
    if table in OF_DATA:
        return "collection IN (SELECT unnest(?))", [list(collections)]
    if table == DIFFERENCES:
        return "model_1 IN (SELECT unnest($1)) AND model_2 IN (SELECT unnest($1))", [list(models)]
    return "model IN (SELECT unnest(?))", [list(models)]
