"""The audit of a domain that is data: everything by the general implementation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.audit import stored
from evenhand.audit import study as tables
from evenhand.audit.build import build
from evenhand.audit.built import Built
from evenhand.audit.domain import Domain
from evenhand.audit.names import name_in
from evenhand.audit.protocol import BuildOptions
from evenhand.audit.read import CODING, read
from evenhand.audit.show import KnownLabel, Shown, show
from evenhand.audit.specifications import specifications
from store.errors import BadInput

if TYPE_CHECKING:
    from analyze.specification import Specifications
    from store import Study
    from store.migrate import MigrationSet


@dataclass(frozen=True)
class GeneralAudit:
    """A domain that needs no code of its own; see `evenhand.audit.protocol.Audit`."""

    domain: Domain

    @property
    def name(self) -> str:
        """The domain's name."""
        return self.domain.name

    @property
    def codings(self) -> tuple[str, ...]:
        """The one way of reading answers."""
        return (CODING,)

    @property
    def attributes_file(self) -> Path | None:
        """`models.toml` in its folder, if there is one."""
        path = None if self.domain.folder is None else self.domain.folder / "models.toml"
        return path if path is not None and path.is_file() else None

    def migrations(self) -> tuple[MigrationSet, ...]:
        """The tables of its schema."""
        return (tables.migrations(self.domain),)

    def specifications(self, file: Path | None = None) -> tuple[Specifications, ...]:
        """Those of the domain's folder, or the default ones; of a file, that alone."""
        if file is None:
            return specifications(self.domain)
        from analyze.specification import load  # noqa: PLC0415  (keeps the import of this package light)

        return (load(file),)

    def check_build(self, options: BuildOptions) -> None:
        """Find what is wrong with a build before a study is opened."""
        if options.sample is not None:
            raise BadInput(
                f"{self.name} cannot be sampled.",
                hint="Name some labels (--labels), or ask a part of it (`evenhand run MODEL --limit N`).",
            )
        if options.labels_file is not None:
            raise BadInput(
                f"--labels-file does not work for the domain '{self.name}'.",
                hint="Labels of a folder stand in its labels.toml: add yours there.",
            )
        self.domain.prompt(options.arm)
        for key in options.labels or ():
            self.domain.label(key)
        if options.cases_file is not None:
            self.domain.read_cases(options.cases_file)
        else:
            self.domain.cases()

    def build(self, study: Study, options: BuildOptions) -> Built:
        """Put the queries into a study, and the domain's definition beside them."""
        own = options.cases_file
        built = build(
            study,
            self.domain,
            cases=None if own is None else self.domain.read_cases(own),
            labels=options.labels,
            design=options.design,  # type: ignore[arg-type]  # checked there
            arm=options.arm,
            collection=options.collection or (None if own is None else own.stem),
            kind="bundled" if own is None else "own",
            description="" if own is None else f"Cases of {own.name}",
            placebo=options.placebo,
            retire_missing=options.retire_missing,
        )
        stored.keep(study, self.domain)
        return built

    def show(self, study: Study, query: str, arm: str | None = None) -> Shown:
        """Find a query by its id or by what it asks, with its counterpart."""
        labels = {
            label.key: KnownLabel(
                label.key,
                name_in(label.names, "en", label.key),
                {value.name: name_in(value.names, "en", value.name) for value in label.values},
                label.reference,
            )
            for label in self.domain.labels
        }
        return show(study, query, arm, domain=self.name, labels=labels)

    def refuse_unknown(self, study: Study, models: Sequence[str] | None) -> list[str]:
        """Nothing to say: the study has the domain's definition, and so every label that was built."""
        del study, models
        return []

    def read(
        self,
        study: Study,
        codings: Sequence[str],
        *,
        rebuild: bool = False,
        on_batch: Callable[[int], None] | None = None,
    ) -> int:
        """Read the answers that were not read yet."""
        del codings
        return read(study, self.domain, rebuild=rebuild, on_batch=on_batch).answers
