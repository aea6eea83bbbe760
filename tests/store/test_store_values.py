"""Values are shown and exported as DuckDB means them: durations, infinite numbers and what Python lacks."""

from __future__ import annotations

import csv
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import store
from store import values
from store.export import export
from store.readonly import run_sql


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[store.Study]:
    with store.open_study(tmp_path_factory.mktemp("values") / "s.duckdb") as opened:
        yield opened


def one(study: store.Study, expression: str) -> tuple[str, object]:
    """The text of a value, and the value in JSON."""
    found = run_sql(study, f"SELECT {expression} AS v")
    (row,) = json.loads(json.dumps(found.objects(), allow_nan=False))
    return values.as_text(found.rows[0][0]), row["v"]


AS_DUCKDB_PRINTS = (
    "INTERVAL 1 DAY",
    "INTERVAL '1 year 2 months 3 days 04:05:06.789'",
    "INTERVAL (-14) MONTH",
    "INTERVAL (-90) MINUTE",
    "INTERVAL 0 DAY",
    "INTERVAL 100 HOUR",
    "INTERVAL 1 MICROSECOND",
    "INTERVAL 2 DAY - INTERVAL 3 HOUR",
    "TIMESTAMP '2026-01-02 03:04:05' - TIMESTAMP '2026-01-01'",
    "'infinity'::DATE",
    "'-infinity'::TIMESTAMP",
    "'infinity'::TIMESTAMPTZ",
    "DATE '12000-01-01'",
    "TIMESTAMP '12000-01-01'",
    "TIMETZ '10:00:00+02'",
    "TIME '24:00:00'",
    "TIME_NS '10:00:00.123456789'",
    "'101'::BIT",
    "340282366920938463463374607431768211455::UHUGEINT",
    "170141183460469231731687303715884105727::HUGEINT",
    "12345678901234567890123456789012345678901234567890::BIGNUM",
    "12345678901234567890.123456789::DECIMAL(38, 9)",
    "'inf'::DOUBLE",
    "'-inf'::FLOAT",
    "'nan'::DOUBLE",
    "1.50::DECIMAL(10, 2)",
    "0::DECIMAL(38, 9)",
    "'a'::ENUM ('a', 'b')",
)


@pytest.mark.parametrize("expression", AS_DUCKDB_PRINTS)
def test_a_cell_shows_what_duckdb_prints(study: store.Study, expression: str) -> None:
    ((printed,),) = study.connection.execute(f"SELECT CAST({expression} AS VARCHAR)").fetchall()
    assert one(study, expression)[0] == printed.replace("12000-01-01 00:00:00", "12000-01-01 00:00:00.000000")


@pytest.mark.parametrize(
    ("expression", "text", "in_json"),
    [
        ("[INTERVAL 1 DAY, NULL]", '["1 day", null]', ["1 day", None]),
        ("{'a': INTERVAL 90 MINUTE, 'b': 1.5}", '{"a": "01:30:00", "b": 1.5}', {"a": "01:30:00", "b": 1.5}),
        ("{'INTERVAL': 1}", '{"INTERVAL": 1}', {"INTERVAL": 1}),
        ("MAP {'k': INTERVAL 1 DAY}", '{"k": "1 day"}', {"k": "1 day"}),
        ("MAP {1: 'a', 2: 'b'}", '{"1": "a", "2": "b"}', {"1": "a", "2": "b"}),
        ("MAP {}", "{}", {}),
        ("{'x': 'inf'::DOUBLE}", '{"x": "inf"}', {"x": "inf"}),
        ("[['a'], []]", '[["a"], []]', [["a"], []]),
        ("'inf'::DOUBLE", "inf", "inf"),
        ("'nan'::FLOAT", "nan", None),
        ("'\\xAA\\x00b'::BLOB", "aa0062", "aa0062"),
        ("TIMESTAMPTZ '2020-01-01 10:00:00+02'", "2020-01-01T08:00:00+00:00", "2020-01-01T08:00:00+00:00"),
        ("1.50::DECIMAL(4, 2)", "1.50", 1.5),
        ("12345678901234567.25::DECIMAL(20, 2)", "12345678901234567.25", "12345678901234567.25"),
        ("NULL", "", None),
        ("NULL::INTERVAL", "", None),
        ("''", "", ""),
        ("true", "true", True),
    ],
)
def test_nested_and_missing_values(study: store.Study, expression: str, text: str, in_json: object) -> None:
    assert one(study, expression) == (text, in_json)


