"""The two kinds of error that a person should read, shared by every room.

The command line prints their text without a traceback: `BadInput` ends with exit code 2, `RunFailed` with 1.
Anything else that reaches the command line is a defect of ours and keeps its traceback.
"""

from __future__ import annotations


class EvenhandError(Exception):
    """What happened and where (`message`), and what to do about it (`hint`)."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\n{self.hint}"


class BadInput(EvenhandError):
    """Something the user gave is wrong: a file, a key, an option, a database. Exit code 2."""

    exit_code = 2


class RunFailed(EvenhandError):
    """The input was right, the work could not be done. Exit code 1."""

    exit_code = 1
