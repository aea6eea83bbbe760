"""What is pending: exactly the selected questions without a counting terminal row, in order, in bounded
memory."""

from __future__ import annotations

import subprocess
import sys
import uuid
from collections.abc import Iterator

import pytest
from store_samples import answer, build, failure, model, write

import store
from store import batches, runs
from store.pending_queries import PAGE, Selection

DOCS = [f"d{i}" for i in range(7)]


@pytest.fixture
def study() -> Iterator[store.Study]:
    with store.open_study(":memory:") as opened:
        build(opened, DOCS)
        yield opened


def sets(queries: list[store.PendingQuery]) -> dict[tuple[str, str], int]:
    counts: dict[tuple[str, str], int] = {}
    for query in queries:
        counts[query.doc_id, query.label] = counts.get((query.doc_id, query.label), 0) + 1
    return counts


def batch(run_id: uuid.UUID, model_key: str, requests: int) -> batches.Batch:
    return batches.Batch(uuid.uuid4(), run_id, model_key, "p", "m-1", "http://h/v1", None, requests)


def ids(queries: Iterator[store.PendingQuery]) -> list[tuple[uuid.UUID, int]]:
    return [(query.query_id, query.repeat) for query in queries]


def test_documents_go_out_together_and_repeats_follow_each_other(study: store.Study) -> None:
    queries = list(store.pending(study, "m", repeats=3))
    assert len(queries) == 7 * 5 * 3
    assert [query.ordinal for query in queries] == sorted(query.ordinal for query in queries)
    assert [query.repeat for query in queries] == [0, 1, 2] * 35
    assert [query.doc_id for query in queries] == sorted(query.doc_id for query in queries)
    assert queries[0].user_text == "请判决。\n事实：男于盗窃。d0"


async def test_terminal_rows_settle_and_the_newest_counts(study: store.Study) -> None:
    key, other = model(study), model(study, "other")
    run_id = runs.start_run(study, "run", {})
    queries = list(store.pending(study, key))
    outcomes = ["answered", "refused", "empty", "truncated"]
    rows = [answer(query, run_id, key, outcome) for query, outcome in zip(queries, outcomes, strict=False)]
    given_up = ["context_overflow", "rejected", "failed"]
    rows += [
        failure(query, run_id, key, outcome) for query, outcome in zip(queries[4:], given_up, strict=False)
    ]  # type: ignore[misc]
    await write(study, rows)
    assert ids(store.pending(study, key)) == ids(iter(queries[7:]))
    assert store.count_pending(study, other) == 35
    # Asked again are those whose newest row has the outcome, whatever lies below it.
    retried = list(store.pending(study, key, retry_outcomes=["failed", "empty"]))
    assert {query.query_id for query in retried} == {
        q.query_id for q in [queries[2], queries[6], *queries[7:]]
    }
    await write(study, [answer(queries[6], run_id, key), failure(queries[0], run_id, key)])
    retried = list(store.pending(study, key, retry_outcomes=["failed", "empty"]))
    assert {query.query_id for query in retried} == {
        q.query_id for q in [queries[0], queries[2], *queries[7:]]
    }
    assert ids(store.pending(study, key)) == ids(iter(queries[7:]))


async def test_repeats_are_settled_one_by_one(study: store.Study) -> None:
    key = model(study)
    run_id = runs.start_run(study, "run", {})
    queries = list(store.pending(study, key, repeats=70))
    picked = [query for i, query in enumerate(queries) if i % 3 == 0]
    await write(
        study, [answer(query, run_id, key) for query in picked + picked[:50]]
    )  # some twice: repeats of a kill
    rest = store.pending(study, key, repeats=70)
    assert (rest.total, rest.selected) == (len(queries) - len(picked), len(queries))
    assert ids(rest) == [(q.query_id, q.repeat) for i, q in enumerate(queries) if i % 3]
    assert store.count_pending(study, key, repeats=1) == 35 - sum(q.repeat == 0 for q in picked)