def test_a_column_is_renamed_by_nothing_and_keeps_its_order(study: store.Study) -> None:
    found = run_sql(
        study,
        'SELECT INTERVAL (n) DAY AS "of n", n AS "of n" FROM range(20000) AS r(n) ORDER BY n DESC -- the end',
        limit=30_000,
    )
    assert found.columns == ("of n", "of n_2")
    assert [row[1] for row in found.rows] == list(range(19_999, -1, -1))
    assert found.rows[0][0] == "19999 days"


def test_a_list_of_dates_that_nothing_can_hold_is_an_error_of_a_sentence(study: store.Study) -> None:
    with pytest.raises(store.BadInput, match="cannot be shown"):
        run_sql(study, "SELECT ['infinity'::DATE]")


ROW = (
    "SELECT INTERVAL 90 MINUTE AS d, INTERVAL (-1) DAY AS back, 'inf'::DOUBLE AS up, '-inf'::DOUBLE AS down, "
    "'nan'::DOUBLE AS nan, TIME '10:00' AS t, 1.50::DECIMAL(4, 2) AS x, NULL AS nothing, "
    "TIMESTAMPTZ '2020-01-01 10:00:00+02' AS z, [INTERVAL 1 DAY] AS l, -INTERVAL '1 day 02:00:00' AS both"
)


def test_csv_writes_durations_and_infinite_numbers_plainly(study: store.Study, tmp_path: Path) -> None:
    done = export(study, ROW, tmp_path / "o.csv")
    with done.path.open(encoding="utf-8", newline="") as file:
        _, row = csv.reader(file)
    assert row == [
        "01:30:00", "-1 day", "inf", "-inf", "nan", "10:00:00", "1.50", "", "2020-01-01T08:00:00+00:00",
        '["1 day"]', "-1 day -02:00:00",
    ]  # fmt: skip
    assert done.guarded == 0


@pytest.mark.parametrize("text", ["-1 day=cmd", "-1+1", "-1 day +cmd", "=1 day", "-infx", "-01:00", "-"])
def test_what_only_looks_like_a_duration_is_guarded(study: store.Study, tmp_path: Path, text: str) -> None:
    done = export(study, f"SELECT '{text}' AS v", tmp_path / "o.csv")
    assert done.guarded == 1


def test_excel_writes_durations_as_text_and_decimals_and_times_as_numbers(
    study: store.Study, tmp_path: Path
) -> None:
    done = export(study, ROW, tmp_path / "o.xlsx")
    with zipfile.ZipFile(done.path) as book:
        sheet = book.read("xl/worksheets/sheet1.xml").decode()
    cells = dict(re.findall(r'<c r="([A-Z]+)2"[^>]*>(.*?)</c>', sheet))
    texts = {place: re.sub("<[^>]+>", "", cell) for place, cell in cells.items()}
    assert texts["A"] == "01:30:00"
    assert texts["B"] == "-1 day"
    assert [texts[place] for place in "CDE"] == ["inf", "-inf", "nan"]
    assert cells["F"] == "<v>0.4166666666666667</v>"
    assert cells["G"] == "<v>1.5</v>"
    assert "H" not in texts


def test_parquet_holds_durations_as_text(study: store.Study, tmp_path: Path) -> None:
    done = export(study, ROW, tmp_path / "o.parquet")
    (row,) = pq.read_table(done.path).to_pylist()
    assert (row["d"], row["back"], row["l"]) == ("01:30:00", "-1 day", ["1 day"])
    assert row["up"] == float("inf")
