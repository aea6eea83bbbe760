"""Reports: the page, tables for papers and spreadsheets, the summary, and single figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.services import domains
from evenhand.services.events import Listener, Notice, silent
from store.errors import BadInput

if TYPE_CHECKING:
    from analyze.specification import Specifications
    from store import Study


def specifications(
    study: Study, domain: str | Path | None = None, file: Path | None = None
) -> tuple[Specifications, ...]:
    """What is estimated of each outcome of the study's domains, or of the one named.

    Raises:
        BadInput: an unknown domain, or a wrong file.
    """
    if file is not None:
        return domains.one_of_study(study, domain).specifications(file)
    return tuple(specs for audit in domains.of_study(study, domain) for specs in audit.specifications())


def only_specifications(
    study: Study, domain: str | Path | None = None, file: Path | None = None, outcome: str | None = None
) -> Specifications:
    """What is estimated of one outcome: the one named, or the first of the study's only domain."""
    found = domains.one_of_study(study, domain).specifications(file)
    if outcome is None:
        return found[0]
    for specs in found:
        if specs.outcome == outcome:
            return specs
    raise BadInput(
        f"There is no outcome '{outcome}'.",
        hint=f"There are: {', '.join(specs.outcome for specs in found)}.",
    )


def analyzed(study: Study, every: Sequence[Specifications]) -> list[Specifications]:
    """Those with results in the study; all of them where there are none, so that the first says so."""
    outcomes = {
        row[0] for row in study.connection.execute("SELECT DISTINCT outcome FROM analyses").fetchall()
    }
    return [specs for specs in every if specs.outcome in outcomes] or list(every)


def write(
    study: Study,
    folder: Path,
    domain: str | Path | None = None,
    *,
    format: str = "html",
    file: Path | None = None,
    texts: bool = True,
    models: Sequence[str] | None = None,
    codings: Sequence[str] | None = None,
    arms: Sequence[str] | None = None,
    on_event: Listener = silent,
) -> list[Path]:
    """Write the report of what was analyzed, a folder for each outcome where there are several.

    Args:
        study: an open study. folder: to write into. domain: a name or a folder; all by default. format:
            html, csv, md, latex, xlsx or json. file: specifications of one's own. texts: with the answers
            of models. models, codings, arms: only these. on_event: hears what is not up to date.

    Raises:
        BadInput: nothing was analyzed, or the folder cannot be written.
    """
    from analyze.report import write_html, write_tables  # noqa: PLC0415  (a heavy room)

    chosen: dict[str, Any] = {"models": models, "codings": codings}
    if arms is not None:
        chosen["arms"] = arms

    def tell(text: str) -> None:
        on_event(Notice(text))

    found = analyzed(study, specifications(study, domain, file))
    paths: list[Path] = []
    for specs in found:
        into = folder if len(found) == 1 else folder / specs.outcome
        if format == "html":
            paths.append(write_html(study, specs, into, texts=texts, tell=tell, **chosen))
        else:
            paths += write_tables(study, specs, into, format=format, tell=tell, **chosen)
    return paths
