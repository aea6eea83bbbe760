"""What the commands and services need of a domain, whoever provides it.

`GeneralAudit` provides it for every domain that is data. A bundled domain with readers and codings of its own
provides it by a function `audit()` in its package.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from evenhand.audit.prompts import BASE_ARM

if TYPE_CHECKING:
    from analyze.specification import Specifications
    from evenhand.audit.built import Built
    from evenhand.audit.show import Shown
    from store import Study
    from store.migrate import MigrationSet


@dataclass(frozen=True, slots=True)
class Sampling:
    """A balanced subset: whole case x label sets, drawn by a seed. None is the domain's own number."""

    documents: int | None = None
    labels: int | None = None
    seed: int = 0


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """What a build asks."""

    cases_file: Path | None = None
    """Cases of one's own; the bundled ones by default."""
    collection: str | None = None
    """The bundled one's, or the file's name, by default."""
    labels: tuple[str, ...] | None = None
    """Keys; all by default."""
    labels_file: Path | None = None
    """Labels of one's own beside the bundled ones."""
    arm: str = BASE_ARM
    design: str | None = None
    """`counterfactual` or `groups`; the domain's first by default."""
    sample: Sampling | None = None
    placebo: bool = False
    retire_missing: bool = False


class Audit(Protocol):
    """A domain as the commands and services use it."""

    @property
    def name(self) -> str:
        """By what `--domain` knows it, and what `collections.domain` says."""
        ...

    @property
    def codings(self) -> tuple[str, ...]:
        """The ways of reading its answers; the first is the default."""
        ...

    @property
    def attributes_file(self) -> Path | None:
        """What is known of models, if the domain has such a file."""
        ...

    def migrations(self) -> tuple[MigrationSet, ...]:
        """The tables of the domain."""
        ...

    def specifications(self, file: Path | None = None) -> tuple[Specifications, ...]:
        """What is estimated, one for each outcome; of a file of one's own, what it says.

        Raises:
            BadInput: the file is wrong.
        """
        ...

    def check_build(self, options: BuildOptions) -> None:
        """Find what is wrong with a build before a study is opened.

        Raises:
            BadInput: with the file, line and key.
        """
        ...

    def build(self, study: Study, options: BuildOptions) -> Built:
        """Put the queries into a study.

        Raises:
            BadInput: nothing to ask, a wrong case, an unknown label or arm.
        """
        ...

    def show(self, study: Study, query: str, arm: str | None = None) -> Shown:
        """Find a query by its id or by what it asks, with its counterpart.

        Raises:
            BadInput: no query, or more than one, fits.
        """
        ...

    def refuse_unknown(self, study: Study, models: Sequence[str] | None) -> list[str]:
        """Give notices about answers that this installation cannot analyze.

        Raises:
            BadInput: the answers were built from labels that it does not know, so that an analysis would drop
                them.
        """
        ...

    def read(
        self,
        study: Study,
        codings: Sequence[str],
        *,
        rebuild: bool = False,
        on_batch: Callable[[int], None] | None = None,
    ) -> int:
        """Read the answers that were not read yet; gives how many."""
        ...
