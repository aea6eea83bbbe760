"""The group analysis of a study: answers are read by their domains, then analysed into tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.services import domains
from evenhand.services.events import Listener, Notice, Progress, Stage, silent

if TYPE_CHECKING:
    from analyze.groups import Settings
    from analyze.groups.stored import GroupRun
    from store import Study


def designs_of(study: Study) -> tuple[bool, bool]:
    """Whether a study has cases with groups, and whether it has counterfactual queries, or nothing yet."""
    rows = study.connection.execute(
        "SELECT count(*) FILTER (label IS NULL AND retired_at IS NULL), count(*) FILTER (label IS NOT NULL) "
        "FROM queries"
    ).fetchall()
    as_they_are, varied = rows[0]
    return bool(as_they_are), bool(varied) or not as_they_are


def analyze_groups(
    study: Study,
    domain: str | Path | None = None,
    *,
    models: Sequence[str] | None = None,
    settings: Settings | None = None,
    reread: bool = False,
    on_event: Listener = silent,
) -> GroupRun:
    """Read what is not read yet, then analyse every collection whose cases have groups.

    Args:
        study: an open study.
        domain: read the answers of this one alone; the collections of all domains are analysed.
        models: only these.
        settings: draws.
        reread: read every answer again.
        on_event: hears of stages, progress and notices.

    Raises:
        BadInput: an unknown domain; a model without answers.
        RunFailed: stored values are none of the domain's.
    """
    from analyze.groups.stored import run  # noqa: PLC0415  (a heavy room)

    wanted = set(_domains_of_groups(study))
    for audit in domains.of_study(study, domain):
        if audit.name in wanted:
            on_event(Stage("read", audit.name))
            audit.read(
                study,
                audit.codings[:1],
                rebuild=reread,
                on_batch=lambda done: on_event(Progress("read", done)),
            )
    done = run(
        study.connection,
        models=models,
        settings=settings,
        progress=lambda what: on_event(Stage("groups", what)),
    )
    notices = [
        *done.notices,
        *(
            f"Removed: the group results of {model}, as none of its answers counts any more. `evenhand runs` "
            "lists runs that were set aside."
            for model in done.removed
        ),
    ]
    for text in notices:
        on_event(Notice(text))
    return done


def _domains_of_groups(study: Study) -> list[str]:
    rows = study.connection.execute(
        "SELECT DISTINCT domain FROM collections WHERE domain IS NOT NULL AND collection IN "
        "(SELECT collection FROM queries WHERE label IS NULL AND retired_at IS NULL) ORDER BY domain"
    ).fetchall()
    return [row[0] for row in rows]
