"""A run that is set aside takes its open batch with it, and brings it back when it counts again."""

from __future__ import annotations

import functools

import pytest
from batch_world import ask_by_batch, serving
from runner_world import fill_study, rows

import store
from store import batches

NEVER = 10**9


@pytest.fixture
def by_batch(study):
    """`await by_batch(server, **options)` runs the model `judge` by batches."""
    return functools.partial(ask_by_batch, study)


async def test_a_set_aside_run_takes_its_open_batch_with_it(study, by_batch, capsys):
    fill_study(study, 2, 3)
    async with serving(polls=NEVER) as server:
        await by_batch(server, store.Selection(limit=3), max_hours=0.2 / 3600)
        (first,) = store.runs.list_runs(study)
        (key,) = rows(study, "SELECT model_key FROM batches")[0]
        assert store.count_pending(study, key) == 3
        store.runs.set_aside(study, first.run_id)
        assert store.count_pending(study, key) == 6
        # It counts again while the batch is open: what it asks is not asked again.
        store.runs.set_aside(study, first.run_id, aside=False)
        assert store.count_pending(study, key) == 3
        store.runs.set_aside(study, first.run_id)
        server.polls = 0
        summary = await by_batch(server, monitor="lines")
        assert (summary.state, summary.counts) == ("finished", {"answered": 6})
        told = capsys.readouterr().err
        assert f"--count-again {first.run_id}" in told
        assert "batch batch_0 is not fetched, because its run was set aside" in told
        assert server.count("GET /batches/batch_1") > 0
        assert rows(study, "SELECT DISTINCT run_id FROM predictions") == [(summary.run_id,)]
        assert [len(server.of_file(one["input_file_id"])) for one in server.batches.values()] == [3, 6]
        assert [batch.batch_id for batch in batches.open_batches(study, aside=True)] == ["batch_0"]
        assert (await by_batch(server)).run_id is None
        # Set the second aside and let the first count: its batch brings three, three are asked.
        store.runs.set_aside(study, summary.run_id)
        store.runs.set_aside(study, first.run_id, aside=False)
        assert store.count_pending(study, key) == 3
        assert (await by_batch(server)).counts == {"answered": 6}
        assert [len(server.of_file(one["input_file_id"])) for one in server.batches.values()] == [3, 6, 3]
        assert batches.open_batches(study) == []
        assert rows(study, "SELECT count(*), count(DISTINCT query_id) FROM latest") == [(6, 6)]
