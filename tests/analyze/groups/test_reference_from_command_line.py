"""Every number of the reference bundle again: from its files, by the command line, to the tables."""

from __future__ import annotations

from dataclasses import fields
from types import SimpleNamespace

import duckdb
import pytest
from reference_sets import MODELS, SETS, read_set
from test_reference_sets import (  # noqa: F401  (the tests run here on what the tables hold)
    test_answers_are_counted,
    test_crossed_attributes,
    test_drift,
    test_group_scores,
    test_intervals_of_scores,
    test_numbers_over_seeds,
    test_permutation_tests,
    test_representation_and_label_counts,
    test_summaries,
    test_worst_class_influence,
)

from analyze.groups.stored.run import OF_DATA, OF_MODELS
from evenhand.cli.main import main


def evenhand(*words: object) -> None:
    with pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
    assert stop.value.code in (0, None)


@pytest.fixture(scope="module", params=SETS)
def found(request, reference, tmp_path_factory):
    folder = reference / "fairlex" / "dev" / request.param
    if not folder.is_dir():
        pytest.skip(
            "the reference bundle of group fairness (../shared/reference/fairlex) is not on this machine"
        )
    db = tmp_path_factory.mktemp(request.param) / "study.duckdb"
    domain = f"fairlex-{request.param}"
    evenhand("load", folder, "--domain", domain, "--split", "all", "--db", db)
    for model in MODELS:
        for seed in (1, 2, 3):
            file = folder / f"predictions-{model}-seed{seed}.jsonl"
            evenhand("import", file, "--domain", domain, "--model", model, "--seed", seed, "--db", db)
    evenhand("analyze", "--db", db)
    with duckdb.connect(str(db), read_only=True) as connection:
        tables = {
            name: rows_of(connection, table, kind) for table, (name, kind) in {**OF_MODELS, **OF_DATA}.items()
        }
    return read_set(folder), SimpleNamespace(**tables)


def rows_of(connection, table: str, kind: type) -> list:
    names = [field.name for field in fields(kind)]
    listed = ", ".join(f'"{name}"' for name in names)
    rows = connection.execute(f"SELECT {listed} FROM {table} ORDER BY rowid").fetchall()
    return [kind(**dict(zip(names, row, strict=True))) for row in rows]
