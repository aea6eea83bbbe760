"""How long the analysis takes on one model of the published shape: 65 labels, 161 values, 177,100 answers.

    python benchmarks/analyze_speed.py [--models 1] [--engine numpy] [--inference] [--db FILE]

The answers are synthetic and stored with their verdicts, so that what is timed is the analysis: the frame's
SQL, the regressions, their audit by pyfixest, the writing. With --inference also the sign flips and all
that goes with them, under the first coding. The published pipeline takes 4,440 s for a model under its
one coding.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
import uuid
from pathlib import Path

import numpy as np
import pyarrow as pa

import analyze
import store
from evenhand.domains import judifair
from evenhand.domains.judifair import catalogue
from evenhand.domains.judifair.coding import CODINGS, designs

DOCUMENTS = 3990
PER_LABEL = 1100
GRID = np.array(
    [0, *range(4, 10), *range(10, 24, 2), *range(24, 84, 6), *range(84, 181, 12), 240, 300], dtype=np.float64
)
CRIMES = ("盗窃罪", "诈骗罪", "故意伤害罪", "寻衅滋事罪", "交通肇事罪", "强奸罪", "抢劫罪", "猥亵儿童罪")
SPECIFICATIONS = Path(judifair.__file__).parent / "specifications.toml"


def build(path: Path, *, models: int = 1, seed: int = 0) -> store.Study:
    """A study of synthetic answers: 177,100 for each model, with both codings' verdicts."""
    study = store.open_study(path, migrations=[judifair.MIGRATIONS, analyze.MIGRATIONS])
    designs.ensure(study)
    rng = np.random.default_rng(seed)
    run_id = str(uuid.UUID(int=1))
    connection = study.connection
    connection.execute(
        "INSERT INTO runs (run_id, kind, state, started_at, ended_at, manifest) "
        "VALUES (?, 'import', 'finished', now(), now(), '{}')",
        [run_id],
    )
    _add(connection, "judifair.truths", _truths(rng))
    store.add_collection(study, "synthetic", kind="imported", description="synthetic", domain=judifair.SCHEMA)
    labels = catalogue.load()
    files = {
        "source_hash": [one.key for one in labels],
        "published_label": [one.published_key for one in labels],
    }
    _add(connection, "judifair.file_labels", pa.table(files))
    level = rng.normal(12, 6, DOCUMENTS).clip(1, len(GRID) - 3)
    queries = _queries(rng)
    _add(connection, "queries", queries.drop_columns(["doc"]))
    doc = queries["doc"].to_numpy()
    label = queries["label"].combine_chunks().dictionary_encode().indices.to_numpy()
    for model in range(models):
        key = f"{model:032x}"
        _add(
            connection,
            "models",
            pa.table(
                {
                    "model_key": [key],
                    "model": [f"synthetic {model}"],
                    "kind": ["imported"],
                    "temperature": [0.0],
                    "settings": ["{}"],
                    "created_at": pa.array([0], pa.timestamp("us")),
                }
            ),
        )
        noisy = rng.uniform(0.05, 0.6, label.max() + 1)[label]
        step = (rng.random(len(doc)) < noisy) * rng.integers(-2, 3, len(doc))
        at = (level + rng.normal(0, 1, DOCUMENTS))[doc].round().astype(int) + step
        months = GRID[at.clip(0, len(GRID) - 1)]
        missing = rng.random(len(doc)) < 0.03
        _answers(connection, key, run_id, queries, months, missing)
    connection.execute("CHECKPOINT")
    return study


def _add(connection, table: str, rows: pa.Table) -> None:
    connection.register("rows_to_add", rows)
    connection.execute(f"INSERT INTO {table} BY NAME SELECT * FROM rows_to_add")
    connection.unregister("rows_to_add")


def _truths(rng: np.random.Generator) -> pa.Table:
    years = rng.integers(2010, 2023, DOCUMENTS)
    return pa.table(
        {
            "collection": ["synthetic"] * DOCUMENTS,
            "doc_id": [str(i) for i in range(DOCUMENTS)],
            "case_number": [f"（{y}）京0101刑初{i % 900}号" for i, y in enumerate(years)],
            "year": pa.array(years, pa.int32()),
            "charge": [
                f"{CRIMES[c]} {i % 60}" for i, c in enumerate(rng.integers(0, len(CRIMES), DOCUMENTS))
            ],
            "penalty": ["fixed_term"] * DOCUMENTS,
            "penalty_text": ["有期徒刑"] * DOCUMENTS,
            "months": GRID[rng.integers(4, 24, DOCUMENTS)],
        }
    )


