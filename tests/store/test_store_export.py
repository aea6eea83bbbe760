"""Exports: values come through whole, spreadsheets run nothing, files appear whole or not at all."""

from __future__ import annotations

import csv
import datetime as dt
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import store
from store import export as exporting
from store import live
from store.export import export

ANSWERS = """
SELECT * FROM (VALUES
    (1, '=HYPERLINK("http://x","y")', 1.5, TIMESTAMP '2024-01-02 03:04:05', DATE '2024-01-02', true),
    (2, '+cmd|'' /C calc''!A0', 'nan'::DOUBLE, NULL, NULL, false),
    (3, '@SUM(1)', NULL, TIMESTAMP '1850-01-01', DATE '1850-01-01', NULL),
    (4, '-十八个月', 9007199254740993, NULL, NULL, NULL),
    (5, '-18', 0, NULL, NULL, NULL),
    (6, chr(9) || '=1+1', 0, NULL, NULL, NULL),
    (7, 'a,"b"' || chr(10) || 'c 有期徒刑', 0, NULL, NULL, NULL),
    (8, '', 0, NULL, NULL, NULL)
) AS t(n, answer, "=x", moment, day, yes) ORDER BY n
"""


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[store.Study]:
    runtime = tmp_path / "run"
    runtime.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    with store.open_study(tmp_path / "s.duckdb") as opened:
        yield opened


def test_parquet_keeps_types_and_values(study: store.Study, tmp_path: Path) -> None:
    done = export(study, ANSWERS, tmp_path / "out.parquet")
    table = pq.read_table(done.path)
    assert done.rows == table.num_rows == 8
    assert table.column("answer").to_pylist()[0] == '=HYPERLINK("http://x","y")'
    assert table.column("moment").to_pylist()[0] == dt.datetime(2024, 1, 2, 3, 4, 5)
    assert str(table.schema.field("day").type) == "date32[day]"
    assert str(table.schema.field("n").type) == "int32"


def test_csv_guards_what_a_spreadsheet_would_run(study: store.Study, tmp_path: Path) -> None:
    done = export(study, ANSWERS, tmp_path / "out.csv")
    with done.path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["n", "answer", "'=x", "moment", "day", "yes"]
    answers = [row[1] for row in rows[1:]]
    assert all(text.startswith("'") for text in answers[:4])
    assert answers[4:] == ["-18", "'\t=1+1", 'a,"b"\nc 有期徒刑', ""]
    assert done.guarded == 6
    assert rows[1][3:] == ["2024-01-02T03:04:05", "2024-01-02", "true"]
    assert rows[4][2] == "9007199254740992.0"
    plain = export(study, ANSWERS, tmp_path / "plain.csv", formula_safe=False)
    with plain.path.open(encoding="utf-8", newline="") as file:
        assert [row[1] for row in csv.reader(file)][1] == '=HYPERLINK("http://x","y")'
    assert plain.guarded == 0


def test_excel_shows_text_and_runs_nothing(study: store.Study, tmp_path: Path) -> None:
    long = "SELECT n, answer, \"=x\", moment, day, yes, repeat('长', 40000) AS long FROM (" + ANSWERS + ")"
    done = export(study, long, tmp_path / "out.xlsx")
    assert (done.rows, done.cut) == (8, 8)
    with zipfile.ZipFile(done.path) as book:
        sheet = book.read("xl/worksheets/sheet1.xml").decode()
        everything = sheet + "".join(
            book.read(name).decode() for name in book.namelist() if name.endswith("xml")
        )
        styles = book.read("xl/styles.xml").decode()
    assert "<f>" not in everything
    assert "<hyperlink" not in everything
    assert "quotePrefix" in styles
    assert "=HYPERLINK(" in sheet
    assert "有期徒刑" in sheet
    assert "[cut: Excel holds" in sheet
    assert "45293.12783564815" in sheet  # 2024-01-02 03:04:05 as Excel counts days
    assert "1850-01-01T00:00:00" in sheet  # before Excel's first day, so as text
    assert sheet.count("<row ") == 9


