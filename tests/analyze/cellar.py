"""A whole small study of a domain that is not law, for the report's tests: wines are scored under varied
circumstances.

Unlike `tastings`, which hands the analyzer a bare frame, this one goes through the store's own tables, so
that the report can count what was asked and how it ended.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

import analyze
import store

SPECIFICATIONS = """
outcome = "score"

[frame]
view = "scores"
designs = "score_designs"
values = "score_values"
groups = "family"
unit = "points"
primary = "main"
level = "level"
error = "distance"

[[coding]]
name = "careful"
description = "Every score that can be read."
[[coding]]
name = "hasty"
description = "Scores over 95 count as missing."

[[specification]]
name = "main"
outcome = "ln(points + 1)"
sample = "points <= 100"
treatment = "dummies"
standard_error = "clustered:doc_id"
[[specification]]
name = "level"
outcome = "points"
sample = "points <= 100"
treatment = "dummies"
standard_error = "clustered:doc_id"
[[specification]]
name = "robust"
outcome = "ln(points + 1)"
sample = "points <= 100"
treatment = "dummies"
standard_error = "robust"
[[specification]]
name = "distance"
outcome = "abs(points - 80)"
sample = "points <= 100"
treatment = "dummies"
standard_error = "clustered:doc_id"

[metrics]
inconsistency = { value = "points", sample = "points is not null" }
mae = { value = "abs(points - 80)", sample = "points is not null" }
mape = { value = "100 * abs(points - 80) / 80", sample = "points is not null" }

[inference]
outcome = "points"
sample = "points is not null"
missing = "CASE WHEN points IS NULL THEN read_as END"

