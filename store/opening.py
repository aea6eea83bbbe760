"""The way into a database file, and what to tell a person whom it stays shut for.

Everything here runs before a study is trusted: is there a file, is it DuckDB's, is it ours, does someone hold
it. A file that is not ours is looked at read-only and never written.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import duckdb

from store.errors import BadInput
from store.migrate import STORE, applied

MEMORY = Path(":memory:")
_MAGIC = (8, b"DUCK")  # offset and content, in every DuckDB file
_HOLDER = re.compile(r"Conflicting lock is held in (.*) \(PID (\d+)\)")

Config = dict[str, str | bool | int | float | list[str]]
PROBE: Config = {"enable_external_access": "false"}


class InUse(BadInput):
    """Another process holds the database."""

    def __init__(self, path: Path, pid: int | None, program: str) -> None:
        self.pid = pid
        who = "another process" if pid is None else f"process {pid} ({_command(pid) or program})"
        stop = "stop it" if pid is None else f"stop it (kill -INT {pid})"
        super().__init__(
            f"{path} is in use by {who}",
            hint=f"Wait until it ends, or {stop}. "
            "While a run goes on, `evenhand sql`, `status` and `export` work.",
        )


def resolve(path: str | os.PathLike[str]) -> Path:
    """The one name of a database: absolute, links followed, so that all processes agree on it."""
    return MEMORY if str(path) == str(MEMORY) else Path(path).expanduser().resolve()


def config(*, memory_limit: str, checkpoint_threshold: str) -> Config:
    """DuckDB's settings for a study: no file but its own, no extension fetched."""
    return {
        "enable_external_access": "false",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "memory_limit": memory_limit,
        "checkpoint_threshold": checkpoint_threshold,
    }


def look_before_opening(path: Path, *, create: bool, read_only: bool) -> None:
    """Refuse what is no study, or cannot become one, without changing it.

    Raises:
        BadInput: as `store.study.open_study` says.
    """
    if path == MEMORY:
        return
    if path.is_dir():
        raise BadInput(
            f"{path} is a folder", hint="Name the database file itself, for instance --db study.duckdb."
        )
    try:
        exists = path.exists()
    except OSError as error:
        raise BadInput(
            f"{path} cannot be reached: {error.strerror}", hint="Check the rights of its folder."
        ) from None
    if not exists:
        if not create:
            raise BadInput(
                f"there is no study at {path}", hint="Name it with --db, or make one: `evenhand build`."
            )
        _writable_folder(path.parent)
        return
    _is_duckdb(path)
    if not read_only:
        _writable_folder(path.parent)
        if not os.access(path, os.W_OK):
            raise BadInput(
                f"{path} may not be written", hint="Change its rights (chmod u+w), or use another --db."
            )
        # Opening to write may already change a file (it replays the log), so the look comes first, read-only.
        try:
            connection = duckdb.connect(str(path), read_only=True, config=PROBE)
        except duckdb.ConnectionException:
            return  # open in this process already, so it passed this test before
        except (duckdb.Error, RuntimeError) as error:
            raise explain(path, error) from error
        with connection:
            _check_ours(path, connection)


def connect(path: Path, *, read_only: bool, config: Config) -> duckdb.DuckDBPyConnection:
    """Open the file with DuckDB, its errors turned into sentences.

    Raises:
        BadInput: it is held by another process, damaged, of a newer DuckDB, of another program, or cannot be
            written.
    """
    try:
        connection = duckdb.connect(str(path), read_only=read_only, config=config)
    except (duckdb.Error, RuntimeError) as error:
        raise explain(path, error) from error
    try:
        _check_ours(path, connection)
    except BaseException:
        connection.close()
        raise
    return connection


def holder(message: str) -> tuple[int, str] | None:
    """(pid, program) of the process that holds the database, where DuckDB's message names one."""
    match = _HOLDER.search(message)
    return None if match is None else (int(match.group(2)), match.group(1))


def explain(path: Path, error: Exception) -> BadInput:
    """DuckDB's error on opening, for a person."""
    text = str(error)
    held = holder(text)
    if held is not None:
        return InUse(path, *held)
    if "Could not set lock" in text:
        return InUse(path, None, "")
    if "different configuration" in text:
        return BadInput(f"{path} is already open in this process with other settings", hint="Close it first.")
    if "newer version" in text or "storage version" in text or "version number" in text:
        return BadInput(
            f"{path} was written by a newer DuckDB than {duckdb.__version__}",
            hint="Upgrade: pip install -U duckdb",
        )
    if "encrypt" in text.lower():
        return BadInput(
            f"{path} is encrypted", hint="Evenhand does not write encrypted files: use another --db."
        )
    if "Permission denied" in text or "Read-only file system" in text:
        return BadInput(f"{path} may not be written", hint="Check the rights of the file and its folder.")
    if "No space left" in text:
        return BadInput(f"the disk of {path} is full", hint="Free some space, or use another --db.")
    first_line = text.strip().splitlines()[0] if text.strip() else type(error).__name__
    return BadInput(
        f"{path} cannot be opened: {first_line}",
        hint="If the file is damaged, restore a copy of it.",
    )


def _writable_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise BadInput(f"there is no folder {folder}", hint=f"Make it: mkdir -p {folder}")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise BadInput(
            f"the folder {folder} may not be written",
            hint="DuckDB keeps a log beside the file: use another --db.",
        )


def _is_duckdb(path: Path) -> None:
    offset, magic = _MAGIC
    try:
        with path.open("rb") as file:
            head = file.read(64)
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}", hint="Check its rights.") from None
    if head[offset : offset + len(magic)] == magic:
        return
    if not head:
        raise BadInput(f"{path} is empty, not a DuckDB file", hint="Delete it, or use another --db.")
    what = "an SQLite database" if head.startswith(b"SQLite format 3") else "not a DuckDB file"
    raise BadInput(f"{path} is {what}", hint="Name a study with --db; a new name makes a new study.")


def _check_ours(path: Path, connection: duckdb.DuckDBPyConnection) -> None:
    """Refuse a database that has tables, and not ours. One without tables may become a study."""
    try:
        if STORE.room in applied(connection):
            return
        tables = connection.execute("SELECT table_name FROM duckdb_tables() ORDER BY table_name").fetchall()
    except duckdb.BinderException:
        tables = [("migrations",)]  # a table of that name with other columns
    except duckdb.Error as error:
        raise explain(path, error) from error
    if tables:
        named = ", ".join(str(row[0]) for row in tables[:3])
        raise BadInput(
            f"{path} is a DuckDB database of another program (it has {named}{', ...' if tables[3:] else ''})",
            hint="It was not touched. Use another --db; a new name makes a new study.",
        )


def _command(pid: int) -> str | None:
    """The command line of a process, where the system shows it (Linux); cut to be readable."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return None
    shown = " ".join(
        Path(word).name if i == 0 else word
        for i, word in enumerate(w.decode(errors="replace") for w in words)
    )
    return shown.strip()[:80] or None
