"""The command line as a user meets it: judged by what it prints and its exit code."""

from __future__ import annotations

import importlib
import io
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import click
import pytest
from rich.console import Console

import evenhand.cli as evenhand_commands
from evenhand.cli.demo import LABELS, QUESTION
from evenhand.cli.main import COMMANDS, main
from evenhand.cli.options import typed


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    stdout: str
    stderr: str


Evenhand = Callable[..., Done]


@pytest.fixture
def evenhand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Evenhand:
    """Run a command in an empty folder, as the console script does; what escapes fails the test."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str, code: int = 0, given: str | None = None) -> Done:
        monkeypatch.setattr(sys, "stdin", io.StringIO(given or ""))
        capfd.readouterr()
        ended = 0
        try:
            main(arguments)
        except SystemExit as stop:
            ended = stop.code if isinstance(stop.code, int) else 0
        done = Done(ended, *capfd.readouterr())
        assert done.code == code, f"exit {done.code}\n{done.stdout}\n{done.stderr}"
        return done

    return call


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_and_examples(name: str) -> None:
    command = importlib.import_module(f"evenhand.cli.{COMMANDS[name][0]}").command
    assert isinstance(command, click.Command)
    text = command.get_help(click.Context(command, info_name=f"evenhand {name}"))
    assert f"evenhand {name}" in text.split("Examples:")[1], "the examples show the command itself"
    assert command.get_short_help_str()


def test_help_names_every_command_and_loads_none_of_the_heavy_packages() -> None:
    code = (
        "import sys\nfrom evenhand.cli.main import cli\n"
        "try:\n    cli.main(['--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'duckdb', 'aiohttp', 'pyfixest', 'pandas', 'pyarrow', 'numpy', 'pydantic', 'rich'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stderr.strip() == "[]"
    for name in COMMANDS:
        assert name in done.stdout


def test_no_command_loads_a_database_before_it_is_called() -> None:
    modules = ", ".join(f"evenhand.cli.{module}" for module, _ in COMMANDS.values())
    heavy = {"aiohttp", "duckdb", "numpy", "pandas", "pyarrow", "scipy"}
    code = f"import sys, {modules}\nprint(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_list_of_commands_is_that_of_the_modules() -> None:
    folder = Path(evenhand_commands.__file__).parent
    shared = {
        "__init__",
        "demo_groups",
        "groups",
        "import_predictions",
        "main",
        "options",
        "output",
        "published_fairlex",
        "selection",
    }
    assert {module for module, _ in COMMANDS.values()} == {path.stem for path in folder.glob("*.py")} - shared


def test_build_then_show_then_sql(evenhand: Evenhand) -> None:
    built = json.loads(evenhand("build", "--labels", "defendant_sex,prosecurate_sex", "--json").stdout)
    assert built["labels"] == 2
    assert built["values"] == 6
    assert built["queries"] == built["added"]
    again = json.loads(evenhand("build", "--labels", "defendant_sex,prosecurate_sex", "--json").stdout)
    assert again["added"] == 0
    assert again["queries"] == built["queries"]

    shown = json.loads(evenhand("show", "theft-ebike:defendant_sex:女", "--json").stdout)
    assert shown["difference"] == {"here": "女", "there": "男"}
    assert "女" in evenhand("show", "theft-ebike:defendant_sex:女").stdout

    question = "SELECT label, count(*) AS n FROM queries GROUP BY label ORDER BY label"
    rows = json.loads(evenhand("sql", question, "--json").stdout)
    assert [row["label"] for row in rows] == ["defendant_sex", "prosecutor_sex"]
    assert sum(row["n"] for row in rows) == built["queries"]
    assert json.loads(evenhand("sql", "-", "--json", given=question).stdout) == rows


def test_a_size_of_the_sample_asks_for_a_sample(evenhand: Evenhand) -> None:
    built = json.loads(evenhand("build", "--sample-documents", "3", "--json").stdout)
    assert (built["documents"], built["labels"]) == (3, 4)
    told = evenhand("build", "--sample-documents", "99", "--db", "other.duckdb", code=2)
    assert "A sample of 99 documents" in told.stderr


def test_a_table_with_chinese_stays_aligned(evenhand: Evenhand) -> None:
    from rich.cells import cell_len

    evenhand("build", "--labels", "defendant_sex")
    table = evenhand("sql", "SELECT DISTINCT value, label FROM queries ORDER BY value").stdout
    assert len({cell_len(line) for line in table.splitlines() if line.strip()}) == 1


@pytest.mark.parametrize(
    "question",
    ["DROP TABLE queries", "SELECT 1; SELECT 2", "COMMIT; DELETE FROM queries", "COPY queries TO 'x.csv'"],
)
def test_sql_that_would_write_is_refused_and_nothing_is_lost(evenhand: Evenhand, question: str) -> None:
    evenhand("build", "--labels", "defendant_sex")
    before = evenhand("sql", "SELECT count(*) FROM queries", "--json").stdout
    assert evenhand("sql", question, "--json", code=2).stdout == ""
    assert evenhand("sql", "SELECT count(*) FROM queries", "--json").stdout == before


def test_json_that_would_be_cut_is_an_error_and_prints_nothing(evenhand: Evenhand) -> None:
    evenhand("build", "--labels", "defendant_sex")
    done = evenhand("sql", "SELECT * FROM queries", "--json", "--limit", "5", code=2)
    assert done.stdout == ""
    assert "more than 5 rows" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("run", "gpt-five"), "gpt-five"),
        (("run", "gpt-4o-mini", "--db", "s.duckdb"), "OPENAI_API_KEY"),
        (("build", "--labels", "defendant_sxe"), "defendant_sex"),
        (("build", "--cases", "missing.jsonl"), "missing.jsonl"),
        (("sql", "SELECT 1", "--db", "missing.duckdb"), "missing.duckdb"),
        (("analyze", "--db", "missing.duckdb"), "missing.duckdb"),
        (("import", "nowhere"), "nowhere"),
        (("providers", "--file", "missing.toml"), "missing.toml"),
        (("run", "gpt-4o-mini", "--shard", "3/2"), "3/2"),
        (("run", "gpt-4o-mini", "--max-cost", "nan"), "nan is no finite number"),
        (("run", "gpt-4o-mini", "--max-total-cost", "nan"), "nan is no finite number"),
        (("run", "gpt-4o-mini", "--max-total-cost", "inf"), "inf is no finite number"),
        (("run", "gpt-4o-mini", "--max-hours", "nan"), "nan is no finite number"),
        (("sql", "SELECT 1", "--timeout", "nan"), "nan is no finite number"),
    ],
)
def test_a_mistake_gets_a_sentence_and_exit_code_2(
    evenhand: Evenhand, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], says: str
) -> None:
    for key in ("OPENAI_API_KEY", "OPENROUTER_API_KEY"):
        monkeypatch.delenv(key, raising=False)
    if "s.duckdb" in arguments:
        evenhand("build", "--labels", "defendant_sex", "--db", "s.duckdb")
    done = evenhand(*arguments, code=2)
    assert says in done.stderr
    assert done.stdout == ""


def test_a_broken_providers_file_is_named_with_its_line(evenhand: Evenhand, tmp_path: Path) -> None:
    (tmp_path / "providers.toml").write_text("[providers.x]\nbase_url = 'http://127.0.0.1'\nkind = \n")
    done = evenhand("providers", code=2)
    assert "providers.toml" in done.stderr
    assert "line 3" in done.stderr


def test_a_database_of_another_program_is_left_alone(evenhand: Evenhand, tmp_path: Path) -> None:
    import duckdb

    file = tmp_path / "other.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE TABLE theirs AS SELECT 1 AS x")
    done = evenhand("build", "--db", "other.duckdb", code=2)
    assert "other.duckdb" in done.stderr
    with duckdb.connect(str(file)) as connection:
        assert [row[0] for row in connection.execute("SHOW TABLES").fetchall()] == ["theirs"]


def test_text_that_is_no_database_is_refused(evenhand: Evenhand, tmp_path: Path) -> None:
    (tmp_path / "notes.duckdb").write_text("these are my notes, not a database")
    assert "notes.duckdb" in evenhand("build", "--db", "notes.duckdb", code=2).stderr
    assert (tmp_path / "notes.duckdb").read_text() == "these are my notes, not a database"


def test_a_dry_import_counts_and_leaves_nothing_behind(evenhand: Evenhand, tmp_path: Path) -> None:
    record = {
        "ID": 1,
        "changed_label": "法官性别(Judge_sex)",
        "label_value": "男",
        "response": ['{"罪名":"盗窃罪","是否有罪":"是","刑罚类型":"有期徒刑","刑期":12}', 0],
        "true_answer": {"罪名": "盗窃罪", "是否有罪": "是", "刑罚类型": "有期徒刑", "刑期": 10},
    }
    (tmp_path / "PHI4_t0").mkdir()
    (tmp_path / "PHI4_t0" / "judge_sexphi4_t0.json").write_text(json.dumps([record]), encoding="utf-8")
    assert "1 answers would be imported" in evenhand("import", "PHI4_t0", "--dry-run").stdout
    dry = json.loads(evenhand("import", "PHI4_t0", "--dry-run", "--json").stdout)
    assert (dry["added"], dry["truths"], dry["files"][0]["added"]) == (1, 0, 1)
    assert not (tmp_path / "study.duckdb").exists()


PROVIDERS = """
[providers.here]
base_url = "{base_url}"
[providers.here.models.judge]
id = "judge-1"
"""


@pytest.fixture
def rejecting() -> Iterator[str]:
    """The base URL of a server that rejects every request."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            body = b'{"error": {"message": "temperature must be 1 for this model"}}'
            self.send_response(400)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()
        thread.join()


