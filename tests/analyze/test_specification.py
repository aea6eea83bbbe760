"""The specifications file: what is read, and how complaints name the place."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyze.specification import load
from store.errors import BadInput

GOOD = """
[frame]
view = "tastings"
designs = "tasting_designs"
values = "tasting_values"
groups = "family"
unit = "points"
primary = "main"
level = "level"

[[coding]]
name = "plain"
description = "As written."
[[coding]]
name = "strict"
description = "Whole points only."

[[specification]]
name = "main"
outcome = "ln(score + 1)"
sample = "score is not null"
treatment = "dummies"
standard_error = "clustered:doc_id"
[[specification]]
name = "level"
outcome = "score"
sample = "true"
treatment = "dummies"
standard_error = "robust"
codings = ["plain"]

[metrics]
inconsistency = { value = "score", sample = "true" }
mae = { value = "abs(score - truth)", sample = "true" }
mape = { value = "100 * abs(score - truth) / truth", sample = "truth > 0" }

[report]
title = "Wine"
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "specifications.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_reads_what_is_written(tmp_path: Path) -> None:
    specs = load(write(tmp_path, GOOD))
    assert specs.coding_names() == ("plain", "strict")
    assert [s.name for s in specs.of_coding("strict")] == ["main"]
    main, level = specs.specifications
    assert main.cluster == "doc_id"
    assert level.cluster is None
    assert main.codings == ("plain", "strict")
    assert specs.frame.dose == "dose"
    assert specs.inference is None
    assert specs.report == {"title": "Wine"}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('view = "tastings"\n', "", "line 2, frame.view: is missing"),
        ('view = "tastings"', 'view = "tastings; DROP TABLE x"', "not a plain name"),
        (
            'primary = "main"',
            'primary = "mian"',
            "line 8, frame.primary: 'mian' is the name of no",
        ),
        (
            'name = "level"',
            'name = "main"',
            "line 25, specification[1].name: 'main' is the name of an earlier",
        ),
        (
            'outcome = "score"',
            'outcom = "score"',
            "line 26, specification[1].outcom: there is no such key (did you mean",
        ),
        ('outcome = "score"', 'outcome = "score; select 1"', "one SQL expression"),
        ('outcome = "score"', "outcome = 3", "line 26, specification[1].outcome: must be a text"),
        (
            'codings = ["plain"]',
            'codings = ["plian"]',
            "line 30, specification[1].codings: 'plian' is the name of no",
        ),
        ('standard_error = "robust"', 'standard_error = "cluster doc"', "'robust' or 'clustered:<column>'"),
        (
            'treatment = "dummies"\nstandard_error = "robust"',
            'treatment = "x"\nstandard_error = "robust"',
            "'dummies'",
        ),
        ("[metrics]", "[metric]", "line 32, metric: there is no such key (did you mean 'metrics'?)"),
        ("[frame]", "[frame", "is not valid TOML"),
        (
            "[report]",
            '[inference]\noutcome = "score"\nsample = "true"\nmargin = 2\n[report]',
            "line 40, inference.margin: must be less than 1",
        ),
    ],
)
def test_complaints_name_file_table_and_key(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in GOOD
    path = write(tmp_path, GOOD.replace(old, new, 1))
    with pytest.raises(BadInput) as caught:
        load(path)
    assert str(path) in caught.value.message
    assert said in caught.value.message


def test_missing_file_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        load(tmp_path / "none.toml")
