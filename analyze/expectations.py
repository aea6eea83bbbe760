"""What empirical studies found about real decisions: an expected direction for each value, with its source.

A domain may put a file `expectations.toml` beside its specifications. A report sets the directions that it
confirms or finds suggestive against it: does the bias of a model mirror that of the people whose texts it
learned from?
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints

from store.errors import BadInput
from store.input_files import read_toml

FILE_NAME = "expectations.toml"

_Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class Expectation(BaseModel):
    """One expected direction."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    label: _Text
    value: _Text
    """As the design has it; of a quantity, the name of its effect."""
    direction: Literal["higher", "lower"]
    """Of the outcome under the value, against the reference."""
    finding: _Text
    """What was found, in a sentence."""
    source: _Text
    """The citation."""

    @property
    def sign(self) -> int:
        """1 for higher, -1 for lower."""
        return 1 if self.direction == "higher" else -1


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    expectation: list[Expectation] = []


def beside(specifications: Path) -> tuple[Expectation, ...]:
    """The expectations of a domain, from the file beside its specifications; empty where there is none.

    Raises:
        BadInput: the file cannot be read, or a value has two expectations; it names the line and the key.
    """
    path = specifications.with_name(FILE_NAME)
    if not path.is_file():
        return ()
    hint = "Each needs label, value, direction (higher or lower), finding and source."
    found = tuple(read_toml(path, _File, hint=hint).expectation)
    seen: set[tuple[str, str]] = set()
    for one in found:
        if (one.label, one.value) in seen:
            raise BadInput(
                f"{path}: {one.label}, {one.value}: there are two expectations.", hint="Keep one of them."
            )
        seen.add((one.label, one.value))
    return found