def test_a_run_without_an_answer_says_why_in_every_place(
    evenhand: Evenhand, tmp_path: Path, rejecting: str
) -> None:
    (tmp_path / "providers.toml").write_text(PROVIDERS.format(base_url=rejecting), encoding="utf-8")
    evenhand("build", "--labels", "defendant_sex")
    done = evenhand("run", "judge", "--limit", "9", "--monitor", "none", code=1)
    last = done.stdout.splitlines()[-1]
    assert "9 were given up (9 rejected): HTTP 400: temperature must be 1 for this model" in last
    status = evenhand("status", code=1).stdout
    assert "Ended: failed" in status
    assert status.splitlines()[-1] == last
    assert "given up, 9 rejected: HTTP 400: temperature must be 1 for this model" in status
    assert json.loads(evenhand("status", "--json", code=1).stdout)["message"] == last
    assert "judge" in evenhand("runs").stdout
    analyzed = evenhand("analyze").stdout
    assert "Nothing could be tested: no query was answered (" in analyzed
    assert "rejected by the provider: 9" in analyzed


def test_runs_show_what_was_asked_where_nothing_came_of_it(evenhand: Evenhand, tmp_path: Path) -> None:
    from store import open_study, runs

    evenhand("build", "--labels", "defendant_sex")
    config = {"models": [{"settings": {"model": "judge-2"}}, {"settings": {"model": "judge-1"}}]}
    with open_study(tmp_path / "study.duckdb") as study:
        runs.finish_run(study, runs.start_run(study, "run", {"config": config}), "failed")
        runs.finish_run(study, runs.start_run(study, "import", {"config": "of another form"}), "finished")
    assert "judge-1, judge-2" in evenhand("runs").stdout
    assert [run["models"] for run in json.loads(evenhand("runs", "--json").stdout)] == [
        ["judge-1", "judge-2"],
        [],
    ]


