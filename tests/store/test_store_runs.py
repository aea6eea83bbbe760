"""Runs: states, attempts, manifests, and what a killed process leaves behind."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest
from store_samples import answer, build, failure, model, write

import store
from store import runs
from store.runs import Attempts


async def test_runs_are_listed_with_what_they_brought(tmp_path: Path) -> None:
    with store.open_study(tmp_path / "s.duckdb") as study:
        build(study)
        key, other = model(study, "b"), model(study, "a")
        first = runs.start_run(study, "run", {"config": {"秘": 1}, "path": tmp_path})
        second = runs.start_run(study, "import", {})
        queries = list(store.pending(study, key))
        await write(study, [answer(queries[0], first, key), failure(queries[1], first, other)])
        runs.update_manifest(study, first, {"returned": ["m-1"]})
        runs.finish_run(study, first, "finished")
        listed = runs.list_runs(study)
        assert [run.run_id for run in listed] == [first, second]
        assert (listed[0].predictions, listed[0].failures, listed[0].models) == (1, 1, ("a", "b"))
        assert listed[0].manifest == {"config": {"秘": 1}, "path": str(tmp_path), "returned": ["m-1"]}
        assert [run.state for run in listed] == ["finished", "running"]
        assert listed[0].ended_at is not None
        assert listed[0].ended_at >= listed[0].started_at
        assert (listed[1].models, listed[1].ended_at) == ((), None)
        with pytest.raises(ValueError, match="ends as one of"):
            runs.finish_run(study, second, "running")


def test_a_run_that_was_killed_becomes_interrupted(tmp_path: Path) -> None:
    with store.open_study(tmp_path / "s.duckdb") as study:
        killed = runs.start_run(study, "run", {})
    with store.open_study(tmp_path / "s.duckdb") as study:
        one = runs.start_run(study, "run", {})
        two = runs.start_run(study, "run", {})
        states = {run.run_id: run.state for run in runs.list_runs(study)}
        assert states == {killed: "interrupted", one: "running", two: "running"}


def test_attempts_are_counted_up(tmp_path: Path) -> None:
    with store.open_study(tmp_path / "s.duckdb") as study:
        run_id = runs.start_run(study, "run", {})
        runs.add_attempts(study, run_id, [Attempts("m", "p", "ok", 5), Attempts("m", "p", "rate_limited", 2)])
        runs.add_attempts(study, run_id, [Attempts("m", "p", "ok", 3), Attempts("m", "q", "ok", 1)])
        found = study.connection.execute(
            "SELECT served_by, kind, count FROM attempts ORDER BY ALL"
        ).fetchall()
        assert found == [("p", "ok", 8), ("p", "rate_limited", 2), ("q", "ok", 1)]


def test_a_run_is_named_by_the_start_of_its_id(tmp_path: Path) -> None:
    with store.open_study(tmp_path / "s.duckdb") as study:
        run_id = runs.start_run(study, "run", {})
        assert runs.set_aside(study, str(run_id)[:20].upper()) == run_id
        assert runs.list_runs(study)[0].set_aside_at is not None
        runs.set_aside(study, run_id, aside=False)
        assert runs.list_runs(study)[0].set_aside_at is None
        with pytest.raises(store.BadInput, match="no run has the id"):
            runs.set_aside(study, uuid.uuid4())
        runs.start_run(study, "run", {})
        with pytest.raises(store.BadInput, match="2 runs have the id"):
            runs.set_aside(study, "")
