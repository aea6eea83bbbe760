"""Output that cannot be held or written: replaced characters or one sentence, and never a traceback."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from evenhand.cli.main import COMMANDS, WORKING

EVENHAND = (sys.executable, "-m", "evenhand")
FULL = Path("/dev/full")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("output")
    call(made, ["build", "--labels", "defendant_sex"])
    return made


def call(
    folder: Path, arguments: Sequence[str], *, shell: str = "", code: int | None = 0, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """Run a command in a process of its own; `shell` is put behind it (a pipe, a redirection)."""
    done = subprocess.run(
        ["bash", "-c", f'"$@" {shell}', "bash", *EVENHAND, *arguments],
        cwd=folder,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        env={**os.environ, **environment},
        timeout=120,
        check=False,
    )
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    assert b"Exception ignored" not in done.stderr, done.stderr.decode()
    if code is not None:
        assert done.returncode == code, done.stderr.decode()
    return done


SHOWING = (
    ["show", "theft-ebike:defendant_sex:女"],
    ["show", "theft-ebike:defendant_sex:女", "--json"],
    ["sql", "SELECT value, 'é😀' AS mixed FROM queries WHERE value = '女' LIMIT 3"],
    ["sql", "--json", "SELECT value, 'é😀' AS mixed FROM queries WHERE value = '女' LIMIT 3"],
    ["check", "--json"],
    ["status"],
    ["runs"],
    ["providers"],
    ["estimate", "gpt-4o-mini"],
    ["--help"],
    ["run", "--help"],
)


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "cp437"])
@pytest.mark.parametrize("arguments", [one for one in SHOWING if one[0] in ("show", "sql")])
def test_what_the_encoding_lacks_is_escaped(folder: Path, arguments: list[str], encoding: str) -> None:
    printed = call(folder, arguments, PYTHONIOENCODING=encoding).stdout.decode(encoding.partition(":")[0])
    if "--json" in arguments:
        rows = json.loads(printed)
        assert "女" in json.dumps(rows, ensure_ascii=False)
    else:
        assert "\\u5973" in printed or "\\u7537" in printed


def test_an_error_is_escaped_too(folder: Path) -> None:
    told = call(folder, ["show", "无"], code=2, PYTHONIOENCODING="ascii").stderr.decode("ascii")
    assert "no query '\\u65e0'" in told


def test_what_the_encoding_holds_stays_as_it_is(folder: Path) -> None:
    printed = call(folder, ["show", "theft-ebike:defendant_sex:女"], PYTHONIOENCODING="gb18030").stdout
    assert "[女][男]" in printed.decode("gb18030")


def test_half_a_pair_of_surrogates_in_an_answer_is_shown_in_json(folder: Path) -> None:
    printed = call(folder, ["sql", "--json", "SELECT json_object('a', '女') AS j"]).stdout
    assert json.loads(printed) == [{"j": '{"a":"女"}'}]


@pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize(("place", "arguments"), [*enumerate(SHOWING)])
def test_a_full_disk_is_told_in_a_sentence(folder: Path, arguments: list[str], place: int) -> None:
    unbuffered = "1" if place % 2 else ""
    told = call(folder, arguments, shell=">/dev/full", code=1, PYTHONUNBUFFERED=unbuffered).stderr.decode()
    assert "Error: Standard output cannot be written: No space left on device." in told


@pytest.mark.parametrize("arguments", SHOWING[1:6])
def test_a_closed_output_is_told_in_a_sentence(folder: Path, arguments: list[str]) -> None:
    told = call(folder, arguments, shell=">&-", code=1).stderr.decode()
    assert "Error: Standard output cannot be written: it is closed." in told


@pytest.mark.parametrize("arguments", SHOWING[2:8])
def test_a_pipe_closed_early_is_no_failure(folder: Path, arguments: list[str]) -> None:
    done = call(folder, arguments, shell='| head -c 1 >/dev/null; exit "${PIPESTATUS[0]}"', code=0)
    assert b"Error" not in done.stderr


def test_everything_closed_is_still_no_traceback(folder: Path) -> None:
    call(folder, ["sql", "-"], shell="<&- >&- 2>&-", code=2)
    call(folder, ["sql", "SELECT 1"], shell=">&- 2>&-", code=1)
    assert b"there is no SQL statement" in call(folder, ["sql", "-"], shell="<&-", code=2).stderr


def test_a_full_error_output_changes_no_exit_code(folder: Path) -> None:
    if FULL.exists():
        assert call(folder, ["sql", "SELECT 1"], shell="2>/dev/full", code=0).stdout
        call(folder, ["sql", "SELECT nosuch"], shell="2>/dev/full", code=2)


@pytest.mark.parametrize("shell", [">&-", "| head -c 0", ">/dev/full"])
def test_a_command_that_works_does_its_work_where_nobody_reads(tmp_path: Path, shell: str) -> None:
    full = shell == ">/dev/full"
    if full and not FULL.exists():
        pytest.skip("this system has no /dev/full")
    told = call(tmp_path, ["build", "--labels", "defendant_sex"], shell=shell, code=1 if full else 0).stderr
    assert (b"The work is done and stored" in told) is full
    counted = call(tmp_path, ["sql", "--json", "SELECT count(*) AS n FROM queries"]).stdout
    assert json.loads(counted)[0]["n"] > 50


def test_a_database_never_takes_the_number_of_a_closed_output(tmp_path: Path) -> None:
    """What a command prints would then be written into the study."""
    call(tmp_path, ["build", "--labels", "defendant_sex"], shell="<&- >&- 2>&-")
    call(tmp_path, ["build", "--labels", "defendant_sex,judge_age"], shell=">&-")
    assert call(tmp_path, ["sql", "SELECT count(*) FROM queries"]).stdout


@pytest.mark.parametrize(
    "arguments", [["sql", "SELECT '\udcff'"], ["show", "\udcff"], ["build", "--db", "\udcff"]]
)
def test_an_argument_that_is_no_text_is_told(folder: Path, arguments: list[str]) -> None:
    assert re.search(rb"argument .* is not UTF-8 text", call(folder, arguments, code=2).stderr)


@pytest.mark.parametrize("locale", ["C.UTF-8", "POSIX"])
def test_a_question_that_is_no_text_is_told(folder: Path, locale: str) -> None:
    shell = "< <(printf 'SELECT \\xff')"
    assert b"not UTF-8" in call(folder, ["sql", "-"], shell=shell, code=2, LC_ALL=locale).stderr


def test_the_commands_that_work_are_commands() -> None:
    assert set(COMMANDS) >= WORKING
