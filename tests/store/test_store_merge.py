"""Merging: shards come together, nothing comes twice, templates and texts never mix."""

from __future__ import annotations

import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from store_samples import USER, answer, build, failure, model, write

import store
from store import batches, identity, runs
from store.merge import SharedTable, merge
from store.pending_queries import Selection
from store.rows import now
from store.runs import Attempts

DOCS = ["d0", "d1", "d2", "d3"]
TABLES = (
    "collections documents templates queries models predictions failures other_costs attempts".split()  # noqa: SIM905
)


@pytest.fixture
def here(tmp_path: Path) -> Iterator[store.Study]:
    with store.open_study(tmp_path / "here.duckdb") as study:
        yield study


@pytest.fixture
def there(tmp_path: Path) -> Path:
    return tmp_path / "there.duckdb"


async def run_shard(
    study: store.Study, shard: tuple[int, int] | None, *, name: str = "m", user: str = USER
) -> None:
    build(study, DOCS, user=user)
    key = model(study, name)
    run_id = runs.start_run(study, "run", {"shard": shard})
    queries = list(store.pending(study, key, selection=Selection(shard=shard)))
    await write(study, [answer(query, run_id, key) for query in queries[:-1]])
    await write(study, [failure(query, run_id, key) for query in queries[-1:]])
    runs.add_attempts(study, run_id, [Attempts(key, "p", "ok", len(queries))])
    runs.finish_run(study, run_id, "finished")


def contents(study: store.Study) -> dict[str, list[tuple[object, ...]]]:
    tables = [*TABLES, "runs", "batches", "batch_items"]
    return {table: study.connection.execute(f"FROM {table} ORDER BY ALL").fetchall() for table in tables}


async def test_shards_come_together_and_nothing_comes_twice(here: store.Study, there: Path) -> None:
    await run_shard(here, (1, 2))
    with store.open_study(there) as study:
        await run_shard(study, (2, 2))
    key = model(here)
    assert store.count_pending(here, key) == 10
    merged = merge(here, there)
    assert merged.added["predictions"] == 9
    assert merged.added["failures"] == 1
    assert merged.added["runs"] == 1
    assert (merged.added["queries"], merged.added["documents"], merged.retired) == (0, 0, 0)
    assert store.count_pending(here, key) == 0
    assert [run.kind for run in runs.list_runs(here)] == ["run", "run", "merge"]
    before = contents(here)
    assert merge(here, there).total == 0
    assert contents(here) == before
    here.connection.execute("CHECKPOINT")
    copy = there.with_name("copy.duckdb")
    copy.write_bytes(here.path.read_bytes())
    assert merge(here, copy).total == 0
    assert contents(here) == before


async def test_into_an_empty_study_comes_everything(here: store.Study, there: Path) -> None:
    with store.open_study(there) as study:
        await run_shard(study, None)
        full = contents(study)
        pending = [query.user_text for query in store.pending(study, "nobody")]
    merge(here, there)
    assert {table: contents(here)[table] for table in TABLES} == {table: full[table] for table in TABLES}
    assert [query.user_text for query in store.pending(here, "nobody")] == pending


async def test_another_template_comes_in_retired(here: store.Study, there: Path) -> None:
    await run_shard(here, (1, 2))
    with store.open_study(there) as study:
        await run_shard(study, None, user="别的{{document}}")
    merged = merge(here, there)
    assert (merged.added["queries"], merged.retired) == (20, 20)
    assert merged.added["predictions"] == 19
    assert store.count_pending(here, model(here)) == 10
    assert merge(here, there).total == 0


async def test_what_is_set_aside_in_either_is_set_aside(here: store.Study, there: Path) -> None:
    with store.open_study(there) as study:
        await run_shard(study, None)
    merge(here, there)
    assert store.count_pending(here, model(here)) == 0
    with store.open_study(there) as study:
        runs.set_aside(study, runs.list_runs(study)[0].run_id)
    assert merge(here, there).total == 0
    assert store.count_pending(here, model(here)) == 20
    runs.set_aside(here, runs.list_runs(here)[0].run_id, aside=False)
    assert store.count_pending(here, model(here)) == 0


async def test_a_run_goes_on_there_and_is_merged_again(here: store.Study, there: Path) -> None:
    with store.open_study(there) as study:
        build(study, DOCS)
        key = model(study)
        run_id = runs.start_run(study, "run", {})
        queries = list(store.pending(study, key))
        await write(study, [answer(query, run_id, key) for query in queries[:5]])
        runs.add_attempts(study, run_id, [Attempts(key, "p", "ok", 5)])
    merge(here, there)
    assert runs.list_runs(here)[0].state == "interrupted"
    with store.open_study(there) as study:
        await write(study, [answer(query, run_id, key) for query in queries[5:8]])
        runs.add_attempts(study, run_id, [Attempts(key, "p", "ok", 3)])
        runs.finish_run(study, run_id, "finished")
    merged = merge(here, there)
    assert merged.added["predictions"] == 3
    assert runs.list_runs(here)[0].state == "finished"
    assert here.connection.execute("SELECT count FROM attempts").fetchall() == [(8,)]


