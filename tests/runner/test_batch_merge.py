"""An open batch comes along when studies are merged: it is asked once, and either study can fetch it."""

from __future__ import annotations

from pathlib import Path

import pytest
from batch_world import ask_by_batch, serving
from runner_world import fill_study, rows

import store
from store.merge import merge

PREDICTIONS = "SELECT prediction_id, query_id, text, cost_usd FROM predictions ORDER BY 1"


@pytest.fixture
def paths(tmp_path: Path) -> tuple[Path, Path]:
    for name in ("a", "b"):
        with store.open_study(tmp_path / f"{name}.duckdb") as study:
            fill_study(study, 2, 3)
    return tmp_path / "a.duckdb", tmp_path / "b.duckdb"


def take(into: Path, other: Path) -> int:
    """Merge, twice; how many rows came."""
    with store.open_study(into) as study:
        merged = merge(study, other)
        assert merge(study, other).total == 0
        return merged.total


@pytest.mark.parametrize("both", [False, True])
async def test_a_merged_study_waits_for_and_fetches_the_other_ones_batch(paths, both):
    a, b = paths
    async with serving(polls=10**9) as server:
        with store.open_study(a) as study:
            await ask_by_batch(study, server, store.Selection(limit=3), max_hours=0.2 / 3600)
        assert take(b, a)
        server.polls = 0
        with store.open_study(b) as study:
            (key,) = rows(study, "SELECT model_key FROM batches")[0]
            plan = store.pending(study, key)
            plan.close()
            assert (plan.total, plan.in_batches) == (3, 3)
            summary = await ask_by_batch(study, server)
            assert (summary.counts, summary.state) == ({"answered": 6}, "finished")
        if both:
            with store.open_study(a) as study:
                await ask_by_batch(study, server, store.Selection(limit=3))
        for into, other in ((a, b), (b, a)):
            take(into, other)
        asked = [one["custom_id"] for one in server.requests()]
        assert len(asked) == len(set(asked)) == 6
        found = []
        for path in paths:
            with store.open_study(path) as study:
                assert rows(study, "SELECT count(*) FROM batches WHERE ended_at IS NULL") == [(0,)]
                assert store.count_pending(study, key) == 0
                found.append(rows(study, PREDICTIONS))
                assert (await ask_by_batch(study, server)).run_id is None
        assert found[0] == found[1]
        assert len(found[0]) == 6


async def test_two_studies_with_a_batch_each_have_both_when_merged(paths):
    a, b = paths
    async with serving(polls=10**9) as server:
        for path, shard in ((a, (1, 2)), (b, (2, 2))):
            with store.open_study(path) as study:
                await ask_by_batch(study, server, store.Selection(shard=shard), max_hours=0.2 / 3600)
        take(a, b)
        take(b, a)
        server.polls = 0
        for path in paths:
            with store.open_study(path) as study:
                assert (await ask_by_batch(study, server)).counts == {"answered": 6}
        assert server.count("POST /batches") == 2
        assert take(a, b) > 0  # a run, and no answer
        with store.open_study(a) as study:
            assert rows(study, "SELECT count(*), count(DISTINCT query_id) FROM predictions") == [(6, 6)]


async def test_the_batch_of_a_run_that_is_set_aside_there_is_merged_so(paths):
    a, b = paths
    async with serving(polls=10**9) as server:
        with store.open_study(a) as study:
            await ask_by_batch(study, server, max_hours=0.2 / 3600)
            (run,) = store.runs.list_runs(study)
            store.runs.set_aside(study, run.run_id)
        take(b, a)
        with store.open_study(b) as study:
            (key,) = rows(study, "SELECT model_key FROM batches")[0]
            assert store.count_pending(study, key) == 6
            store.runs.set_aside(study, run.run_id, aside=False)
            assert store.count_pending(study, key) == 0