def _queries(rng: np.random.Generator) -> pa.Table:
    columns: dict[str, list] = {"doc": [], "label": [], "value": []}
    for label in catalogue.load():
        for i in sorted(rng.choice(DOCUMENTS, PER_LABEL, replace=False)):
            values = [v.zh for v in label.values]
            if label.treatment == "log_age":
                values = [str(age) for age in sorted(rng.choice(np.arange(20, 60), 2, replace=False))]
            columns["doc"] += [i] * len(values)
            columns["label"] += [label.key] * len(values)
            columns["value"] += values
    count = len(columns["doc"])
    return pa.table(
        {
            "query_id": [str(uuid.UUID(int=i + 1)) for i in range(count)],
            "collection": ["synthetic"] * count,
            "doc_id": [str(i) for i in columns["doc"]],
            "label": columns["label"],
            "value": columns["value"],
            "ordinal": np.arange(count),
            "doc": columns["doc"],
        }
    )


def _answers(connection, key: str, run_id: str, queries: pa.Table, months, missing) -> None:
    count = len(months)
    first = int(key, 16) << 32
    ids = [str(uuid.UUID(int=first + i + 1)) for i in range(count)]
    _add(
        connection,
        "predictions",
        pa.table(
            {
                "prediction_id": ids,
                "query_id": queries["query_id"],
                "model_key": [key] * count,
                "run_id": [run_id] * count,
                "repeat": pa.array(np.zeros(count), pa.int32()),
                "outcome": ["answered"] * count,
                "text": ["{}"] * count,
                "created_at": pa.array(np.zeros(count, dtype=np.int64), pa.timestamp("us")),
                # As of an import: a file for each label.
                "source_hash": queries["label"],
            }
        ),
    )
    for coding in CODINGS:
        absent = pa.array(np.where(missing, None, months), pa.float64())
        fixed = months > 0
        _add(
            connection,
            "judifair.verdicts",
            pa.table(
                {
                    "prediction_id": ids,
                    "coding": [coding] * count,
                    "charge": ["盗窃罪"] * count,
                    "guilty": [True] * count,
                    "penalty": np.where(missing, "unparseable", np.where(fixed, "fixed_term", "exempted")),
                    "months": absent,
                    "severity": pa.array(np.where(missing, None, np.where(fixed, 4, 0)), pa.int32()),
                    "read_as": np.where(missing, "truncated", "exact"),
                    "penalty_text": np.where(missing, None, np.where(fixed, "有期徒刑", "免予刑事处罚")),
                    "full_months": absent,
                }
            ),
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--models", type=int, default=1)
    parser.add_argument("--engine", choices=("numpy", "pyfixest"), default="numpy")
    parser.add_argument("--coding", choices=(*CODINGS, "both"), default="both")
    parser.add_argument("--inference", action="store_true", help="with the tests of the first coding")
    parser.add_argument("--draws", type=int, default=99_999)
    parser.add_argument("--db", type=Path, help="keep the study here, and use it where it is there already")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = options.db or Path(folder) / "speed.duckdb"
        started = time.perf_counter()
        if path.exists():
            study = store.open_study(path, migrations=[judifair.MIGRATIONS, analyze.MIGRATIONS])
        else:
            study = build(path, models=options.models)
        (answers,) = study.connection.execute("SELECT count(*) FROM predictions").fetchall()[0]
        print(f"{answers:,} answers with their verdicts, ready after {time.perf_counter() - started:.1f} s")
        started = time.perf_counter()
        cpu = time.process_time()
        codings = None if options.coding == "both" else [options.coding]
        found = analyze.run(
            study,
            SPECIFICATIONS,
            codings=codings,
            engine=options.engine,
            inference=options.inference,
            draws=options.draws,
        )
        total, cpu = time.perf_counter() - started, time.process_time() - cpu
        study.close()
    print(f"{found.estimates.num_rows:,} estimates by {options.engine} in {total:.1f} s, of these")
    for kind, seconds in found.timings.items():
        print(f"  {kind:12} {seconds:6.2f} s")
    print(f"  CPU of all threads {cpu:.1f} s")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")


if __name__ == "__main__":
    main()
