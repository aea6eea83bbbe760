"""Analysis: answers are read, effects estimated and tested, and the tables of results replaced."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.services import domains
from evenhand.services.events import Listener, Notice, Progress, Stage, silent
from store.errors import BadInput, RunFailed
from store.identity import BASE_ARM

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from analyze.counterfactual.frame import Cell
    from analyze.specification import Specifications
    from evenhand.audit.protocol import Audit
    from store import Study


@dataclass(frozen=True, slots=True)
class AnalysisReport:
    """What an analysis of one domain did."""

    domain: str
    specifications: tuple[Specifications, ...]
    tables: dict[str, pa.Table]
    """The rows of each table of results, as Arrow."""
    notices: tuple[str, ...]
    """What a person should know besides the results."""

    def pandas(self, name: str) -> pd.DataFrame:
        """A table as a pandas data frame; nullable, so that missing integers stay integers."""
        import pandas as pd  # noqa: PLC0415  (a second of import that most callers do not need)

        frame: pd.DataFrame = self.tables[name].to_pandas(types_mapper=pd.ArrowDtype)
        return frame


def analyze_study(
    study: Study,
    domain: str | Path | None = None,
    *,
    specifications: Path | None = None,
    codings: Sequence[str] | None = None,
    models: Sequence[str] | None = None,
    arms: Sequence[str] | None = None,
    reread: bool = False,
    attributes: Path | None = None,
    on_event: Listener = silent,
) -> list[AnalysisReport]:
    """Read what is not read yet, then estimate, for every domain of the study or the one named.

    Whatever is raised, the results of earlier analyses stay as they are.

    Args:
        study: an open study.
        domain: a name or a folder.
        specifications: a file of one's own, for one domain.
        codings: the domain's first by default.
        models: names or keys; all by default.
        arms: all by default.
        reread: read every answer again.
        attributes: a file of what is known of models; the domain's own by default.
        on_event: hears of stages, progress and notices.

    Raises:
        BadInput: an unknown domain, coding or model; answers to labels that this installation does not know.
        RunFailed: there is no answer to analyze.
    """
    if models is not None and not models:
        raise BadInput("The choice names no model.", hint="Leave it out to analyze all models.")
    if codings is not None and not codings:
        raise BadInput("The choice names no coding.", hint="Leave it out for the domain's first.")
    audits = domains.of_study(study, domain)
    if specifications is not None and len(audits) > 1:
        audits = (domains.one_of_study(study, domain),)
    found, empty = [], None
    for audit in audits:
        try:
            found.append(
                _analyze(study, audit, specifications, codings, models, arms, reread, attributes, on_event)
            )
        except RunFailed as error:
            # Of several domains, one may not have been asked yet.
            if len(audits) == 1:
                raise
            empty = error
            on_event(Notice(f"{audit.name}: {error.message}"))
    if not found and empty is not None:
        raise empty
    return found


def _analyze(
    study: Study,
    audit: Audit,
    specifications: Path | None,
    codings: Sequence[str] | None,
    models: Sequence[str] | None,
    arms: Sequence[str] | None,
    reread: bool,
    attributes: Path | None,
    on_event: Listener,
) -> AnalysisReport:
    import analyze  # noqa: PLC0415  (a heavy room)

    chosen = tuple(codings or audit.codings[:1])
    for coding in chosen:
        if coding not in audit.codings:
            raise BadInput(
                f"{audit.name} has no coding '{coding}'.", hint=f"It has: {', '.join(audit.codings)}."
            )
    notices = audit.refuse_unknown(study, models)
    on_event(Stage("read", audit.name))
    audit.read(study, chosen, rebuild=reread, on_batch=lambda done: on_event(Progress("read", done)))
    on_event(Stage("estimate", audit.name))
    specs = audit.specifications(specifications)
    analysis = analyze.run(
        study,
        specs,
        codings=list(chosen),
        models=None if models is None else list(models),
        arms=None if arms is None else list(arms),
        attributes=attributes or audit.attributes_file,
        progress=lambda what, done, total: on_event(Progress(what, done, total)),
    )
    if not analysis.cells:
        if notices:
            raise RunFailed(notices[0], hint="Earlier results, if there are any, stay as they are.")
        raise RunFailed(
            f"{study.path} has no answer that counts. Earlier results, if there are any, stay as they are.",
            hint="Ask a model first (`evenhand run MODEL`); `evenhand runs` lists runs that were set aside.",
        )
    removed = [_removed(cell) for cell in analysis.removed]
    for text in (*removed, *notices):
        on_event(Notice(text))
    return AnalysisReport(audit.name, specs, dict(analysis.tables), (*removed, *notices))


def _removed(cell: Cell) -> str:
    arm = "" if cell.arm == BASE_ARM else f", arm {cell.arm}"
    return (
        f"Removed: the results of {cell.model} ({cell.collection}, {cell.coding} coding{arm}), as none of "
        "its answers counts any more. `evenhand runs` lists runs that were set aside."
    )
