"""What a run was: configuration and its hash, code and package versions. Names of variables, never keys."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.lifecycle.options import Asked, RunOptions
from runner.providers.file import Route

if TYPE_CHECKING:
    from store.pending_queries import Selection

_PACKAGES = ("aiohttp", "duckdb", "orjson", "pydantic", "uvloop", "vllm", "xllamacpp")


def manifest(asked: Sequence[Asked], options: RunOptions, selection: Selection | None) -> dict[str, Any]:
    """The manifest of a run that begins."""
    config = {
        "models": [
            {
                "model_key": one.settings.model_key,
                "settings": one.settings.hashed(),
                "routes": [_route(route) for route in one.entry.routes],
            }
            for one in asked
        ],
        "options": dataclasses.asdict(options),
        "selection": {} if selection is None else dataclasses.asdict(selection),
    }
    return {
        "config": config,
        "config_hash": config_hash(config),
        "code": code_version(),
        "versions": versions(),
    }


def config_hash(config: Mapping[str, Any]) -> str:
    """32 hex digits; equal for equal configurations."""
    text = json.dumps(config, ensure_ascii=False, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _route(route: Route) -> dict[str, Any]:
    return {
        "provider": route.provider,
        "kind": route.kind,
        "base_url": route.base_url,
        "replicas": list(route.replicas),
        "id": route.model_id,
        "key_variables": list(route.keys_set()) if route.keys else [],
        "limits": route.limits.model_dump(),
        "prices": None if route.prices is None else route.prices.model_dump(),
        "style": route.style.model_dump(),
        "timeouts": route.timeouts.model_dump(),
    }


def versions() -> dict[str, str]:
    """Of Python and the packages that a run depends on."""
    found = {"python": platform.python_version(), "platform": sys.platform}
    for name in _PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def code_version() -> str:
    """Our version and, in a checkout, its commit, with '+changes' where files differ from it."""
    try:
        version = metadata.version("evenhand")
    except metadata.PackageNotFoundError:
        version = "unknown"
    root = Path(__file__).resolve().parents[2]
    if not (root / ".git").exists():
        return version
    try:
        commit = _git(root, "rev-parse", "--short=12", "HEAD")
        changed = _git(root, "status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.SubprocessError):
        return version
    return f"{version} ({commit}{'+changes' if changed else ''})"


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(root), *arguments], capture_output=True, text=True, timeout=5, check=True
    )
    return done.stdout.strip()
