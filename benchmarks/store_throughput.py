"""What the store can do here: rows a second of the writer, stalls, pending over 2.8 million answers.

    python benchmarks/store_throughput.py [--rows 200000] [--stored 2800000] [--folder /tmp]

Prints one line a figure. Nothing is asserted: figures depend on the disk and on the neighbours.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa

import store
from store import identity, rows, runs
from store.sql import registered

DOCUMENTS, VALUES = 1_100, 161  # 177,100 queries, as published
TEXT = "审理查明，被告人于{{when}}" + "在某地实施盗窃，价值人民币若干元。" * 120  # about 6 KB in UTF-8
ANSWER = '{"罪名": "盗窃罪", "是否有罪": "有罪", "刑罚类型": "有期徒刑", "刑期": 18}'


def say(name: str, value: str) -> None:
    print(f"{name:58} {value}", flush=True)


def peak_mb() -> float:
    """The process's own peak (getrusage would give a child its parent's)."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return int(status.read_text().split("VmHWM:")[1].split()[0]) / 1024


def prediction(query_id: object, key: str, run_id: object, repeat: int = 0) -> store.PredictionRow:
    return store.PredictionRow(
        prediction_id=identity.new_prediction_id(),
        query_id=query_id,  # type: ignore[arg-type]
        model_key=key,
        run_id=run_id,  # type: ignore[arg-type]
        repeat=repeat,
        outcome="answered",
        text=ANSWER,
        created_at=rows.now(),
        finish_reason="stop",
        prompt_tokens=2_000,
        completion_tokens=54,
        latency_s=1.5,
        served_by="provider/model",
        returned_model="model",
    )


def build(study: store.Study) -> None:
    store.add_collection(study, "bench", kind="own", description="synthetic")
    store.add_documents(study, "bench", (store.Document(f"d{i}", i, TEXT) for i in range(DOCUMENTS)))
    template = store.add_template(study, name="t", system_text=None, user_text="请判决。\n{{document}}")
    store.add_queries(
        study,
        "bench",
        (
            store.Query(
                f"d{i}", f"label{j % 65}", str(j), i * VALUES + j, f"{i}/{j}", template, {"when": str(j)}
            )
            for i in range(DOCUMENTS)
            for j in range(VALUES)
        ),
    )


async def measure_writer(study: store.Study, count: int) -> None:
    key = store.add_model(study, model="writer", kind="simulated", settings={"model": "writer"})
    run_id = runs.start_run(study, "run", {})
    row = prediction(identity.new_prediction_id(), key, run_id)
    stall, stop = 0.0, False

    async def watch() -> None:
        nonlocal stall
        while not stop:
            before = time.perf_counter()
            await asyncio.sleep(0.005)
            stall = max(stall, time.perf_counter() - before - 0.005)

    watcher = asyncio.create_task(watch())
    started, cpu = time.perf_counter(), time.process_time()
    async with store.Writer(study) as writer:
        for i in range(count):
            await writer.put(row)
            if i % 100 == 99:
                await asyncio.sleep(0)
        await writer.flush()
    took, used = time.perf_counter() - started, time.process_time() - cpu
    stop = True
    await watcher
    runs.finish_run(study, run_id, "finished")
    say("writer: rows a second", f"{count / took:,.0f}")
    say("writer: CPU microseconds a row", f"{used / count * 1e6:.1f}")
    say("writer: of which making Arrow and inserting, alone", f"{alone(study, row):.1f}")
    say("writer: longest commit, ms", f"{writer.counters.longest_commit_s * 1e3:.0f}")
    say("writer: longest stall of the event loop, ms", f"{stall * 1e3:.0f}")
    study.connection.execute("DELETE FROM predictions")


def alone(study: store.Study, row: store.PredictionRow) -> float:
    """CPU microseconds a row of the batch itself, without the queue and the event loop."""
    cpu = time.process_time()
    for _ in range(20):
        with registered(study.connection, new_rows=rows.predictions_table([row] * 1_000)):
            study.connection.execute("INSERT INTO predictions BY NAME FROM new_rows")
    return (time.process_time() - cpu) / 20_000 * 1e6


