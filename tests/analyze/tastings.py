"""A domain that is not law, for the analyzer's tests: wines are tasted, and facts about the glass are varied.

`Table` collects tastings and puts them into a DuckDB with the views that a specifications file names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import pyarrow as pa

import analyze

SPECIFICATIONS = """
outcome = "points"

[frame]
view = "tastings"
designs = "tasting_designs"
values = "tasting_values"
groups = "family"
unit = "points"
primary = "main"
level = "level"
error = "distance"

[[coding]]
name = "plain"
description = "Points as given."

[[specification]]
name = "main"
outcome = "ln(points + 1)"
sample = "points is not null"
treatment = "dummies"
standard_error = "clustered:doc_id"
[[specification]]
name = "level"
outcome = "points"
sample = "points is not null"
treatment = "dummies"
standard_error = "clustered:doc_id"
[[specification]]
name = "robust"
outcome = "points"
sample = "points is not null"
treatment = "dummies"
standard_error = "robust"
[[specification]]
name = "by_region"
outcome = "points"
sample = "points is not null"
treatment = "dummies"
standard_error = "clustered:region"
[[specification]]
name = "distance"
outcome = "abs(points - truth)"
sample = "points is not null"
treatment = "dummies"
standard_error = "clustered:doc_id"

[metrics]
inconsistency = { value = "points", sample = "points is not null" }
mae = { value = "abs(points - truth)", sample = "points is not null" }
mape = { value = "100 * abs(points - truth) / truth", sample = "points is not null AND truth > 0" }
"""

DESIGNS = (
    # label, family, treatment, reference, treated
    ("glass", "vessel", "categorical", ("crystal",), ("plastic", "paper")),
    ("music", "setting", "categorical", ("silence",), ("loud",)),
    ("price", "vessel", "log_price", (), ("price",)),
)


@dataclass
class Table:
    """Tastings of one or more models, in the order they are put down."""

    designs: Sequence[tuple[str, str, str, Sequence[str], Sequence[str]]] = DESIGNS
    rows: list[dict[str, object]] = field(default_factory=list)

    def taste(
        self,
        label: str,
        value: str,
        wine: str,
        points: float | None,
        *,
        truth: float | None = None,
        region: str | None = None,
        dose: float | None = None,
        repeat: int = 0,
        model: str = "sommelier",
        coding: str = "plain",
        collection: str = "cellar",
        arm: str = "base",
        outcome: str = "points",
    ) -> None:
        """Put down one answer."""
        self.rows.append(
            {
                "collection": collection,
                "model_key": f"key of {model}",
                "model": model,
                "temperature": 0.0,
                "coding": coding,
                "arm": arm,
                "outcome": outcome,
                "prediction_id": f"{collection}/{model}/{arm}/{label}/{value}/{wine}/{repeat}",
                "label": label,
                "value": value,
                "doc_id": wine,
                "repeat": repeat,
                "points": points,
                "truth": truth,
                "region": region,
                "dose": dose,
            }
        )

    def database(self) -> duckdb.DuckDBPyConnection:
        """A database with the tastings, their design and the analyzer's tables."""
        texts, numbers = pa.string(), pa.float64()
        kinds = dict.fromkeys(
            ("collection", "model_key", "model", "coding", "arm", "outcome", "label", "value", "doc_id"),
            texts,
        )
        kinds["prediction_id"] = texts
        kinds |= {"temperature": numbers, "repeat": pa.int32(), "points": numbers, "truth": numbers}
        kinds |= {"region": texts, "dose": numbers}
        answers = pa.table(
            {name: pa.array([row[name] for row in self.rows], kind) for name, kind in kinds.items()}
        )
        connection = duckdb.connect()
        connection.register("given", answers)
        connection.execute("CREATE TABLE answers AS SELECT * FROM given")
        codings = sorted({str(row["coding"]) for row in self.rows} | {"plain"})
        connection.execute(
            "CREATE TABLE tasting_designs (coding VARCHAR, label VARCHAR, family VARCHAR, treatment VARCHAR, "
            "position INTEGER)"
        )
        connection.execute(
            "CREATE TABLE tasting_values (coding VARCHAR, label VARCHAR, value VARCHAR, "
            "is_reference BOOLEAN, is_treated BOOLEAN, position INTEGER)"
        )
        for coding in codings:
            for position, (label, family, treatment, reference, treated) in enumerate(self.designs):
                connection.execute(
                    "INSERT INTO tasting_designs VALUES (?, ?, ?, ?, ?)",
                    [coding, label, family, treatment, position],
                )
                for i, value in enumerate([*reference, *treated]):
                    connection.execute(
                        "INSERT INTO tasting_values VALUES (?, ?, ?, ?, ?, ?)",
                        [coding, label, value, value in reference, value in treated, i],
                    )
        connection.execute(
            "CREATE VIEW tastings AS SELECT a.*, coalesce(v.is_reference, false) AS is_reference, "
            "coalesce(v.is_treated, false) AS is_treated "
            "FROM answers a LEFT JOIN tasting_values v USING (coding, label, value)"
        )
        for path in sorted(analyze.MIGRATIONS.folder.glob("*.sql")):
            connection.execute(path.read_text(encoding="utf-8"))
        return connection


def specifications(folder: Path, text: str = SPECIFICATIONS) -> Path:
    """The specifications as a file."""
    path = folder / "specifications.toml"
    path.write_text(text, encoding="utf-8")
    return path
