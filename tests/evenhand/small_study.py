"""Small studies that scripted judges answer: several models, temperatures and repeats within seconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import analyze
import store
from evenhand.domains import judifair
from evenhand.services.runs import run_study
from evenhand.simulate import Bias, Script
from runner import RunOptions, load_providers

BIAS = Bias("defendant_religion", "伊斯兰教", probability=0.8, steps=2)


def study_at(path: Path) -> store.Study:
    """Open or make a study with the tables of every room."""
    return store.open_study(path, migrations=[judifair.MIGRATIONS, analyze.MIGRATIONS])


def ask(
    study: store.Study,
    folder: Path,
    model: str,
    *,
    script: Script | None = None,
    repeats: int = 1,
    limit: int | None = None,
    settings: Mapping[str, Any] | None = None,
) -> store.Study:
    """Let a scripted judge answer under the name of `model`; its answers depend on the seed in `settings`."""
    providers = folder / "providers.toml"
    providers.write_text(
        "[providers.simulated]\nkind = 'simulated'\n"
        f"[providers.simulated.models.\"{model}\"]\nid = 'scripted-judge'\n"
        "prices = { input = 1.0, output = 2.0 }\n",
        encoding="utf-8",
    )
    summary = run_study(
        study,
        load_providers(providers),
        (model,),
        store.Selection(limit=limit),
        settings={"temperature": 0.0, "seed": 1, **(settings or {})},
        options=RunOptions(monitor="none", serve_sql=False, repeats=repeats),
        script=script or Script(seed=5, jitter=0.3, biases=(BIAS,)),
    )
    assert summary.state == "finished", summary.message
    return study


def rows(study: store.Study, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    """The rows of a query."""
    found: list[tuple[Any, ...]] = study.connection.execute(sql, list(parameters)).fetchall()
    return found
