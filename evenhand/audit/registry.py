"""Where domains are found: bundled ones, packages that announce themselves, and folders.

A third party's package announces a domain by the entry point `evenhand.domains`: a name, and an object that
is a `Domain` or a function that returns one. It is loaded only when it is named.
"""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from importlib import metadata
from pathlib import Path

from evenhand.audit import folder
from evenhand.audit.domain import Domain
from store.errors import BadInput

ENTRY_POINTS = "evenhand.domains"


def names() -> dict[str, str]:
    """The domains that can be named, each with where it comes from; nothing of them is loaded."""
    found = dict.fromkeys(_bundled(), "bundled")
    for point in metadata.entry_points(group=ENTRY_POINTS):
        if point.name not in found:
            found[point.name] = f"package {point.dist.name if point.dist else point.value}"
    return found


def package_of(name: str) -> str | None:
    """The sub-package of `evenhand.domains` that has a domain; None where no bundled one is called so."""
    return _bundled().get(name)


def find(name: str) -> Domain:
    """A domain by its name, or by the path of its folder.

    Raises:
        BadInput: there is none, or its files are wrong.
    """
    bundled = _bundled()
    if name in bundled:
        return _load_bundled(bundled[name], name)
    for point in metadata.entry_points(group=ENTRY_POINTS):
        if point.name == name:
            return _announced(point, name)
    path = Path(name).expanduser()
    if path.is_dir():
        return folder.load(path)
    near = difflib.get_close_matches(name, names(), n=3, cutoff=0.5)
    hint = f"Did you mean {', '.join(near)}? " if near else ""
    raise BadInput(
        f"There is no domain '{name}', and no folder of this name.",
        hint=f"{hint}`evenhand domain list` shows the domains.",
    )


def _bundled() -> dict[str, str]:
    """Name -> sub-package. A bundled domain's package says by `NAMES` what it offers; importing it is
    cheap."""
    home = importlib.import_module("evenhand.domains")
    offered = {}
    for found in pkgutil.iter_modules(home.__path__):
        package = importlib.import_module(f"evenhand.domains.{found.name}")
        for name in getattr(package, "NAMES", ()):
            offered[name] = found.name
    return offered


def _load_bundled(package: str, name: str) -> Domain:
    return _made(importlib.import_module(f"evenhand.domains.{package}").domain(name), name)


def _announced(point: metadata.EntryPoint, name: str) -> Domain:
    """The domain of a package. Raises BadInput where the package, which is not ours, cannot be loaded."""
    try:
        return _made(point.load(), name)
    except BadInput:
        raise
    except Exception as error:
        raise BadInput(
            f"The domain '{name}' cannot be loaded from {point.value}: {type(error).__name__}: {error}",
            hint="Its package is at fault, or lacks something that it needs: ask who maintains it.",
        ) from error


def _made(found: object, name: str) -> Domain:
    domain = found() if callable(found) and not isinstance(found, Domain) else found
    if not isinstance(domain, Domain):
        raise BadInput(f"The domain '{name}' is not usable: its entry point gives {type(domain).__name__}.")
    return domain
