"""Merging: shards come together, nothing comes twice, templates and texts never mix."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from store_samples import USER, answer, build, failure, model, write

import store
from store import runs
from store.asking import Selection
from store.merge import SharedTable, merge
from store.runs import Attempts

DOCS = ["d0", "d1", "d2", "d3"]
TABLES = (
    "collections documents templates queries models predictions failures attempts".split()  # noqa: SIM905
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
    tables = [*TABLES, "runs"]
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
