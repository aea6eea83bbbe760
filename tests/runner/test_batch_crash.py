"""A batch run that is killed between any two steps goes on: nothing is paid for, or stored, twice."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from aiohttp import web
from batch_world import BatchServer
from runner_world import fill_study, rows

import store
from store import batches

CHILD = Path(__file__).with_name("batch_child.py")
QUERIES = 60

DEATHS = {
    # where it dies: (files uploaded in all, state that it leaves, rows that it leaves)
    "noted": (1, ("written", None), 0),
    "uploaded": (2, ("written", None), 0),
    "upload recorded": (1, ("uploaded", None), 0),
    "submitted": (1, ("uploaded", None), 0),
    "submission recorded": (1, ("validating", "batch_0"), 0),
    "harvested": (1, ("completed", "batch_0"), QUERIES),
}


@pytest.fixture
def server():
    """A batch server in a thread of its own, as the test waits for children."""
    import asyncio

    scripted = BatchServer()
    loop = asyncio.new_event_loop()

    async def begin() -> web.AppRunner:
        app = web.Application(client_max_size=2**28)
        app.router.add_route("*", "/{path:.*}", scripted.handle)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return runner

    runner = loop.run_until_complete(begin())
    scripted.base_url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    yield scripted
    asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(10)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(10)
    loop.close()


def run(database: Path, server: BatchServer, die_at: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(CHILD), str(database), server.base_url, die_at]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("die_at", DEATHS)
def test_a_killed_batch_run_goes_on(tmp_path, server, die_at):
    uploads, left, stored = DEATHS[die_at]
    database = tmp_path / "study.duckdb"
    with store.open_study(database) as study:
        fill_study(study, documents=QUERIES // 5, values=5)
    killed = run(database, server, die_at)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    with store.open_study(database) as study:
        assert [(one.state, one.batch_id) for one in batches.open_batches(study)] == [left]
        assert rows(study, "SELECT count(*) FROM predictions") == [(stored,)]
    whole = run(database, server)
    assert whole.returncode == 0, whole.stdout + whole.stderr
    assert (server.count("POST /files"), server.count("POST /batches")) == (uploads, 1)
    asked = [one["custom_id"] for one in server.requests()]
    assert len(asked) == len(set(asked)) == QUERIES
    with store.open_study(database) as study:
        assert rows(study, "SELECT count(*), count(DISTINCT query_id) FROM predictions") == [
            (QUERIES, QUERIES)
        ]
        assert batches.open_batches(study) == []
        (key,) = rows(study, "SELECT model_key FROM models")[0]
        assert store.count_pending(study, key) == 0


def test_the_command_line_asks_by_batches(tmp_path, server, monkeypatch):
    monkeypatch.setenv("CLI_BATCH_KEY", "planted-cli-key")
    database, tables = tmp_path / "study.duckdb", tmp_path / "providers.toml"
    with store.open_study(database) as study:
        fill_study(study, documents=2, values=3)
    tables.write_text(
        f'[providers.p]\nbase_url = "{server.base_url}"\nkeys = ["CLI_BATCH_KEY"]\nbatch = true\n'
        '[providers.p.models.judge]\nid = "judge-1"\nprices = { input = 1, output = 2 }\n'
        f'[providers.q]\nbase_url = "{server.base_url}"\n[providers.q.models.other]\nid = "o"\n',
        "utf-8",
    )

    def evenhand(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "evenhand", *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    common = ("--db", str(database), "--providers", str(tables))
    refused = evenhand("run", "other", "--batch", *common)
    assert refused.returncode == 2
    assert "p" in refused.stderr.rpartition("batch interface")[2]
    assert "Traceback" not in refused.stderr
    assert evenhand("run", "judge", "--poll", "5", *common).returncode == 2
    done = evenhand("run", "judge", "--batch", "--poll", "1", "--json", "--monitor", "lines", *common)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["counts"] == {"answered": 6}
    assert "batch_0 completed, 6 of 6 done" in done.stderr
    assert "planted" not in done.stderr + done.stdout
    assert evenhand("status", "--db", str(database)).returncode == 0
