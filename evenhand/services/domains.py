"""Which domain is meant: by its name or folder, or the ones that a study has."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.audit import registry, stored
from evenhand.audit.general import GeneralAudit
from store.errors import BadInput

if TYPE_CHECKING:
    from evenhand.audit.protocol import Audit
    from store import Study

DEFAULT = "judifair"
"""The domain of a new study, unless one is named."""


def find(name: str | Path) -> Audit:
    """The domain of this name, or in this folder.

    Raises:
        BadInput: there is none, or its files are wrong.
    """
    package = registry.package_of(str(name))
    if package is not None:
        module = importlib.import_module(f"evenhand.domains.{package}")
        if hasattr(module, "audit_of"):
            found: Audit = module.audit_of(str(name))
            return found
    return GeneralAudit(registry.find(str(name)))


def names(study: Study) -> list[str]:
    """The domains whose collections a study has, in order."""
    rows = study.connection.execute(
        "SELECT DISTINCT domain FROM collections WHERE domain IS NOT NULL ORDER BY domain"
    ).fetchall()
    return [str(row[0]) for row in rows]


def of_study(study: Study, named: str | Path | None = None) -> tuple[Audit, ...]:
    """The domains of a study; with `named`, that one alone. A study without any has the default one.

    A domain from a folder that is not there any more is found in the study, which keeps its definition.

    Raises:
        BadInput: the study has no cases of the domain named, or a domain is nowhere to be found.
    """
    have = names(study)
    if named is None:
        return tuple(_of(study, name) for name in have or [DEFAULT])
    audit = _named(study, named, have)
    if have and audit.name not in have:
        raise BadInput(
            f"{study.path} has no cases of the domain '{audit.name}'.",
            hint=f"It has: {', '.join(have)}. `evenhand build --domain {named}` adds some.",
        )
    return (audit,)


def one_of_study(study: Study, named: str | Path | None = None) -> Audit:
    """The only domain of a study, or the one named.

    Raises:
        BadInput: the study has several and none is named; as `of_study` otherwise.
    """
    found = of_study(study, named)
    if len(found) > 1:
        raise BadInput(
            f"{study.path} has cases of several domains: {', '.join(audit.name for audit in found)}.",
            hint=f"Say which one is meant: --domain {found[0].name}",
        )
    return found[0]


def _named(study: Study, named: str | Path, have: list[str]) -> Audit:
    if not Path(named).is_dir() and str(named) in have:
        return _of(study, str(named))
    return find(named)


def _of(study: Study, name: str) -> Audit:
    if registry.package_of(name) is None:
        kept = stored.find(study, name)
        if kept is not None:
            return GeneralAudit(kept)
    return find(name)
