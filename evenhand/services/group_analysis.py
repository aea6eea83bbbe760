"""The group analysis of a study: answers are read by their domains, then analysed into tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from analyze.groups import Settings
from analyze.groups.stored import GroupRun, has_groups, run
from evenhand.audit import find, read
from store.errors import BadInput
from store.migrate import quoted

if TYPE_CHECKING:
    from evenhand.audit import Domain
    from store import Study

__all__ = ["analyze_groups", "has_groups"]


def analyze_groups(
    study: Study,
    *,
    domains: Sequence[Domain] = (),
    models: Sequence[str] | None = None,
    settings: Settings | None = None,
    recode: bool = False,
    progress: Callable[[str], None] | None = None,
) -> GroupRun:
    """Read what is not read yet, then analyse every collection whose cases have groups.

    Args:
        study: an open study. domains: those that are folders, where answers of theirs are still to be read.
        models: only these. settings: draws. recode: read every answer again.
        progress: told what is worked on.

    Raises:
        BadInput: answers of a domain are not read, and the domain is not known here; a model has no answers.
        RunFailed: stored values are none of the domain's.
    """
    given = {domain.name: domain for domain in domains}
    for name in _domains_of_groups(study):
        domain = given.get(name)
        if domain is None:
            try:
                domain = find(name)
            except BadInput:
                domain = None
        if domain is not None:
            read(study, domain, rebuild=recode)
        elif unread := _unread(study, name):
            raise BadInput(
                f"{unread:,} answers of the domain '{name}' are not read yet, and it is not known here.",
                hint="Name its folder: evenhand analyze --domain FOLDER.",
            )
    return run(study.connection, models=models, settings=settings, progress=progress)


def _domains_of_groups(study: Study) -> list[str]:
    rows = study.connection.execute(
        "SELECT DISTINCT domain FROM collections WHERE domain IS NOT NULL AND collection IN "
        "(SELECT collection FROM queries WHERE label IS NULL AND retired_at IS NULL) ORDER BY domain"
    ).fetchall()
    return [row[0] for row in rows]


def _unread(study: Study, domain: str) -> int:
    """The answers of a domain that have no reading."""
    schema = quoted(domain.replace("-", "_"))
    row = study.connection.execute(
        "SELECT count(*) FROM predictions JOIN queries USING (query_id) JOIN collections USING (collection) "
        f"WHERE domain = ? AND prediction_id NOT IN (SELECT prediction_id FROM {schema}.readings)",
        [domain],
    ).fetchall()
    return int(row[0][0])
