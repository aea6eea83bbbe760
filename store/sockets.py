"""Where the socket of a running process lies, and the frames that pass over it.

The socket of a database is named by a hash of the database's path, in the first usable of the user's runtime
folders. Both sides look through the same list, so that a terminal with another environment finds it too.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import socket
import stat
import struct
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from store import opening as doorway

LONGEST = 103 if sys.platform == "darwin" else 107
"""Bytes that the path of a unix socket may have."""

_HEAD = struct.Struct("!cI")
_LARGEST_FRAME = 2**31

JSON = b"J"
"""A frame that holds a JSON object."""
ARROW = b"A"
"""A frame that holds an Arrow IPC stream (a schema, and no batch or one)."""


def folders() -> Iterator[Path]:
    """The places where a socket may lie, the best first; none on a system without unix sockets."""
    if not hasattr(socket, "AF_UNIX") or not hasattr(os, "getuid"):
        return
    uid = os.getuid()
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime and os.path.isabs(runtime):
        yield Path(runtime) / "evenhand"
    yield Path(f"/run/user/{uid}/evenhand")
    yield Path(tempfile.gettempdir()) / f"evenhand-{uid}"
    yield Path(f"/tmp/evenhand-{uid}")


def candidates(database: str | os.PathLike[str]) -> list[Path]:
    """The paths that the socket of a database may have, in order."""
    name = hashlib.sha256(os.fsencode(doorway.resolve(database))).hexdigest()[:24] + ".sock"
    paths = dict.fromkeys(folder / name for folder in folders())
    return [path for path in paths if len(os.fsencode(path)) <= LONGEST]


def prepare_folder(folder: Path) -> bool:
    """Make the folder, for this user alone; False where that is not possible or it is someone else's."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
            return False
        if found.st_mode & 0o077:
            folder.chmod(0o700)
    except OSError:
        return False
    return os.access(folder, os.W_OK | os.X_OK)


def call(database: str | os.PathLike[str], timeout_s: float) -> socket.socket | None:
    """Connect to the process that has the database open; None if no process answers there."""
    for path in candidates(database):
        with contextlib.suppress(OSError):
            found = path.lstat()
            if not stat.S_ISSOCK(found.st_mode) or found.st_uid != os.getuid():
                continue
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                connection.settimeout(timeout_s)
                connection.connect(str(path))
            except OSError:  # left behind by a process that was killed
                connection.close()
                continue
            return connection
    return None


def send(connection: socket.socket, kind: bytes, payload: bytes) -> None:
    """Send one frame."""
    connection.sendall(_HEAD.pack(kind, len(payload)) + payload)


def send_json(connection: socket.socket, message: Mapping[str, Any]) -> None:
    """Send a JSON frame."""
    send(connection, JSON, json.dumps(message, ensure_ascii=False, default=str).encode("utf-8", "replace"))


def receive(connection: socket.socket) -> tuple[bytes, bytes]:
    """One frame.

    Raises:
        ConnectionError: the other side is gone, or speaks otherwise.
    """
    kind, length = _HEAD.unpack(_exactly(connection, _HEAD.size))
    if length > _LARGEST_FRAME or kind not in (JSON, ARROW):
        raise ConnectionError("what answers on the socket is no Evenhand")
    return kind, _exactly(connection, length)


def _exactly(connection: socket.socket, length: int) -> bytes:
    parts = bytearray()
    while len(parts) < length:
        part = connection.recv(min(length - len(parts), 1 << 20))
        if not part:
            raise ConnectionError("the running process ended the conversation")
        parts += part
    return bytes(parts)
