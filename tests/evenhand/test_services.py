"""The services and `import evenhand`: the whole way without a command, for one domain and for several."""

from __future__ import annotations

import asyncio
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import evenhand
from evenhand.services import domains
from evenhand.services.events import Event, Stage
from evenhand.services.studies import open_study
from store.errors import BadInput, RunFailed

DOMAINS = Path(__file__).parents[1] / "domains"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Parole, asked and analyzed; built from a folder that is gone since."""
    folder = tmp_path_factory.mktemp("made")
    shutil.copytree(DOMAINS / "parole", folder / "parole")
    db = folder / "study.duckdb"
    built = evenhand.build(db, folder / "parole")
    assert (built.domain, built.collection) == ("parole", "parole")
    assert built.queries == built.added > 50
    heard: list[dict[str, Any]] = []
    summary = evenhand.run("scripted-judge", db, on_status=lambda status: heard.append(dict(status)))
    assert (summary.state, summary.pending) == ("finished", 0)
    assert heard[-1]["models"][0]["model"] == "scripted-judge"
    shutil.rmtree(folder / "parole")
    return db


@pytest.fixture
def db(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(made, tmp_path / "study.duckdb"))


def test_an_analysis_gives_its_tables(db: Path) -> None:
    heard: list[Event] = []
    (found,) = evenhand.analyze(db, on_event=heard.append)
    assert found.domain == "parole"
    frame = found.pandas("findings")
    assert set(frame["arm"]) == {"base"}
    assert set(frame["outcome"]) == {specs.outcome for specs in found.specifications}
    assert [event.name for event in heard if isinstance(event, Stage)] == ["read", "estimate"]
    stored = evenhand.sql("SELECT count(*) AS n FROM findings", db)
    assert stored.column("n").to_pylist() == [len(frame)]
    # The study's only domain needs no prefix.
    assert evenhand.sql("SELECT count(*) AS n FROM answers", db)["n"].to_pylist() == [
        evenhand.sql("SELECT count(*) AS n FROM parole.answers", db)["n"].to_pylist()[0]
    ]


def test_a_report_is_written_for_each_outcome(db: Path, tmp_path: Path) -> None:
    found = evenhand.analyze(db)
    pages = evenhand.report(db, tmp_path / "report")
    assert len(pages) == len(found[0].specifications)
    assert all(page.is_file() for page in pages)


def test_a_snapshot_and_an_export_are_made(db: Path, tmp_path: Path) -> None:
    evenhand.analyze(db)
    copied = evenhand.snapshot(tmp_path / "copy.duckdb", db)
    assert copied.answers > 50
    assert evenhand.export("SELECT * FROM answers", tmp_path / "answers.csv", db) > 50
    assert (tmp_path / "answers.csv").is_file()


def test_it_works_inside_a_running_loop(db: Path) -> None:
    async def cell() -> str:
        return evenhand.run("scripted-judge", db, temperature=1.0, limit=7).state

    assert asyncio.run(cell()) == "finished"


def test_no_signal_handler_is_installed_and_nothing_is_printed(
    db: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    installed: list[object] = []
    monkeypatch.setattr(
        asyncio.base_events.BaseEventLoop, "add_signal_handler", lambda *given: installed.append(given)
    )
    before = signal.getsignal(signal.SIGTERM)
    evenhand.run("scripted-judge", db, temperature=0.5, limit=3)
    evenhand.analyze(db)
    assert signal.getsignal(signal.SIGTERM) is before
    assert installed == []
    captured = capfd.readouterr()
    assert (captured.out, captured.err) == ("", "")


def test_importing_it_is_cheap() -> None:
    heavy = {"aiohttp", "click", "duckdb", "numpy", "pyarrow"}
    code = f"import sys, evenhand; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_three_domains_live_in_one_study(db: Path, tmp_path: Path) -> None:
    evenhand.build(db, DOMAINS / "courses")
    evenhand.build(db, "judifair", labels=("defendant_sex",))
    summary = evenhand.run("scripted-judge", db)
    assert (summary.state, summary.pending) == ("finished", 0)
    with open_study(db) as study:
        assert domains.names(study) == ["courses", "judifair", "parole"]
        with pytest.raises(BadInput, match="several domains"):
            domains.one_of_study(study)
    found = {report.domain: report for report in evenhand.analyze(db)}
    assert set(found) == {"courses", "judifair", "parole"}
    for name, report in found.items():
        collections = set(report.pandas("analyses")["collection"])
        assert collections == {name}
    # None of them reads the answers of another.
    counted = evenhand.sql(
        "SELECT (SELECT count(DISTINCT prediction_id) FROM judifair.verdicts) AS judifair, "
        "(SELECT count(DISTINCT prediction_id) FROM parole.readings) AS parole, "
        "(SELECT count(DISTINCT prediction_id) FROM courses.readings) AS courses, "
        "(SELECT count(*) FROM predictions) AS every",
        db,
    ).to_pylist()[0]
    assert counted["judifair"] + counted["parole"] + counted["courses"] == counted["every"]
    with pytest.raises(BadInput, match="several domains"):
        evenhand.build(db)
    only = evenhand.analyze(db, "courses")
    assert [report.domain for report in only] == ["courses"]
    pages = evenhand.report(db, tmp_path / "report", "judifair")
    assert [page.name for page in pages] == ["index.html"]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda db: evenhand.build(db, "nonsuch"), "no domain 'nonsuch'"),
        (lambda db: evenhand.build(db, DOMAINS / "parole", labels=("nonsuch",)), "no label 'nonsuch'"),
        (lambda db: evenhand.build(db, DOMAINS / "parole", arm="nonsuch"), "no arm 'nonsuch'"),
        (lambda db: evenhand.run("nonsuch", db), "nonsuch"),
        (lambda db: evenhand.analyze(db, codings=["nonsuch"]), "no coding 'nonsuch'"),
        (lambda db: evenhand.analyze(db, "judifair"), "no cases of the domain 'judifair'"),
        (lambda db: evenhand.sql("DROP TABLE queries", db), "SELECT"),
        (lambda db: evenhand.analyze(db.with_name("none.duckdb")), "no study at"),
    ],
)
def test_mistakes_are_bad_input_and_change_nothing(db: Path, call: Any, said: str) -> None:
    before = evenhand.sql("SELECT count(*) AS n FROM queries", db)
    with pytest.raises(BadInput, match=said):
        call(db)
    assert evenhand.sql("SELECT count(*) AS n FROM queries", db) == before


def test_a_study_without_answers_has_nothing_to_analyze(tmp_path: Path) -> None:
    evenhand.build(tmp_path / "new.duckdb", DOMAINS / "parole")
    with pytest.raises(RunFailed, match="no answer that counts"):
        evenhand.analyze(tmp_path / "new.duckdb")