def add_batch(study: store.Study, count: int = 5, **columns: Any) -> batches.Batch:
    """A batch of the first queries that are pending, by a run of its own."""
    build(study, DOCS)
    key = model(study)
    asked = [
        (one.query_id, one.repeat) for one in store.pending(study, key, selection=Selection(limit=count))
    ]
    run_id = runs.start_run(study, "run", {})
    made = batches.Batch(uuid.uuid4(), run_id, key, "p", "m-1", "http://h/v1", "KEY", len(asked), 0.5)
    made = batches.add_batch(study, made, asked)
    runs.finish_run(study, run_id, "interrupted")
    return batches.change(study, made, **columns) if columns else made


SUBMITTED = {"state": "in_progress", "input_file_id": "f", "batch_id": "batch_0", "submitted_at": now()}


def copied(study: store.Study, path: Path) -> Path:
    study.connection.execute("CHECKPOINT")
    path.write_bytes(study.path.read_bytes())
    return path


def test_an_open_batch_comes_along_with_all_that_fetching_needs(here: store.Study, there: Path) -> None:
    build(here, DOCS)
    with store.open_study(there) as study:
        made = add_batch(study, **SUBMITTED)
        asked = batches.items(study, made)
    assert store.count_pending(here, made.model_key) == 20
    assert merge(here, there).added["batches"] == 1
    assert batches.open_batches(here) == [made]
    assert batches.items(here, made) == asked
    plan = store.pending(here, made.model_key)
    assert (plan.total, plan.in_batches) == (15, 5)
    plan.close()
    assert merge(here, there).total == 0
    assert here.connection.execute("SELECT count(*) FROM batch_items").fetchall() == [(5,)]
    # The other way round it changes nothing.
    copy = copied(here, there.with_name("copy.duckdb"))
    with store.open_study(there) as study:
        assert merge(study, copy).added["batches"] == 0
        assert batches.open_batches(study) == [made]


async def test_what_was_fetched_there_closes_the_batch_here(here: store.Study, there: Path) -> None:
    made = add_batch(here, **SUBMITTED)
    older = copied(here, there.with_name("older.duckdb"))
    copied(here, there)
    with store.open_study(there) as study:
        (open_batch,) = batches.open_batches(study)
        run_id = runs.start_run(study, "run", {})
        first, *_ = sorted(batches.items(study, open_batch))
        row = store.PredictionRow(
            prediction_id=identity.batch_row_id(made.batch, *first),
            query_id=first[0],
            model_key=made.model_key,
            run_id=run_id,
            repeat=first[1],
            outcome="answered",
            text="{}",
            created_at=now(),
        )
        await write(study, [row])
        batches.change(study, open_batch, state="expired", note="4 are still to ask", ended_at=now())
    # Fetched here too: the same row.
    await write(here, [row._replace(run_id=made.run_id)])
    assert merge(here, there).added["predictions"] == 0
    assert batches.open_batches(here) == []
    assert store.count_pending(here, made.model_key) == 19
    # An older copy, in which it is open, does not open it again.
    assert merge(here, older).total == 0
    assert batches.open_batches(here) == []
    assert here.connection.execute("SELECT state, note FROM batches").fetchall() == [
        ("expired", "4 are still to ask")
    ]


@pytest.mark.parametrize(
    ("mine", "theirs", "stands"),
    [
        # The study that knows more of the submission is believed, ...
        ({"state": "uploaded", "input_file_id": "f"}, SUBMITTED, ("in_progress", "batch_0", True)),
        ({}, SUBMITTED, ("in_progress", "batch_0", True)),
        (SUBMITTED, {"state": "uploaded", "input_file_id": "f"}, ("in_progress", "batch_0", True)),
        (SUBMITTED, {}, ("in_progress", "batch_0", True)),
        # ... and that it was given up there is no end here, ...
        (SUBMITTED, {**SUBMITTED, "state": "lost", "ended_at": now()}, ("in_progress", "batch_0", True)),
        (
            {"state": "uploaded", "input_file_id": "f"},
            {"state": "rejected", "input_file_id": "f", "ended_at": now()},
            ("uploaded", None, True),
        ),
        # ... but one given up here that was submitted there may still bring something, ...
        (
            {"state": "rejected", "input_file_id": "f", "ended_at": now()},
            SUBMITTED,
            ("in_progress", "batch_0", True),
        ),
        # ... unless that is what was given up.
        ({**SUBMITTED, "state": "lost", "ended_at": now()}, SUBMITTED, ("lost", "batch_0", False)),
        ({**SUBMITTED, "state": "completed", "ended_at": now()}, SUBMITTED, ("completed", "batch_0", False)),
    ],
)
def test_of_a_batch_that_both_know_the_further_one_stands(
    here: store.Study, there: Path, mine: dict[str, Any], theirs: dict[str, Any], stands: tuple[object, ...]
) -> None:
    made = add_batch(here)
    copied(here, there)
    with store.open_study(there) as study:
        if theirs:
            batches.change(study, made, **theirs)
    if mine:
        batches.change(here, made, **mine)
    for _ in range(2):
        assert merge(here, there).total == 0
        state = "SELECT state, batch_id, ended_at IS NULL FROM batches"
        assert here.connection.execute(state).fetchall() == [stands]
        assert here.connection.execute("SELECT count(*) FROM batch_items").fetchall() == [(5,)]


