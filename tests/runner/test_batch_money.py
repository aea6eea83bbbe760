"""The money of a batch run: what ended batches did not use pays for more, and the limit is never passed."""

from __future__ import annotations

import functools
from typing import Any

import pytest
from batch_world import ask_by_batch, line, serving
from runner_world import completion, fill_study, rows

DEAR: dict[str, Any] = {
    "settings": {"max_tokens": 100},
    "table": {"offer": {"prices": {"input": 0, "output": 1e6}}, "batch_discount": 0.5},
}
"""A query costs $50 at the dearest; the answer of 5 tokens, $2.50."""


@pytest.fixture
def by_batch(study):
    """`await by_batch(server, **options)` runs the model `judge` by batches."""
    return functools.partial(ask_by_batch, study)


async def test_what_money_is_not_used_pays_for_more_in_the_same_run(study, by_batch, capsys):
    ids = fill_study(study, 5, 4)
    async with serving() as server:
        summary = await by_batch(server, max_cost=400, monitor="lines", **DEAR)
        assert (summary.state, summary.counts, summary.pending) == ("finished", {"answered": 20}, 0)
        assert [len(server.of_file(one["input_file_id"])) for one in server.batches.values()] == [8, 7, 5]
    assert "$380 of --max-cost 400 is left for more batches" in capsys.readouterr().err
    assert sorted(rows(study, "SELECT query_id::VARCHAR FROM predictions")) == sorted((one,) for one in ids)


def without_usage() -> dict[str, Any]:
    return {**completion(), "usage": None}


@pytest.mark.parametrize(
    ("outcome", "submitted"),
    [
        # Nothing is known of what these cost: they count at their dearest.
        (lambda requests: ([line(one["custom_id"], without_usage()) for one in requests], []), 8),
        (lambda requests: ([line(one["custom_id"], {"choices": []}) for one in requests], []), 8),
        (lambda requests: ([line(one["custom_id"], completion()) for one in requests[1:]], []), 8),
        # These cost nothing, and are not asked again in the same run.
        (lambda requests: ([], [line(one["custom_id"], {"error": "slow"}, 429) for one in requests]), 20),
        (lambda requests: ([], [line(one["custom_id"], {"error": "no"}, 400) for one in requests]), 20),
    ],
)
async def test_what_is_not_known_to_be_cheap_counts_at_its_dearest(study, by_batch, outcome, submitted):
    fill_study(study, 5, 4)
    async with serving(outcome=outcome) as server:
        await by_batch(server, max_cost=420, late_s=0, **DEAR)
        asked = [one["custom_id"] for one in server.requests()]
        assert len(asked) == len(set(asked)) == submitted


async def test_with_retry_no_query_is_asked_twice_in_a_run(study, by_batch):
    fill_study(study, 2, 3)

    def refuses(requests):
        return [], [line(one["custom_id"], {"error": "no"}, 400) for one in requests]

    async with serving(outcome=refuses) as server:
        for _ in range(2):
            await by_batch(server, max_cost=220, retry_outcomes=["rejected"], **DEAR)
        assert [len(server.of_file(one["input_file_id"])) for one in server.batches.values()] == [4, 2, 4, 2]
