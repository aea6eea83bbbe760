"""What a study has cost: answers, tries that gave none, killed runs, open batches; also after a merge."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest

import store
from store import batches, costs, runs
from store.batches import Batch
from store.rows import CostRow, PredictionRow, now

KEY = "m" * 32


def answer(run_id: uuid.UUID, cost: float | None) -> PredictionRow:
    return PredictionRow(
        None, uuid.uuid4(), KEY, run_id, 0, "answered", "x", now(), cost_usd=cost, served_by="a"
    )


def failed(run_id: uuid.UUID, cost: float | None, assumed: float | None = None) -> CostRow:
    return CostRow(
        None, run_id, KEY, "a", "timeout", now(), uuid.uuid4(), 0, cost_usd=cost, assumed_usd=assumed
    )


async def fill(study: store.Study) -> uuid.UUID:
    run_id = runs.start_run(study, "run", {})
    async with store.Writer(study) as writer:
        for row in (
            answer(run_id, 1.0),
            answer(run_id, None),
            failed(run_id, 0.5),
            failed(run_id, None, 0.25),
        ):
            await writer.put(row)
    return run_id


async def test_everything_that_was_paid_counts(tmp_path: Path) -> None:
    with store.open_study(tmp_path / "study.duckdb") as study:
        run_id = await fill(study)
        spent = costs.spent(study)
        assert (spent.known, spent.assumed, spent.unsettled, spent.total) == (1.5, 0.25, 0, 1.75)
        (run,) = runs.list_runs(study)
        assert (run.cost_usd, run.without_answer_usd, run.assumed_usd) == (1.5, 0.5, 0.25)
        kinds = study.connection.execute(
            "SELECT kind, count(*) FROM spending GROUP BY 1 ORDER BY 1"
        ).fetchall()
        assert kinds == [("answer", 2), ("timeout", 2)]
        runs.set_aside(study, run_id)
        assert costs.spent(study).total == 1.75, "a run that is set aside was paid all the same"


async def test_what_a_killed_run_may_have_spent_counts_and_that_of_an_ended_one_does_not(
    tmp_path: Path,
) -> None:
    path = tmp_path / "study.duckdb"
    with store.open_study(path) as study:
        run_id = await fill(study)
        runs.note_unsettled(study, run_id, 3.0)
        assert costs.spent(study).unsettled == 0, "it is under way here"
    with store.open_study(path) as study:
        assert (costs.spent(study).unsettled, costs.spent(study).total) == (3.0, 4.75)
        later = runs.start_run(study, "run", {})
        runs.note_unsettled(study, later, 2.0)
        runs.finish_run(study, later, "finished")
        assert costs.spent(study).unsettled == 3.0
        assert [run.assumed_usd for run in runs.list_runs(study)] == [3.25, 0]


def batch(run_id: uuid.UUID, **more: object) -> Batch:
    return Batch(uuid.uuid4(), run_id, KEY, "p", "m-1", "http://p", None, 2, 8.0, **more)  # type: ignore[arg-type]


async def test_an_open_batch_counts_at_its_dearest_less_what_it_brought(tmp_path: Path) -> None:
    with store.open_study(tmp_path / "study.duckdb") as study:
        run_id = runs.start_run(study, "run", {})
        query = uuid.uuid4()
        sent = batches.add_batch(
            study, batch(run_id, input_file_id="f", batch_id="b", submitted_at=now()), [(query, 0)]
        )
        batches.add_batch(study, batch(run_id), [(uuid.uuid4(), 0)])  # never uploaded
        assert costs.spent(study).total == 8.0
        assert costs.spent(study, [KEY]).total == 0
        assert costs.spent(study, [KEY]).in_named_batches == 8.0
        async with store.Writer(study) as writer:
            row = answer(run_id, 3.0)._replace(query_id=query, served_by="p/batch/m-1")
            await writer.put(row)
        assert batches.fetched_usd(study, sent) == 3.0
        spent = costs.spent(study)
        assert (spent.known, spent.in_batches, spent.total) == (3.0, 5.0, 8.0)
        batches.close(study, sent, assumed_usd=5.0, state="lost")
        batches.close(study, sent, assumed_usd=5.0, state="lost")
        spent = costs.spent(study)
        assert (spent.known, spent.assumed, spent.in_batches, spent.total) == (3.0, 5.0, 0.0, 8.0)


async def test_a_merge_brings_what_was_paid_once(tmp_path: Path) -> None:
    with store.open_study(tmp_path / "there.duckdb") as there:
        run_id = await fill(there)
        runs.note_unsettled(there, run_id, 3.0)
    with store.open_study(tmp_path / "here.duckdb") as here:
        for _ in range(2):
            store.merge.merge(here, tmp_path / "there.duckdb")
            assert costs.spent(here).total == pytest.approx(4.75)
    with store.open_study(tmp_path / "there.duckdb") as there:
        runs.finish_run(there, run_id, "interrupted")
    with store.open_study(tmp_path / "here.duckdb") as here:
        store.merge.merge(here, tmp_path / "there.duckdb")
        assert costs.spent(here).total == pytest.approx(1.75), (
            "the copy in which it has ended is the later one"
        )