def store_answers(study: store.Study, stored: int) -> list[str]:
    """Answers of 16 models to all queries, straight in; the last model is left half done."""
    ids = study.connection.execute("SELECT query_id FROM queries ORDER BY ordinal").fetchall()
    queries = rows.uuid_array([row[0] for row in ids])
    run_id = runs.start_run(study, "import", {})
    keys, left, n = [], stored, 0
    while left > 0:
        key = store.add_model(study, model=f"m{n}", kind="simulated", settings={"model": f"m{n}"})
        keys.append(key)
        count = min(left, len(ids)) if left > len(ids) else left // 2
        left, n = (left - count if left > len(ids) else 0), n + 1
        table = pa.table(
            {
                "query_id": queries.slice(0, count),
                "served_by": pa.array(["provider"] * count),
                "latency_s": pa.array(np.random.default_rng(n).random(count)),
            }
        )
        with registered(study.connection, new_rows=table):
            study.connection.execute(
                "INSERT INTO predictions BY NAME SELECT uuidv7() AS prediction_id, query_id, ? AS model_key, "
                "?::UUID AS run_id, 0 AS repeat, 'answered' AS outcome, ? || query_id AS text, "
                "now()::TIMESTAMP AS created_at, served_by, latency_s FROM new_rows",
                [key, str(run_id), ANSWER],
            )
    runs.finish_run(study, run_id, "finished")
    return keys


def measure_pending(path: Path, key: str, limit: str) -> None:
    """In a process of its own, so that its memory is its own."""
    started = time.perf_counter()
    study = store.open_study(path, memory_limit=limit)
    opened = time.perf_counter() - started
    queries = store.pending(study, key)
    next(queries)
    say(
        f"pending ({limit}): first question, s after opening", f"{time.perf_counter() - started - opened:.2f}"
    )
    say(f"pending ({limit}): opening, s", f"{opened:.2f}")
    say(f"pending ({limit}): to do / selected", f"{queries.total:,} / {queries.selected:,}")
    started, slowest = time.perf_counter(), 0.0
    before = started
    for _ in queries:
        after = time.perf_counter()
        slowest, before = max(slowest, after - before), after
    say(f"pending ({limit}): microseconds a question", f"{(before - started) / queries.total * 1e6:.0f}")
    say(f"pending ({limit}): longest wait for a question, ms", f"{slowest * 1e3:.0f}")
    say(f"pending ({limit}): peak memory, MB", f"{peak_mb():.0f}")
    study.close()


def measure_reading(path: Path) -> None:
    for name, sql in (
        ("count by outcome in `latest`", "SELECT model_key, outcome, count(*) FROM latest GROUP BY ALL"),
        ("newest answers", "SELECT * FROM predictions ORDER BY created_at DESC LIMIT 20"),
    ):
        started = time.perf_counter()
        store.readonly.run_sql(path, sql)
        say(f"read-only SQL: {name}, s", f"{time.perf_counter() - started:.2f}")


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--rows", type=int, default=200_000)
    options.add_argument("--stored", type=int, default=2_800_000)
    options.add_argument("--folder", type=Path)
    options.add_argument("--pending", nargs=3, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.pending:
        measure_pending(Path(given.pending[0]), given.pending[1], given.pending[2])
        return
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        path = Path(folder) / "bench.duckdb"
        started = time.perf_counter()
        with store.open_study(path) as study:
            build(study)
            say("building 177,100 queries, s", f"{time.perf_counter() - started:.1f}")
            asyncio.run(measure_writer(study, given.rows))
            started = time.perf_counter()
            keys = store_answers(study, given.stored)
            say(f"storing {given.stored:,} answers in bulk, s", f"{time.perf_counter() - started:.1f}")
        say("size of the file, MB", f"{os.path.getsize(path) / 1e6:.0f}")
        for limit in ("4GB", store.RUN_MEMORY_LIMIT):
            subprocess.run([sys.executable, __file__, "--pending", path, keys[-1], limit], check=True)
        measure_reading(path)


if __name__ == "__main__":
    main()