def test_excels_limits_are_told(study: store.Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporting, "EXCEL_ROWS", 1_001)
    assert export(study, "SELECT * FROM range(1000)", tmp_path / "fits.xlsx").rows == 1_000
    with pytest.raises(store.BadInput, match="1,000 rows that Excel holds"):
        export(study, "SELECT * FROM range(1001)", tmp_path / "out.xlsx")
    monkeypatch.setattr(exporting, "EXCEL_COLUMNS", 2)
    with pytest.raises(store.BadInput, match="2 columns"):
        export(study, "SELECT 1, 2, 3", tmp_path / "out.xlsx")
    assert not (tmp_path / "out.xlsx").exists()


@pytest.mark.parametrize("ending", [".parquet", ".csv", ".xlsx"])
def test_many_batches_empty_results_and_odd_types(study: store.Study, tmp_path: Path, ending: str) -> None:
    assert export(study, "SELECT * FROM range(30_000)", tmp_path / f"many{ending}").rows == 30_000
    assert export(study, "SELECT 1 AS a WHERE false", tmp_path / f"none{ending}").rows == 0
    odd = "SELECT [1, 2] AS l, {'a': 1} AS s, uuid() AS u, 'x'::BLOB AS b, now() AS z, 1::HUGEINT AS h, NULL"
    assert export(study, odd, tmp_path / f"odd{ending}").rows == 1


@pytest.mark.parametrize("ending", [".parquet", ".csv", ".xlsx"])
def test_a_file_appears_whole_or_not_at_all(study: store.Study, tmp_path: Path, ending: str) -> None:
    out = tmp_path / "out" / f"x{ending}"
    out.parent.mkdir()
    fails_late = "SELECT CASE WHEN range = 50_000 THEN error('late') ELSE range END FROM range(60_000)"
    with pytest.raises(store.BadInput, match="late"):
        export(study, fails_late, out)
    assert not list(out.parent.iterdir())
    export(study, "SELECT 1 AS a", out)
    before = out.read_bytes()
    with pytest.raises(store.BadInput, match="exists"):
        export(study, "SELECT 2 AS a", out)
    with pytest.raises(store.BadInput, match="late"):
        export(study, fails_late, out, overwrite=True)
    assert out.read_bytes() == before
    export(study, "SELECT 2 AS a", out, overwrite=True)
    assert out.read_bytes() != before
    assert [path.name for path in out.parent.iterdir()] == [out.name]


def test_an_export_is_no_way_around_the_fences(study: store.Study, tmp_path: Path) -> None:
    for sql in (
        "DELETE FROM queries",
        "COPY queries TO 'x'",
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT 1; COMMIT",
    ):
        with pytest.raises(store.BadInput):
            export(study, sql, tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


def test_bad_names_are_told(study: store.Study, tmp_path: Path) -> None:
    with pytest.raises(store.BadInput, match=r"'\.txt' is no format") as caught:
        export(study, "SELECT 1", tmp_path / "out.txt")
    assert ".parquet, .csv, .xlsx" in str(caught.value)
    with pytest.raises(store.BadInput, match="cannot be written"):
        export(study, "SELECT 1", tmp_path / "no" / "out.csv")
    with pytest.raises(store.BadInput, match="there is no study"):
        export(tmp_path / "no.duckdb", "SELECT 1", tmp_path / "out.csv")


def test_an_export_reads_the_run_while_it_writes(study: store.Study, tmp_path: Path) -> None:
    store.add_collection(study, "c", kind="own", description="")
    with live.Server(study):
        done = export(
            study.path, "SELECT collection, range FROM collections, range(25_000)", tmp_path / "out.parquet"
        )
        assert (done.live, done.rows) == (True, 25_000)
        assert pq.read_table(done.path).num_rows == 25_000
    study.close()
    done = export(study.path, "SELECT collection FROM collections", tmp_path / "closed.csv")
    assert (done.live, done.rows) == (False, 1)