async def test_a_run_set_aside_no_longer_counts(study: store.Study) -> None:
    key = model(study)
    first, second = runs.start_run(study, "run", {}), runs.start_run(study, "run", {})
    queries = list(store.pending(study, key))
    await write(study, [answer(query, first, key) for query in queries[:10]])
    await write(study, [failure(query, second, key) for query in queries[5:8]])
    latest = "SELECT outcome, count(*) FROM latest GROUP BY outcome ORDER BY outcome"
    assert study.connection.execute(latest).fetchall() == [("answered", 7), ("failed", 3)]
    assert store.count_pending(study, key) == 25
    assert (
        runs.set_aside(study, str(second)[:13] if str(first)[:13] != str(second)[:13] else second) == second
    )
    assert study.connection.execute(latest).fetchall() == [("answered", 10)]
    assert store.count_pending(study, key, retry_outcomes=["failed"]) == 25
    runs.set_aside(study, first)
    assert store.count_pending(study, key) == 35
    runs.set_aside(study, first, aside=False)
    assert store.count_pending(study, key) == 25
    assert study.connection.execute("SELECT count(*) FROM predictions").fetchall() == [(10,)]


def test_the_open_batch_of_a_run_set_aside_holds_nothing(study: store.Study) -> None:
    key = model(study)
    first, second = runs.start_run(study, "run", {}), runs.start_run(study, "run", {})
    queries = list(store.pending(study, key, repeats=2))
    held = [(query.query_id, query.repeat) for query in queries]
    a = batches.add_batch(study, batch(first, key, 10), held[:10])
    batches.add_batch(study, batch(second, key, 8), held[6:14])
    assert store.count_pending(study, key, repeats=2) == 70 - 14
    runs.set_aside(study, first)
    plan = store.pending(study, key, repeats=2)
    assert (plan.total, plan.in_batches) == (70 - 8, 8)
    assert ids(plan) == held[:6] + held[14:]
    assert [one.run_id for one in batches.open_batches(study)] == [second]
    assert batches.open_batches(study, key, aside=True) == [a]
    runs.set_aside(study, first, aside=False)
    assert store.count_pending(study, key, repeats=2) == 70 - 14
    assert len(batches.open_batches(study)) == 2
    assert batches.open_batches(study, aside=True) == []


@pytest.mark.parametrize("limit", [2, 3, 5, 6, 7, 10, 34, 35, 999])
def test_a_limit_cuts_between_counterfactual_sets(study: store.Study, limit: int) -> None:
    queries = list(store.pending(study, "m", selection=Selection(limit=limit)))
    assert len(queries) <= limit
    assert len(queries) >= min(35, limit) - 2
    assert all(count == {"sex": 2, "season": 3}[label] for (_, label), count in sets(queries).items())


def test_a_limit_below_the_first_set_cuts_it(study: store.Study) -> None:
    assert [q.value for q in store.pending(study, "m", selection=Selection(limit=1))] == ["男"]
    season = Selection(labels=["season"], limit=2)
    assert [q.value for q in store.pending(study, "m", selection=season)] == ["春", "夏"]


async def test_a_limit_selects_the_same_again(study: store.Study) -> None:
    key = model(study)
    run_id = runs.start_run(study, "run", {})
    selection = Selection(limit=12)
    await write(
        study, [answer(query, run_id, key) for query in store.pending(study, key, selection=selection)]
    )
    assert store.count_pending(study, key, selection=selection) == 0
    assert store.count_pending(study, key, selection=Selection(limit=17)) == 5
    for chosen, repeats, beyond in (
        (selection, 1, 23),
        (Selection(limit=17), 1, 18),
        (Selection(limit=100), 1, 0),
        (Selection(), 1, 0),
        (selection, 2, 2 * 35 - 2 * 12),
    ):
        queries = store.pending(study, key, repeats, chosen)
        queries.close()
        assert queries.beyond == beyond


