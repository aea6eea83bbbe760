"""Runs: one invocation each, with its manifest, its state and the counts of its tries."""

from __future__ import annotations

import datetime as dt
import json
import os
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from store import live
from store.errors import BadInput
from store.identity import new_prediction_id
from store.rows import now
from store.sql import statement, transaction
from store.study import Study

STATES = ("running", "finished", "interrupted", "failed")
_MOST_LIVE = 1_000_000


@dataclass(frozen=True, slots=True)
class Run:
    """A run as it is stored, with how many rows it brought."""

    run_id: uuid.UUID
    kind: str
    state: str
    started_at: dt.datetime
    ended_at: dt.datetime | None
    set_aside_at: dt.datetime | None
    predictions: int
    failures: int
    models: tuple[str, ...]
    manifest: dict[str, Any]
    cost_usd: float | None
    """What is known of its cost, with that of tries that gave no answer; None where nothing is known."""
    without_answer_usd: float
    """Of that, what tries cost that gave no answer."""
    assumed_usd: float
    """The most that it may have cost beyond that: costs not known, requests under way when it was killed."""


@dataclass(frozen=True, slots=True)
class Attempts:
    """Tries of one kind in a run: ok, rate_limited, timeout, connection, server_error and so on."""

    model_key: str
    served_by: str
    kind: str
    count: int


def start_run(study: Study, kind: str, manifest: Mapping[str, Any]) -> uuid.UUID:
    """Note that a run (kind: run, import or merge) starts, and return its id.

    A run that is still `running` in the file but not in this process is dead, as only one process can hold
    the
    file: it becomes `interrupted`.
    """
    run_id = new_prediction_id()
    with transaction(study.connection) as connection:
        close_dead_runs(study)
        connection.execute(
            "INSERT INTO runs (run_id, kind, state, started_at, manifest) VALUES (?, ?, 'running', ?, ?)",
            [run_id, kind, now(), json.dumps(dict(manifest), ensure_ascii=False, default=str)],
        )
    study.active_runs.add(run_id)
    return run_id


def close_dead_runs(study: Study) -> None:
    """Mark as interrupted what a killed process left as running."""
    study.connection.execute(
        "UPDATE runs SET state = 'interrupted' "
        "WHERE state = 'running' AND NOT list_contains(?::UUID[], run_id)",
        [[str(run_id) for run_id in study.active_runs]],
    )


def update_manifest(study: Study, run_id: uuid.UUID, entries: Mapping[str, Any]) -> None:
    """Set entries of a run's manifest that are known only later, such as the model names that came back."""
    study.connection.execute(
        "UPDATE runs SET manifest = json_merge_patch(manifest, ?) WHERE run_id = ?",
        [json.dumps(dict(entries), ensure_ascii=False, default=str), run_id],
    )


def note_unsettled(study: Study, run_id: uuid.UUID, usd: float) -> None:
    """Note, before it goes out, the most that the run may have spent beyond its rows: it counts if killed."""
    study.connection.execute("UPDATE runs SET unsettled_usd = ? WHERE run_id = ?", [usd, run_id])


def finish_run(study: Study, run_id: uuid.UUID, state: str, *, unsettled_usd: float | None = None) -> None:
    """Note how a run ended: finished, interrupted or failed; and what it spent that is in no row, if any."""
    if state not in STATES[1:]:
        raise ValueError(f"a run ends as one of {STATES[1:]}, not {state!r}")
    study.connection.execute(
        "UPDATE runs SET state = ?, ended_at = ?, unsettled_usd = ? WHERE run_id = ?",
        [state, now(), unsettled_usd or None, run_id],
    )
    study.active_runs.discard(run_id)


def add_attempts(study: Study, run_id: uuid.UUID, attempts: Iterable[Attempts]) -> None:
    """Add counts of tries to those that the run has."""
    with transaction(study.connection) as connection:
        for attempt in attempts:
            connection.execute(
                "INSERT INTO attempts VALUES (?, ?, ?, ?, ?) "
                "ON CONFLICT DO UPDATE SET count = attempts.count + excluded.count",
                [run_id, attempt.model_key, attempt.served_by, attempt.kind, attempt.count],
            )


def list_runs(study: Study) -> list[Run]:
    """All runs, the oldest first."""
    return _runs(study.connection.execute(statement("list_runs")).fetchall())


def live_runs(path: str | os.PathLike[str]) -> list[Run] | None:
    """As `list_runs`, from the process that has the study open; None if there is none.

    Raises:
        BadInput, RunFailed: as `store.live.live_reading`.
    """
    found = live.run_sql(path, statement("list_runs"), limit=_MOST_LIVE)
    return None if found is None else _runs(found.rows)


def _runs(rows: Iterable[tuple[Any, ...]]) -> list[Run]:
    return [
        Run(
            uuid.UUID(str(id_)),  # a text where it came over the socket
            kind,
            state,
            started,
            ended,
            aside,
            answers,
            failures,
            tuple(models or ()),
            json.loads(manifest),
            None if cost is None else float(cost),
            float(in_vain),
            float(assumed),
        )
        for (
            id_,
            kind,
            state,
            started,
            ended,
            aside,
            answers,
            failures,
            models,
            manifest,
            cost,
            in_vain,
            assumed,
        ) in rows
    ]


def set_aside(study: Study, run_id: uuid.UUID | str, *, aside: bool = True) -> uuid.UUID:
    """Let a run's answers no longer count (they stay), or, with `aside=False`, count again.

    So it is with the open batches that the run submitted: while it is set aside, what they ask is pending and
    nothing is fetched of them.

    `run_id` may be the beginning of an id, if only one run has it. Returns the whole id.

    Raises:
        BadInput: no run, or more than one, has such an id.
    """
    rows = study.connection.execute(
        "SELECT run_id FROM runs WHERE starts_with(run_id::VARCHAR, ?)", [str(run_id).lower()]
    ).fetchall()
    if len(rows) != 1:
        what = "no run has" if not rows else f"{len(rows)} runs have"
        raise BadInput(f"{what} the id '{run_id}'", hint="`evenhand runs` lists them.")
    found: uuid.UUID = rows[0][0]
    study.connection.execute(
        "UPDATE runs SET set_aside_at = ? WHERE run_id = ?", [now() if aside else None, found]
    )
    return found
