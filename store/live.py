"""SQL while a run writes: the running process answers read-only SQL, and its status, on a unix socket.

DuckDB lets no second process open the file while a writer has it, and copying it live is unsafe. So the
process that has it answers, from cursors of its own, on a socket that only its user can reach.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import duckdb
import pyarrow as pa

from store import snapshot, sockets
from store.errors import BadInput, EvenhandError, RunFailed
from store.opening import MEMORY
from store.readonly import ROW_LIMIT, TIMEOUT_S, Reading, Rows, reading
from store.study import Study

CLIENTS = 4
"""Conversations at a time; more are told to come back."""
PATIENCE_S = 5.0
"""How long a client may take to say what it wants, or to take in a frame beyond the statement's own
timeout."""

SNAPSHOT_PATIENCE_S = 60.0
"""As `PATIENCE_S`, where the other side writes a batch of rows to its disk, or reads one from it."""


class Server:
    """Answers on the socket of an open study, in threads of its own, until stopped.

    Args:
        study: the study; stop the server before closing it.
        status: gives what `evenhand status` shows, as something JSON can hold; called in the server's
            threads.
    """

    def __init__(self, study: Study, status: Callable[[], Mapping[str, Any]] | None = None) -> None:
        self.path: Path | None = None
        self._study = study
        self._status = status
        self._listener: socket.socket | None = None
        self._threads: set[threading.Thread] = set()
        self._connections: set[socket.socket] = set()
        self._interrupts: set[Callable[[], None]] = set()
        self._lock = threading.Lock()

    def start(self) -> Self:
        """Listen. Where no folder for the socket can be had, `path` stays None and the run goes on without.

        Raises:
            BadInput: another server answers for this database.
        """
        for path in sockets.candidates(self._study.path) if self._study.path != MEMORY else ():
            if not sockets.prepare_folder(path.parent):
                continue
            other = sockets.call(self._study.path, PATIENCE_S)
            if other is not None:
                other.close()
                raise BadInput(f"another process answers for {self._study.path} on {path}")
            path.unlink(missing_ok=True)
            listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            listener.bind(str(path))  # nobody else can enter the folder before the next line
            path.chmod(0o600)
            listener.listen(16)
            self.path, self._listener = path, listener
            threading.Thread(target=self._listen, args=(listener,), name="evenhand-live", daemon=True).start()
            break
        return self

    def stop(self) -> None:
        """End all conversations and remove the socket. Stopping twice does nothing."""
        if self._listener is None or self.path is None:
            return
        listener, self._listener = self._listener, None
        self.path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)  # close() alone does not wake accept()
        listener.close()
        with self._lock:
            threads = list(self._threads)
            for connection in self._connections:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        for interrupt in list(self._interrupts):
            interrupt()
        for thread in threads:
            thread.join(PATIENCE_S)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _listen(self, listener: socket.socket) -> None:
        while self._listener is listener:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            thread = threading.Thread(
                target=self._serve, args=(connection,), name="evenhand-live-answer", daemon=True
            )
            with self._lock:
                busy = len(self._threads) >= CLIENTS
                if not busy:
                    self._threads.add(thread)
                    self._connections.add(connection)
            if busy:
                with contextlib.suppress(OSError), connection:
                    connection.settimeout(PATIENCE_S)
                    sockets.send_json(
                        connection, {"error": f"{CLIENTS} others are asking", "hint": "Try again."}
                    )
            else:
                thread.start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            with contextlib.suppress(OSError, ValueError), connection:
                connection.settimeout(PATIENCE_S)
                request = json.loads(sockets.receive(connection)[1])
                try:
                    self._answer(connection, request)
                except EvenhandError as error:
                    sockets.send_json(connection, {"error": error.message, "hint": error.hint})
                except (OSError, ValueError):
                    raise
                except Exception as error:  # a defect of ours: the asker must hear of it, the run goes on
                    sockets.send_json(
                        connection, {"error": f"the running process failed to answer: {error!r}"}
                    )
        finally:
            with self._lock:
                self._threads.discard(threading.current_thread())
                self._connections.discard(connection)

    def _answer(self, connection: socket.socket, request: Mapping[str, Any]) -> None:
        if request.get("do") == "status":
            status = dict(self._status()) if self._status is not None else {}
            sockets.send_json(connection, {"status": {"pid": os.getpid(), **status}})
        elif request.get("do") == "sql":
            timeout_s = float(request["timeout_s"])
            connection.settimeout(timeout_s + PATIENCE_S)
            sql = str(request["sql"])
            with reading(self._study, sql, timeout_s=timeout_s, interrupts=self._interrupts) as result:
                sockets.send(connection, sockets.ARROW, _packed(result.schema))
                for batch in result.batches:
                    sockets.send(connection, sockets.ARROW, _packed(result.schema, batch))
            sockets.send_json(connection, {"end": True})
        elif request.get("do") == "snapshot":
            self._send_snapshot(connection)
        else:
            raise BadInput(
                "the running process does not know this request", hint="It may be of another version."
            )

    def _send_snapshot(self, connection: socket.socket) -> None:
        connection.settimeout(SNAPSHOT_PATIENCE_S)
        cursor = self._study.cursor()
        interrupt = cursor.interrupt
        self._interrupts.add(interrupt)
        try:
            for frame in snapshot.frames(snapshot.parts(cursor), _packed):
                if isinstance(frame, bytes):
                    sockets.send(connection, sockets.ARROW, frame)
                else:
                    sockets.send_json(connection, frame)
        except duckdb.Error as error:
            raise RunFailed(f"the study could not be read: {error}") from error
        finally:
            self._interrupts.discard(interrupt)
            cursor.close()


@contextlib.contextmanager
def live_reading(
    path: str | os.PathLike[str], sql: str, *, timeout_s: float = TIMEOUT_S
) -> Iterator[Reading | None]:
    """As `store.readonly.reading`, from the process that has the study open; None if there is none.

    Raises:
        BadInput: the statement is not allowed, wrong, or took too long.
        RunFailed: the process ended, or stopped answering, on the way.
    """
    connection = sockets.call(path, PATIENCE_S)
    if connection is None:
        yield None
        return
    with connection:
        connection.settimeout(timeout_s + 2 * PATIENCE_S)
        frames = _frames(connection, {"do": "sql", "sql": sql, "timeout_s": timeout_s})
        schema = next(frames).schema
        yield Reading(schema, (batch for table in frames for batch in table.to_batches()), live=True)


def run_sql(
    path: str | os.PathLike[str], sql: str, *, limit: int = ROW_LIMIT, timeout_s: float = TIMEOUT_S
) -> Rows | None:
    """As `store.readonly.run_sql`, from the process that has the study open; None if there is none.

    Raises:
        BadInput, RunFailed: as `live_reading`.
    """
    with live_reading(path, sql, timeout_s=timeout_s) as result:
        return None if result is None else result.rows(limit)


@contextlib.contextmanager
def live_snapshot(path: str | os.PathLike[str]) -> Iterator[Iterator[snapshot.Part] | None]:
    """All of a study, from the process that has it open; None if there is none.

    Raises:
        BadInput: the process does not know the request.
        RunFailed: it ended, or stopped answering, on the way.
    """
    connection = sockets.call(path, PATIENCE_S)
    if connection is None:
        yield None
        return
    with connection:
        connection.settimeout(SNAPSHOT_PATIENCE_S)
        yield _parts(connection)


def _parts(connection: socket.socket) -> Iterator[snapshot.Part]:
    table = ("", "")
    try:
        sockets.send_json(connection, {"do": "snapshot"})
        while True:
            kind, payload = sockets.receive(connection)
            if kind == sockets.ARROW:
                for batch in pa.ipc.open_stream(payload).read_all().to_batches():
                    yield snapshot.Rows(*table, batch)
                continue
            message = _checked(json.loads(payload))
            if message.get("end"):
                return
            if "schema" in message:
                yield snapshot.Schema(tuple((int(step), str(sql)) for step, sql in message["schema"]))
            else:
                schema, name = message["table"]
                table = (str(schema), str(name))
    except (OSError, ValueError, pa.ArrowException) as error:
        raise RunFailed(f"the running process stopped answering: {error}", hint="Try again.") from error


def status(path: str | os.PathLike[str]) -> dict[str, Any] | None:
    """What the process that has the study open says of itself (with its `pid`); None if there is none."""
    connection = sockets.call(path, PATIENCE_S)
    if connection is None:
        return None
    try:
        with connection:
            sockets.send_json(connection, {"do": "status"})
            found = _checked(json.loads(sockets.receive(connection)[1])).get("status")
            return found if isinstance(found, dict) else {}
    except (OSError, ValueError):
        return None  # it was just ending


def _frames(connection: socket.socket, request: Mapping[str, Any]) -> Iterator[pa.Table]:
    """The schema, then the batches, each as a table."""
    try:
        sockets.send_json(connection, request)
        while True:
            kind, payload = sockets.receive(connection)
            if kind == sockets.JSON:
                _checked(json.loads(payload))
                return
            yield pa.ipc.open_stream(payload).read_all()
    except (OSError, ValueError, pa.ArrowException) as error:
        raise RunFailed(f"the running process stopped answering: {error}", hint="Try again.") from error


def _checked(message: dict[str, Any]) -> dict[str, Any]:
    if "error" in message:
        raise BadInput(str(message["error"]), hint=message.get("hint"))
    return message


def _packed(schema: pa.Schema, batch: pa.RecordBatch | None = None) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as writer:
        if batch is not None:
            writer.write_batch(batch)
    packed: bytes = sink.getvalue().to_pybytes()
    return packed