def test_shards_share_out_whole_documents(study: store.Study) -> None:
    parts = [list(store.pending(study, "m", selection=Selection(shard=(i, 3)))) for i in (1, 2, 3)]
    together = [query for part in parts for query in part]
    assert len(together) == 35
    assert {(q.query_id, q.repeat) for q in together} == set(ids(store.pending(study, "m")))
    assert [len({q.doc_id for q in part}) for part in parts] == [3, 2, 2]
    assert all(count == 5 for part in parts for count in [len(part) / len({q.doc_id for q in part})])


def test_a_selection_picks_labels_documents_and_collection(study: store.Study) -> None:
    build(study, ["x"], collection="second")
    picked = Selection(collection="cases", labels=["sex"], documents=["d3", "d5"])
    assert sets(list(store.pending(study, "m", selection=picked))) == {("d3", "sex"): 2, ("d5", "sex"): 2}
    assert store.count_pending(study, "m", selection=Selection(collection="second")) == 5
    everything = list(store.pending(study, "m"))
    assert len(everything) == 40
    assert [q.collection for q in everything] == ["cases"] * 35 + ["second"] * 5


def test_a_name_that_selects_nothing_is_a_mistake(study: store.Study) -> None:
    for selection, words in (
        (Selection(labels=["sex", "seasn"]), "no label 'seasn'"),
        (Selection(documents=["d77"]), "no document 'd77'"),
        (Selection(collection="case"), "no collection 'case'"),
        (Selection(limit=0), "limit of 0"),
        (Selection(shard=(4, 3)), "no shard 4/3"),
        (Selection(shard=(0, 3)), "no shard 0/3"),
    ):
        with pytest.raises(store.BadInput, match=words):
            store.pending(study, "m", selection=selection)
    with pytest.raises(store.BadInput, match="Did you mean season"):
        store.count_pending(study, "m", selection=Selection(labels=["seasn"]))
    with pytest.raises(store.BadInput, match="no outcome 'oops'"):
        store.pending(study, "m", retry_outcomes=["oops"])
    with pytest.raises(store.BadInput, match="would count instead") as caught:
        store.pending(study, "m", retry_outcomes=["failed", "answered"])
    assert "--repeat" in str(caught.value.hint)
    with pytest.raises(store.BadInput, match="at least once"):
        store.pending(study, "m", repeats=0)


async def test_many_pages_give_every_question_once_while_answers_come_in(study: store.Study) -> None:
    docs = [f"e{i:04}" for i in range(PAGE // 2)]
    build(study, docs, collection="large")
    key = model(study)
    run_id = runs.start_run(study, "run", {})
    selection = Selection(collection="large")
    queries = store.pending(study, key, selection=selection)
    seen: list[tuple[uuid.UUID, int]] = []
    async with store.Writer(study, batch_rows=100) as writer:
        for query in queries:
            seen.append((query.query_id, query.repeat))
            await writer.put(answer(query, run_id, key))
    assert len(seen) == len(set(seen)) == queries.total == 5 * len(docs)
    assert store.count_pending(study, key, selection=selection) == 0


def test_memory_stays_bounded_and_the_start_is_quick(tmp_path_factory: pytest.TempPathFactory) -> None:
    """12,500 prompts of 6 KB are 75 MB; read one by one they must cost a small part of that."""
    path = tmp_path_factory.mktemp("large") / "s.duckdb"
    with store.open_study(path) as study:
        build(study, [f"d{i:05}" for i in range(2_500)], text="某" * 2_000 + "{{who}}{{when}}")
    code = """
import sys, time, store
from pathlib import Path
peak = lambda: int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1024
with store.open_study(sys.argv[1], memory_limit="128MB") as study:
    next(store.pending(study, "warm up"))
    before, started, size = peak(), time.monotonic(), 0
    queries = store.pending(study, "m")
    next(queries)
    first = time.monotonic() - started
    for query in queries:
        size += len(query.user_text.encode())
    assert queries.total == 12_500 and size > 75_000_000, (queries.total, size)
    print(f"first question after {first:.2f} s; {size / 1e6:.0f} MB of prompts cost {peak() - before:.0f} MB")
    assert peak() - before < 35 and first < 3
"""
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=False)
    print(done.stdout)
    assert done.returncode == 0, done.stderr
