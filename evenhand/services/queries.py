"""Building: cases x labels x values become the queries of a study."""

from __future__ import annotations

from pathlib import Path

from evenhand.audit import Built
from evenhand.audit.protocol import BuildOptions
from evenhand.services import domains
from evenhand.services.studies import open_study


def build(db: Path, domain: str | Path | None = None, options: BuildOptions | None = None) -> Built:
    """Put the queries of a domain into the study at `db`, which is made where it is missing.

    What is wrong is found before there is a file. `domain` is a name or a folder; by default
    the study's only one, or the default domain.

    Raises:
        BadInput: an unknown domain, label or arm, wrong cases, nothing to ask.
    """
    options = options or BuildOptions()
    if domain is None and db.exists():
        with open_study(db) as study:
            audit = domains.one_of_study(study)
            audit.check_build(options)
            return audit.build(study, options)
    audit = domains.find(domain or domains.DEFAULT)
    audit.check_build(options)
    with open_study(db, create=True, audit=audit) as study:
        return audit.build(study, options)