[report]
title = "Does the glass change the wine?"
subject = "Scores of wines"
question = "Each wine was scored several times with one circumstance changed."
document = "wine"
documents = "wines"
measure = "the score"
citation = "A. Taster, Glasses. 2026."
[report.groups]
vessel = "The vessel"
setting = "The setting"
[report.notices]
simulated = "Simulated: a scripted taster with a planted preference."
[[report.glossary]]
term = "Score"
meaning = "A number from 0 to 100."
"""

LABELS: tuple[tuple[str, str, str, str, str, tuple[tuple[str, str], ...]], ...] = (
    # label, family, treatment, English, Chinese, values (the first is the reference)
    (
        "glass",
        "vessel",
        "categorical",
        "Glass",
        "酒杯",
        (("水晶", "crystal"), ("塑料", "plastic"), ("纸", "paper")),
    ),
    ("bottle", "vessel", "categorical", "Bottle", "酒瓶", (("绿色", "green"), ("透明", "clear"))),
    ("music", "setting", "categorical", "Music", "音乐", (("安静", "silence"), ("喧闹", "loud"))),
    ("light", "setting", "categorical", "Light", "光线", (("白天", "daylight"), ("烛光", "candles"))),
    ("room", "setting", "categorical", "Room", "房间", (("温暖", "warm"), ("寒冷", "cold"))),
)


@dataclass
class Cellar:
    """What to put into the study. Planted: plastic costs points under every model."""

    models: Sequence[tuple[str, str, float | None]] = (("Sommelier 7B", "api", 0.0),)
    """Name, kind, temperature."""
    wines: int = 24
    planted: float = -4.0
    seed: int = 7
    collection: str = "cellar"
    labels: Sequence[tuple[str, str, str, str, str, tuple[tuple[str, str], ...]]] = LABELS
    names: dict[str, str] = field(default_factory=dict)
    """Replacements of English label names."""
    settings: Sequence[dict[str, object]] = ()
    """Of each model, beside its temperature."""
    text: str = "I give {points} points"

    def open(self, path: Path | str = ":memory:") -> store.Study:
        """A study with the answers, not yet analysed."""
        study = store.open_study(path, migrations=[analyze.MIGRATIONS])
        self._tables(study.connection)
        self._answers(study.connection)
        return study

    def analysed(
        self, folder: Path, specifications: str = SPECIFICATIONS, *, inference: bool = False
    ) -> tuple[store.Study, Path]:
        """A study with results, and its specifications file; with the tests of inference too, if wanted."""
        path = folder / "specifications.toml"
        path.write_text(specifications, encoding="utf-8")
        study = self.open(folder / "cellar.duckdb")
        analyze.run(study, path, engine="numpy", audit=False, inference=inference, draws=999)
        return study, path

    def _tables(self, connection: duckdb.DuckDBPyConnection) -> None:
        designs, values = [], []
        for coding in ("careful", "hasty"):
            for position, (label, family, treatment, en, zh, own) in enumerate(self.labels):
                designs.append((coding, label, family, treatment, self.names.get(label, en), zh, position))
                values += [
                    (coding, label, value, value_en, i == 0, i > 0, i)
                    for i, (value, value_en) in enumerate(own)
                ]
        connection.execute(
            "CREATE TABLE score_designs (coding VARCHAR, label VARCHAR, family VARCHAR, treatment VARCHAR, "
            "name_en VARCHAR, name_zh VARCHAR, position INTEGER)"
        )
        connection.executemany("INSERT INTO score_designs VALUES (?, ?, ?, ?, ?, ?, ?)", designs)
        connection.execute(
            "CREATE TABLE score_values (coding VARCHAR, label VARCHAR, value VARCHAR, value_en VARCHAR, "
            "is_reference BOOLEAN, is_treated BOOLEAN, position INTEGER)"
        )
        connection.executemany("INSERT INTO score_values VALUES (?, ?, ?, ?, ?, ?, ?)", values)
        connection.execute(
            """
            CREATE VIEW scores AS
            WITH scored AS (
                SELECT q.collection, p.model_key, m.model, m.temperature, q.arm, q.label, q.value, q.doc_id,
                p.repeat,
                    try_cast(regexp_extract(p.text, '[0-9]+') AS DOUBLE) AS points
                FROM predictions p JOIN queries q USING (query_id) JOIN models m USING (model_key)
            )
            SELECT s.* REPLACE (CASE WHEN c.coding = 'hasty' AND s.points > 95 THEN NULL ELSE s.points END
            AS points),
                c.coding, 'score' AS outcome, v.is_reference, v.is_treated, NULL::DOUBLE AS dose,
                CASE WHEN s.points IS NULL THEN 'evasive' ELSE 'exact' END AS read_as
            FROM scored s CROSS JOIN (VALUES ('careful'), ('hasty')) c(coding)
            JOIN score_values v ON v.coding = c.coding AND v.label = s.label AND v.value = s.value
            """
        )

    def _answers(self, connection: duckdb.DuckDBPyConnection) -> None:
        rng = np.random.default_rng(self.seed)
        run = uuid.UUID(int=1)
        now = "2026-01-02 03:04:05"
        connection.execute(
            "INSERT INTO runs (run_id, kind, state, started_at, ended_at, manifest) "
            "VALUES (?, 'run', 'finished', ?, ?, '{}')",
            [str(run), now, now],
        )
        connection.execute(
            "INSERT INTO collections (collection, kind, description, created_at) "
            "VALUES (?, 'own', 'wines', ?)",
            [self.collection, now],
        )
        queries: dict[str, list[object]] = {
            k: [] for k in ("query_id", "doc_id", "label", "value", "ordinal")
        }
        for wine in range(self.wines):
            for label, _, _, _, _, own in self.labels:
                for value, _ in own:
                    queries["query_id"].append(str(uuid.UUID(int=len(queries["doc_id"]) + 1000)))
                    queries["doc_id"].append(f"wine {wine}")
                    queries["label"].append(label)
                    queries["value"].append(value)
                    queries["ordinal"].append(len(queries["ordinal"]))
        connection.register("given_queries", pa.table(queries))
        connection.execute(
            "INSERT INTO queries (query_id, collection, doc_id, label, value, ordinal) "
            "SELECT query_id::UUID, ?, doc_id, label, value, ordinal FROM given_queries", [self.collection],
        )  # fmt: skip
        base = {f"wine {i}": int(b) for i, b in enumerate(rng.integers(70, 95, self.wines))}
        rows: dict[str, list[object]] = {k: [] for k in ("id", "query_id", "model_key", "text")}
        for number, (model, kind, temperature) in enumerate(self.models):
            key = f"{number:032x}"
            settings = self.settings[number] if self.settings else {}
            connection.execute(
                "INSERT INTO models (model_key, model, kind, temperature, settings, created_at) "
                "VALUES (?, ?, ?, ?, ?, ?)", [key, model, kind, temperature, json.dumps(settings), now],
            )  # fmt: skip
            for query, wine, value in zip(
                queries["query_id"], queries["doc_id"], queries["value"], strict=True
            ):
                points = base[str(wine)] + int(rng.integers(-2, 3)) * int(rng.random() < 0.4)
                points += round(self.planted) if value == "塑料" and rng.random() < 0.7 else 0
                said = "It depends." if rng.random() < 0.03 else self.text.format(points=points)
                rows["id"].append(str(uuid.UUID(int=len(rows["id"]) + 10**9)))
                rows["query_id"].append(query)
                rows["model_key"].append(key)
                rows["text"].append(said)
        connection.register("given_rows", pa.table(rows))
        connection.execute(
            "INSERT INTO predictions "
            "(prediction_id, query_id, model_key, run_id, repeat, outcome, text, created_at) "
            "SELECT id::UUID, query_id::UUID, model_key, ?::UUID, 0, 'answered', text, ? FROM given_rows",
            [str(run), now],
        )
