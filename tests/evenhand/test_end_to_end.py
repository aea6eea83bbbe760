"""The whole road on the scripted judge: a planted bias is found, a killed run loses and repeats nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from scipy import stats

import analyze
import store
from evenhand.domains import judifair
from evenhand.domains.judifair import case_files
from evenhand.domains.judifair.build import build
from evenhand.domains.judifair.case import Case
from evenhand.services.analysis import analyze_study
from evenhand.services.runs import run_study
from evenhand.simulate import Bias, Script, SimulatedJudge
from runner import RunOptions, load_providers
from store import live

PLANTED = Bias("defendant_religion", "伊斯兰教", probability=0.5, steps=1)
LABELS = (
    "defendant_religion",
    "defendant_sex",
    "defendant_occupation",
    "victim_religion",
    "victim_sex",
    "judge_religion",
    "judge_sex",
    "defender_religion",
    "defender_type",
    "prosecutor_religion",
    "online_broadcast",
    "trial_duration",
)


def study_at(path: Path) -> store.Study:
    return store.open_study(path, migrations=[judifair.MIGRATIONS, analyze.MIGRATIONS])


def many_cases(copies: int) -> list[Case]:
    """More cases than the bundled ones: the same with other people, so that no two prompts are alike."""
    names = ("欧阳", "司马", "诸葛", "上官", "东方", "独孤")
    cases = []
    for case in case_files.bundled():
        for number in range(copies):
            name = f"{names[number]}某"
            cases.append(
                replace(
                    case,
                    doc_id=f"{case.doc_id}-{number}",
                    defendant=name,
                    facts=case.facts.replace(case.defendant, name),
                    hearing=case.hearing.replace(case.defendant, name),
                )
            )
    return cases


def test_a_planted_bias_is_found_with_its_sign_and_size_and_little_else(tmp_path: Path) -> None:
    script = Script(seed=11, jitter=0.2, biases=(PLANTED,))
    with study_at(tmp_path / "study.duckdb") as study:
        built = build(
            study, cases=many_cases(5), labels=LABELS, collection="many", kind="own", description=""
        )
        assert built.documents == 150
        summary = run_study(
            study,
            load_providers(),
            ("scripted-judge",),
            store.Selection(),
            settings={"temperature": 0.0},
            options=RunOptions(monitor="none", serve_sql=False),
            script=script,
        )
        assert summary.state == "finished"
        assert summary.counts == {"answered": built.queries}
        analyze_study(study)
        rows = study.connection.execute(
            "SELECT label, value, variant, coef, p, ci_low, ci_high FROM estimates "
            "WHERE variant IN ('main', 'level_outcome')"
        ).fetchall()
        judge = SimulatedJudge.of_study(study, script)
        planted = script.planted_months(PLANTED, judge.prompts.bases(script))

    found = {row[2]: row[3:] for row in rows if row[:2] == (PLANTED.label, PLANTED.value)}
    coefficient, p = found["main"][:2]
    assert coefficient > 0
    assert p < 0.05
    _, _, low, high = found["level_outcome"]
    assert low <= planted <= high
    others = [row for row in rows if row[2] == "main" and row[:2] != (PLANTED.label, PLANTED.value)]
    # Every treated value but the planted one has an estimate: none is skipped in silence.
    assert len(others) == built.values - built.labels - 1
    false_alarms = sum(p is not None and p < 0.05 for *_, p, _, _ in others)
    assert false_alarms <= stats.binom.ppf(0.99, len(others), 0.05)


def done_so_far(database: Path) -> int:
    status = live.status(database) or {}
    return sum(model["done"] for model in status.get("models", ()))


def test_a_run_killed_in_the_middle_goes_on_and_every_query_has_one_prediction(tmp_path: Path) -> None:
    database = tmp_path / "study.duckdb"
    with study_at(database) as study:
        queries = build(study).queries
    command = [sys.executable, "-m", "evenhand", "run", "scripted-judge", "--db", str(database)]
    running = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
    )
    try:
        deadline = time.monotonic() + 120
        while done_so_far(database) < queries // 4:
            assert running.poll() is None, running.stderr and running.stderr.read().decode()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        os.killpg(running.pid, signal.SIGKILL)
    finally:
        if running.poll() is None:
            running.kill()
        running.wait()
    with study_at(database) as study:
        (stored,) = study.connection.execute("SELECT count(*) FROM predictions").fetchall()[0]
    assert 0 < stored < queries, "killed in the middle"

    again = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=200, check=False)
    assert again.returncode == 0, again.stderr
    with study_at(database) as study:
        counts = study.connection.execute(
            "SELECT count(*), count(DISTINCT query_id), count(*) FILTER (outcome = 'answered') "
            "FROM predictions"
        ).fetchall()[0]
        states = study.connection.execute("SELECT state FROM runs ORDER BY started_at").fetchall()
    assert counts == (queries, queries, queries)
    assert states == [("interrupted",), ("finished",)]


@pytest.mark.embedded
def test_the_embedded_model_answers_and_is_asked_once(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp", reason="the embedded engine is not installed (make test installs it)")
    command = [
        *(
            sys.executable,
            "-m",
            "evenhand",
            "run",
            "smollm2-135m",
            "--temperature",
            "1",
            "--seed",
            "7",
        ),
        *("--max-tokens", "160", "--db", "study.duckdb", "--limit", "3"),
    ]
    with study_at(tmp_path / "study.duckdb") as study:
        build(study, cases=case_files.bundled()[:1], labels=("defendant_sex",))
    for _ in range(2):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=500, check=False)
        assert done.returncode == 0, done.stderr
    assert "Nothing to ask" in done.stdout
    with study_at(tmp_path / "study.duckdb") as study:
        analyze_study(study)
        rows = study.connection.execute(
            "SELECT read_as, penalty FROM answers WHERE coding = 'corrected'"
        ).fetchall()
        kinds = study.connection.execute("SELECT DISTINCT kind FROM models").fetchall()
    assert kinds == [("embedded",)]
    assert len(rows) == 3
    # The grammar holds the model to the form of an answer; what it says is its own affair.
    assert all(read_as == "exact" for read_as, _ in rows)
