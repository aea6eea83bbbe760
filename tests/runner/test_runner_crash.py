"""Killed at any moment and started again, a run loses nothing, stores nothing twice, asks little again."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from runner_world import fill_study, rows

import store
from evenhand.simulate import Latency, PromptBook, Script
from tests.servers.process import JudgeProcess

CHILD = Path(__file__).with_name("runner_child.py")
IN_FLIGHT = 16
LATENCY_S = 0.03
COMMIT_WINDOW_S = 1.0


def start(database: Path, base_url: str) -> subprocess.Popen[str]:
    command = [sys.executable, str(CHILD), str(database), base_url, str(IN_FLIGHT)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def kill_again_and_again(tmp_path: Path, queries: int, kills: int) -> None:
    database = tmp_path / "study.duckdb"
    with store.open_study(database) as study:
        fill_study(study, documents=queries // 20, values=20)
        book = PromptBook.of_study(study)
    rng = random.Random(3)
    stored_before: set[str] = set()
    killed = 0
    with JudgeProcess(Script(plain=True, latency=Latency(LATENCY_S)), book) as judge:
        while killed < kills:
            child = start(database, judge.base_url)
            assert child.stdout is not None
            assert child.stdout.readline() == "open\n"
            time.sleep(rng.uniform(0.0, 2.2))
            assert child.poll() is None, "it was done before it was killed: ask more queries"
            os.kill(child.pid, signal.SIGKILL)
            child.wait()
            child.stdout.close()
            killed += 1
            with store.open_study(database) as study:
                stored = {row[0] for row in rows(study, "SELECT prediction_id::VARCHAR FROM predictions")}
            assert stored_before <= stored, "a committed answer is lost"
            stored_before = stored
        last = start(database, judge.base_url)
        out, _ = last.communicate(timeout=120)
        assert last.returncode == 0, out
        accounts = judge.accounts()
    with store.open_study(database) as study:
        counted = rows(study, "SELECT count(*), count(DISTINCT query_id) FROM predictions")
        states = dict(rows(study, "SELECT state, count(*) FROM runs GROUP BY 1"))
    assert counted == [(queries, queries)]
    assert states == {"interrupted": states["interrupted"], "finished": 1}
    # What was asked again was in flight, or answered and not yet committed: at most one window's answers.
    window = int(IN_FLIGHT / LATENCY_S * (COMMIT_WINDOW_S + 0.5))
    most = kills * (IN_FLIGHT + min(window, 1000))
    print(
        f"\n{kills} kills, {queries} queries: {accounts['extra']} answers were asked again, "
        f"{accounts['extra'] / kills:.0f} a kill (at most {most // kills}); none lost, none stored twice"
    )
    assert accounts["extra"] <= most


def test_a_run_that_is_killed_goes_on(tmp_path):
    kill_again_and_again(tmp_path, queries=1_600, kills=4)


@pytest.mark.soak
def test_a_run_that_is_killed_thirty_times_goes_on(tmp_path):
    kill_again_and_again(tmp_path, queries=16_000, kills=32)
