"""The core of the store from end to end: a study is built, asked, answered, closed and opened again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from store_samples import answer, build, model, write

import store
from store import runs


async def test_a_study_is_asked_and_answered(tmp_path: Path) -> None:
    with store.open_study(tmp_path / "s.duckdb") as study:
        study_id = study.study_id
        build(study)
        key = model(study)
        run_id = runs.start_run(study, "run", {"x": 1})
        questions = list(store.pending(study, key, repeats=2))
        assert len(questions) == 20
        await write(study, [answer(question, run_id, key) for question in questions[:7]])
        assert [(q.query_id, q.repeat) for q in store.pending(study, key, repeats=2)] == [
            (q.query_id, q.repeat) for q in questions[7:]
        ]
        runs.finish_run(study, run_id, "finished")
    with store.open_study(tmp_path / "s.duckdb") as study:
        assert study.study_id == study_id
        assert store.count_pending(study, key, repeats=2) == 13
        (run,) = runs.list_runs(study)
        assert (run.predictions, run.state, run.models, run.manifest) == (7, "finished", ("m",), {"x": 1})


def test_asking_and_writing_do_not_import_pandas(tmp_path: Path) -> None:
    code = f"""
import asyncio, sys, uuid, store
from store import runs, rows, identity
from store_samples import build, model, answer, write
with store.open_study({str(tmp_path / "s.duckdb")!r}) as study:
    build(study)
    run_id = runs.start_run(study, "run", {{}})
    asyncio.run(write(study, [answer(q, run_id, "m") for q in store.pending(study, model(study))]))
sys.exit('pandas' in sys.modules)
"""
    here = Path(__file__).parent
    assert subprocess.run([sys.executable, "-c", code], cwd=here, check=False).returncode == 0


def test_every_public_name_is_there() -> None:
    for name in store.__all__:
        assert getattr(store, name) is not None
    assert callable(store.pending)
