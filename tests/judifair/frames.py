"""What the judifair tests share: a study with its tables, and the regressions of the specifications file."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

import numpy as np
from within_reference import Fit, within

import store
from evenhand.domains import judifair

SPECIFICATIONS = Path(judifair.__file__).parent / "specifications.toml"


def open_study(path) -> store.Study:
    return store.open_study(path, migrations=[judifair.MIGRATIONS])


@cache
def specifications() -> dict:
    return tomllib.loads(SPECIFICATIONS.read_text(encoding="utf-8"))


def variants(coding: str) -> dict[str, dict]:
    return {s["name"]: s for s in specifications()["specification"] if coding in s.get("codings", [coding])}


def fit(study: store.Study, coding: str, label: str, variant: str) -> tuple[list[str], Fit]:
    """The treated values and their estimates, from the frame and the words of the specifications file."""
    spec = variants(coding)[variant]
    errors = spec["standard_error"]
    cluster = errors.partition(":")[2] or "NULL"
    view, dose = specifications()["frame"]["view"], specifications()["frame"]["dose"]
    rows = study.connection.execute(
        f"SELECT {spec['outcome']}, value, doc_id, {cluster}, {dose} FROM {view} "
        f"WHERE coding = ? AND label = ? AND ({spec['sample']}) AND ({spec['outcome']}) IS NOT NULL",
        [coding, label],
    ).fetchall()
    y, value, document, clusters, doses = zip(*rows, strict=True)
    names = study.connection.execute(
        "SELECT value FROM judifair.design_values WHERE coding = ? AND label = ? AND is_treated "
        "ORDER BY position",
        [coding, label],
    ).fetchall()
    treated = [name for (name,) in names]
    x = [[v == t for t in treated] for v in value] if treated else np.array(doses, float)
    names = treated or [specifications()["frame"]["dose_name"]]
    return names, within(y, x, document, None if errors == "robust" else clusters)