WRITING = """
import sys, time, store
from store import live, runs
study = store.open_study(sys.argv[1])
config = {"models": [{"settings": {"model": "某某大模型"}}]}
runs.finish_run(study, runs.start_run(study, "import", {}), "finished")
runs.start_run(study, "run", {"config": config})
server = live.Server(study).start() if sys.argv[2] == "serve" else None
print("ready", flush=True)
time.sleep(60)
"""


@pytest.fixture
def writing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Let another process hold `study.duckdb` as a run does, and answer on its socket ("serve") or not."""
    with tempfile.TemporaryDirectory(prefix="run-") as folder:  # short, as the name of a socket must be
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        started: list[subprocess.Popen[str]] = []

        def start(how: str) -> None:
            command = [sys.executable, "-c", WRITING, str(tmp_path / "study.duckdb"), how]
            started.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
            assert started[-1].stdout is not None
            assert started[-1].stdout.readline() == "ready\n"

        yield start
        for process in started:
            process.kill()
            process.wait()


def test_runs_are_listed_while_one_writes(evenhand: Evenhand, writing: Callable[[str], None]) -> None:
    writing("serve")
    done = evenhand("runs")
    assert "某某大模型" in done.stdout
    assert "running" in done.stdout
    assert "Answered by the running process." in done.stderr
    listed = json.loads(evenhand("runs", "--json").stdout)
    assert [(run["kind"], run["state"], run["models"]) for run in listed] == [
        ("import", "finished", []),
        ("run", "running", ["某某大模型"]),
    ]
    assert listed[1]["manifest"]["config"]["models"]
    refused = evenhand("runs", "--set-aside", listed[0]["run_id"], code=2).stderr
    assert "is in use" in refused


def test_runs_of_a_process_that_does_not_answer_are_refused(
    evenhand: Evenhand, writing: Callable[[str], None]
) -> None:
    writing("silent")
    assert "is in use" in evenhand("runs", code=2).stderr


def test_the_status_shows_a_cost_that_is_unknown_and_a_run_that_stood_still(
    evenhand: Evenhand, tmp_path: Path
) -> None:
    from store import open_study, runs

    evenhand("build", "--labels", "defendant_sex")
    lane = {
        "lane": "here/judge-1", "in_flight": 1, "limit": 1, "paused_s": 0.0, "outage": False, "refused": 0,
        "errors": {},
    }  # fmt: skip
    model = {
        "model": "judge", "total": 246, "selected": 246, "done": 234, "outcomes": {"answered": 234},
        "rate_now": 0.0, "rate": 0.4, "eta_s": None, "quiet_s": 543.0, "to_retry": 12, "prompt_tokens": 0,
        "cached_tokens": 0, "completion_tokens": 0, "cost_usd": None, "unpriced": 234, "lanes": [lane],
    }  # fmt: skip
    writer = {"committed": 234, "backlog": 0, "last_commit_s": 0.01}
    status = {"models": [model], "writer": writer, "cost_usd": None, "seconds": 600.0}
    with open_study(tmp_path / "study.duckdb") as study:
        run_id = runs.start_run(study, "run", {})
        runs.update_manifest(study, run_id, {"status": status, "message": "Stopped."})
        runs.finish_run(study, run_id, "interrupted")
    shown = evenhand("status").stdout
    assert "cost of 234 answers unknown" in shown
    assert "ETA - (no answer for 9m03s)" in shown
    assert "$" not in shown


def test_more_columns_than_fit_are_shown_below_each_other(evenhand: Evenhand) -> None:
    columns = ", ".join(f"{n} AS a_name_of_some_length_{n}" for n in range(20))
    evenhand("build", "--labels", "defendant_sex")
    lines = evenhand("sql", f"SELECT {columns}, '两\n行' AS text").stdout.splitlines()
    assert max(map(len, lines)) < 80
    assert [line.split() for line in lines[1:3]] == [
        ["a_name_of_some_length_0", "0"],
        ["a_name_of_some_length_1", "1"],
    ]
    assert [line.split() for line in lines[-2:]] == [["text", "两"], ["行"]]


def test_a_piped_table_stays_within_200_columns(evenhand: Evenhand, tmp_path: Path) -> None:
    from rich.cells import cell_len

    models = "".join(
        f'[providers.here.models."a-model-with-quite-a-long-name-{"x" * n}"]\nid = "m"\n' for n in range(90)
    )
    (tmp_path / "providers.toml").write_text(
        f'[providers.here]\nbase_url = "http://127.0.0.1:9/v1"\nkeys = ["{"A_LONG_VARIABLE" * 9}"]\n{models}',
        encoding="utf-8",
    )
    lines = evenhand("providers").stdout.splitlines()
    assert max(cell_len(line) for line in lines) <= 200
    assert len({cell_len(line) for line in lines if line[:1] in "┃│┏┡└"}) == 1


def test_a_command_is_told_as_it_can_be_typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", [".venv/bin/evenhand", "demo"])
    monkeypatch.setattr("shutil.which", lambda name: f"/somewhere/{name}")
    assert typed() == "evenhand"
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert typed() == ".venv/bin/evenhand"
    monkeypatch.setattr("sys.argv", [str(tmp_path / "my tools" / "evenhand")])
    assert typed() == "'my tools/evenhand'"
    monkeypatch.setattr("sys.argv", ["/else/where/main.py"])
    assert typed().endswith(" -m evenhand")


def test_the_question_of_the_demo_fits_a_narrow_terminal(
    evenhand: Evenhand, monkeypatch: pytest.MonkeyPatch
) -> None:
    evenhand("build", "--labels", ",".join(LABELS), "--db", "s.duckdb")
    monkeypatch.setattr("evenhand.cli.sql.console", lambda: Console(width=80))
    shown = evenhand(
        "sql", QUESTION.replace("months FROM answers", "600 AS months FROM queries"), "--db", "s.duckdb"
    )
    assert "doc_id" in shown.stdout.splitlines()[1]
    assert len(shown.stdout.splitlines()) == 9, "each row on one line"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--labels", "nosuch"), "No label is named 'nosuch'"),
        (("--labels", ""), "--labels names no label"),
        (("--labels", " , "), "--labels names no label"),
        (("--labels", "nosuch", "--sample"), "No label is named 'nosuch'"),
    ],
)
def test_a_build_that_cannot_be_leaves_no_study(
    evenhand: Evenhand, tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    assert words in evenhand("build", *arguments, "--db", "new.duckdb", code=2).stderr
    assert not (tmp_path / "new.duckdb").exists()


def test_a_build_says_what_it_keeps(evenhand: Evenhand) -> None:
    evenhand("build", "--labels", "defendant_sex,open_trial")
    kept = evenhand("build", "--labels", "open_trial").stdout
    assert "Kept: 90 queries about 30 documents of the collection 'judifair'" in kept
    assert "--retire-missing" in kept
    gone = evenhand("build", "--labels", "open_trial", "--retire-missing").stdout
    assert "Retired: 90 queries" in gone
    assert "Kept" not in gone


def test_long_cells_and_many_rows_are_cut_in_tables_alone(evenhand: Evenhand) -> None:
    evenhand("build", "--labels", "open_trial")
    long = evenhand("sql", "SELECT repeat('x', 50000) AS a, 1 AS b")
    assert 4_000 <= long.stdout.count("x") < 4_100
    assert "50,000 characters" in long.stdout.replace("\n", "").replace("│", "").replace("  ", "")
    assert json.loads(evenhand("sql", "SELECT repeat('x', 50000) AS a", "--json").stdout) == [
        {"a": "x" * 50_000}
    ]
    many = evenhand("sql", "SELECT range FROM range(9000)", "--limit", "8000")
    assert "The first 5,000 rows; there are more (a table shows no more; `evenhand export`" in many.stderr
    assert len(json.loads(evenhand("sql", "SELECT range FROM range(9000)", "--json").stdout)) == 9000


def test_what_only_reads_works_in_a_folder_that_may_not_be_written(
    evenhand: Evenhand, monkeypatch: pytest.MonkeyPatch
) -> None:
    evenhand("build", "--labels", "open_trial")
    monkeypatch.setattr("os.access", lambda path, mode: not mode & os.W_OK)
    for command in (
        ("status",),
        ("runs",),
        ("check",),
        ("show", "theft-ebike:open_trial"),
        ("estimate", "gpt-4o-mini"),
        ("sql", "SELECT count(*) FROM queries"),
    ):
        evenhand(*command)
    assert "may not be written" in evenhand("runs", "--set-aside", "0", code=2).stderr
