"""judifair as the commands and services use it; see `evenhand.audit.protocol.Audit`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.audit import Built
from evenhand.audit.protocol import BuildOptions
from evenhand.domains.judifair import MIGRATIONS, SCHEMA
from store.errors import BadInput

if TYPE_CHECKING:
    from analyze.specification import Specifications
    from evenhand.audit.show import Shown
    from evenhand.domains.judifair.case import Case
    from evenhand.domains.judifair.catalogue import Label
    from evenhand.domains.judifair.unknown_labels import Unknown
    from store import Study
    from store.migrate import MigrationSet

SAMPLED_DOCUMENTS, SAMPLED_LABELS = 8, 4
"""Of a sample, unless said otherwise."""

_FOLDER = Path(__file__).parent
_SHOWN = 8
"""Unknown labels that a message names."""


@dataclass(frozen=True)
class JudifairAudit:
    """Chinese criminal sentencing, with its own reader of verdicts and two codings."""

    @property
    def name(self) -> str:
        """The domain's name."""
        return SCHEMA

    @property
    def codings(self) -> tuple[str, ...]:
        """As it should be, and as the published scripts read answers."""
        return ("corrected", "published")

    @property
    def attributes_file(self) -> Path | None:
        """What is known of models."""
        return _FOLDER / "models.toml"

    def migrations(self) -> tuple[MigrationSet, ...]:
        """The tables of its schema."""
        return (MIGRATIONS,)

    def specifications(self, file: Path | None = None) -> tuple[Specifications, ...]:
        """Those of the bundled file, or of one's own."""
        from analyze.specification import load  # noqa: PLC0415  (keeps the import of this package light)

        return (load(file or _FOLDER / "specifications.toml"),)

    def check_build(self, options: BuildOptions) -> None:
        """Find what is wrong with a build before a study is opened."""
        from evenhand.domains.judifair import build, prompts  # noqa: PLC0415

        prompts.of_arm(options.arm)
        if options.design not in (None, "counterfactual"):
            raise BadInput(f"judifair has no {options.design} design.", hint="It has: counterfactual.")
        build.check(*_chosen(options))

    def build(self, study: Study, options: BuildOptions) -> Built:
        """Put the queries into a study."""
        from evenhand.domains.judifair import build, prompts  # noqa: PLC0415

        cases, labels = _chosen(options)
        named: dict[str, Any] = {}
        if options.cases_file is not None:
            named = {
                "collection": options.collection or options.cases_file.stem,
                "kind": "own",
                "description": f"Cases of {options.cases_file.name}",
            }
        elif options.collection is not None:
            named = {"collection": options.collection}
        return build.build(
            study,
            cases=cases,
            labels=labels,
            template=prompts.of_arm(options.arm),
            placebo=options.placebo,
            retire_missing=options.retire_missing,
            **named,
        )

    def show(self, study: Study, query: str, arm: str | None = None) -> Shown:
        """Find a query by its id or by what it asks, with its counterpart."""
        from evenhand.domains.judifair.show import show  # noqa: PLC0415

        return show(study, query, arm)

    def refuse_unknown(self, study: Study, models: Sequence[str] | None) -> list[str]:
        """Give a notice about imported labels that are in no catalogue.

        Raises:
            BadInput: answers were built from labels or values that this installation does not have.
        """
        from evenhand.domains.judifair import unknown_labels  # noqa: PLC0415

        unknown = unknown_labels.find(study, models)
        refuse([one for one in unknown if one.built])
        if not unknown:
            return []
        return [
            f"Not analyzed: {_listed(unknown)}. These labels or values came with an import and are not in "
            "the catalogue (`evenhand labels`)."
        ]

    def read(
        self,
        study: Study,
        codings: Sequence[str],
        *,
        rebuild: bool = False,
        on_batch: Callable[[int], None] | None = None,
    ) -> int:
        """Code the answers that were not coded yet."""
        from evenhand.domains.judifair.coding import code  # noqa: PLC0415

        told = None if on_batch is None else lambda _coding, done: on_batch(done)
        return sum(code(study, tuple(codings), rebuild=rebuild, on_batch=told).verdicts.values())


def _chosen(options: BuildOptions) -> tuple[Sequence[Case], Sequence[Label]]:
    """The cases and labels of a build."""
    from evenhand.domains.judifair import case_files, catalogue  # noqa: PLC0415
    from evenhand.domains.judifair.sample import draw  # noqa: PLC0415

    wanted, sample = options.labels, options.sample
    known = catalogue.with_own(options.labels_file)
    labels = known if wanted is None else catalogue.resolve(wanted, known)
    if options.cases_file is None:
        cases = case_files.bundled()
    else:
        # A case needs the slots of the labels asked; those of a sample are not drawn yet.
        asked = () if sample is not None else labels
        cases = tuple(case_files.read_cases(options.cases_file, asked, known))
    if sample is None:
        return cases, labels
    most = min(SAMPLED_DOCUMENTS, len(cases)) if options.cases_file else SAMPLED_DOCUMENTS
    drawn = draw(
        cases,
        documents=sample.documents or most,
        labels=(sample.labels or SAMPLED_LABELS) if wanted is None else wanted,
        seed=sample.seed,
        known=known,
    )
    return drawn.cases, drawn.labels


def refuse(unknown: Sequence[Unknown]) -> None:
    """Raise BadInput for answers that this installation would drop; nothing where there are none."""
    from evenhand.version import __version__  # noqa: PLC0415

    if unknown:
        raise BadInput(
            f"The study has answers of labels or values that this installation (Evenhand {__version__}) "
            f"does not know: {_listed(unknown)}. Nothing was analyzed, and earlier results stay as they are.",
            hint="Analyze the study with the version of Evenhand that asked them. If they are no longer "
            "wanted, build the collection again with the same cases and "
            "--retire-missing: their answers stay in the study and do not count.",
        )


def _listed(unknown: Sequence[Unknown]) -> str:
    shown = [f"{one.name} ({one.answers:,} in '{one.collection}')" for one in unknown[:_SHOWN]]
    return ", ".join(shown) + (f" and {len(unknown) - _SHOWN:,} more" if len(unknown) > _SHOWN else "")