def test_a_batch_of_which_nothing_was_handed_over_or_will_come_stays_there(
    here: store.Study, there: Path
) -> None:
    build(here, DOCS)
    with store.open_study(there) as study:
        key = add_batch(study).model_key
        add_batch(study, state="rejected", input_file_id="f", ended_at=now())
    assert merge(here, there).added["batches"] == 0
    assert here.connection.execute("FROM batches").fetchall() == []
    assert here.connection.execute("FROM batch_items").fetchall() == []
    assert store.count_pending(here, key) == 20


def test_a_batch_that_was_submitted_by_both_is_refused_by_name(here: store.Study, there: Path) -> None:
    made = add_batch(here, state="uploaded", input_file_id="f")
    copied(here, there)
    with store.open_study(there) as study:
        batches.change(study, made, **{**SUBMITTED, "batch_id": "batch_7"})
    batches.change(here, made, **SUBMITTED)
    before = contents(here)
    with pytest.raises(
        store.BadInput, match=r"as batch_0 here and as batch_7 in .*nothing was merged"
    ) as caught:
        merge(here, there)
    assert f"--batch --db {there}" in str(caught.value.hint)
    assert contents(here) == before
    with store.open_study(there) as study:
        batches.change(study, made, state="completed", ended_at=now())
    merge(here, there)
    assert [one.batch_id for one in batches.open_batches(here)] == ["batch_0"]


def test_other_texts_under_the_same_name_are_refused_whole(here: store.Study, there: Path) -> None:
    build(here, DOCS)
    with store.open_study(there) as study:
        build(study, ["d9", *DOCS[1:]], text="另一案情{{who}}{{when}}")
    before = contents(here)
    with pytest.raises(store.BadInput, match=r"a document 'd\d' of the collection 'cases' with another text"):
        merge(here, there)
    assert contents(here) == before
    with store.open_study(there.with_name("third.duckdb")) as study:
        store.add_collection(study, "cases", kind="own", description="")
    with pytest.raises(store.BadInput, match="a collection 'cases' of another kind"):
        merge(here, there.with_name("third.duckdb"))


def test_tables_of_other_rooms_come_along(here: store.Study, there: Path) -> None:
    table = "CREATE TABLE truths (collection VARCHAR, doc_id VARCHAR, months DOUBLE)"
    with store.open_study(there) as study:
        study.connection.execute(f"{table}; INSERT INTO truths VALUES ('c', '1', 6), ('c', '2', 7)")
    here.connection.execute(f"{table}; INSERT INTO truths VALUES ('c', '1', 99)")
    shared = [SharedTable("truths", ("collection", "doc_id")), SharedTable("missing", ("a",))]
    first = merge(here, there, shared)
    assert (first.added["truths"], first.differing) == (1, {"truths": 1})
    assert merge(here, there, shared).total == 0
    found = here.connection.execute("FROM truths ORDER BY doc_id").fetchall()
    assert found == [("c", "1", 99.0), ("c", "2", 7.0)]


def test_what_cannot_be_merged_is_told(here: store.Study, there: Path) -> None:
    with pytest.raises(store.BadInput, match="the study itself"):
        merge(here, here.path)
    with pytest.raises(store.BadInput, match="there is no study"):
        merge(here, there)
    there.write_text("no database" * 100)
    with pytest.raises(store.BadInput, match="not a DuckDB file"):
        merge(here, there)
    there.unlink()
    store.open_study(there).close()
    hold = (
        "import sys, store; s = store.open_study(sys.argv[1]); print('ready', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", hold, there], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        with pytest.raises(store.BadInput, match=str(process.pid)):
            merge(here, there)
        process.communicate("")
    with duckdb.connect(str(there)) as connection:
        connection.execute("INSERT INTO migrations VALUES ('store', 9999, 'future', now()::TIMESTAMP)")
    with pytest.raises(store.BadInput, match="newer Evenhand"):
        merge(here, there)
