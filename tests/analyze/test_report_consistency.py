"""What stands side by side in the report says the same: marks and p, labels and values, counts, names."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from cellar import LABELS, SPECIFICATIONS, Cellar
from pages import parse
from rich.console import Console

import analyze
import store
from analyze.report import print_summary, write_html, write_tables


@pytest.fixture(scope="module")
def cellar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[store.Study, Path]]:
    """A study in which three of five labels were not asked."""
    folder = tmp_path_factory.mktemp("consistency")
    study = Cellar(wines=24).open()
    study.connection.execute(
        "DELETE FROM predictions WHERE query_id IN "
        "(SELECT query_id FROM queries WHERE label IN ('music', 'light', 'room'))"
    )
    path = folder / "specifications.toml"
    path.write_text(SPECIFICATIONS, encoding="utf-8")
    analyze.run(study, path, codings=["careful"], audit=False, draws=999)
    with study:
        yield study, path


def test_marks_follow_the_p_that_is_shown(cellar: tuple[store.Study, Path], tmp_path: Path) -> None:
    study, path = cellar
    kept = study.connection.execute("SELECT value, variant, p FROM estimates").fetchall()
    study.connection.execute("UPDATE estimates SET p = 0.2 WHERE variant = 'main' AND value = '塑料'")
    study.connection.execute("UPDATE estimates SET p = 0.01 WHERE variant = 'main' AND value = '透明'")
    study.connection.execute("UPDATE estimates SET p = 0.9 WHERE variant = 'level' AND value = '透明'")
    tree = parse(write_html(study, path, tmp_path).read_text(encoding="utf-8"))
    (table,) = tree.find("table", data_t="estimates")
    marked = {
        row["data-value"]: "▲" in row.text or "▼" in row.text for row in table.find("tr", data_label=True)
    }
    assert marked == {"塑料": False, "透明": True, "纸": False}
    for value, variant, p in kept:
        study.connection.execute(
            "UPDATE estimates SET p = ? WHERE value = ? AND variant = ?", [p, value, variant]
        )


def test_a_label_with_one_value_agrees_with_it(cellar: tuple[store.Study, Path]) -> None:
    rows = (
        cellar[0]
        .connection.execute(
            "SELECT l.wald_p, v.cluster_p FROM label_tests l "
            "JOIN value_tests v USING (model_key, coding, label) "
            "WHERE l.values = 1 AND v.cluster_p IS NOT NULL"
        )
        .fetchall()
    )
    assert rows
    for of_label, of_value in rows:
        assert of_label == pytest.approx(of_value, rel=1e-9)


def test_counts_are_whole_numbers_in_csv(cellar: tuple[store.Study, Path], tmp_path: Path) -> None:
    write_tables(*cellar, tmp_path, format="csv")
    (row,) = csv.DictReader((tmp_path / "models.csv").open(encoding="utf-8-sig"))
    for name in ("labels_estimated", "biased_0.05", "values_estimated", "significant_values", "asked"):
        assert row[name].isdigit(), (name, row[name])


def test_the_names_are_those_of_the_labels_asked(cellar: tuple[store.Study, Path], tmp_path: Path) -> None:
    tree = parse(write_html(*cellar, tmp_path).read_text(encoding="utf-8"))
    (table,) = tree.find("table", data_t="names")
    assert [code.text for code in table.find("code")] == ["glass", "bottle"]


def test_the_p_of_a_value_says_of_which_variant_it_is(cellar: tuple[store.Study, Path]) -> None:
    out = io.StringIO()
    print_summary(*cellar, Console(file=out, width=300, highlight=False), everything=True)
    assert "p, main, uncorrected " in out.getvalue()


def test_more_labels_have_no_larger_p_where_none_has_one(tmp_path: Path) -> None:
    many = [(f"{LABELS[1][0]}{i}", *LABELS[1][1:]) for i in range(25)]
    study, path = replace(Cellar(wines=4), labels=many).analysed(tmp_path)
    with study:
        for p, said in (("0.5", "5 more labels, with a larger p, are"), ("NULL", "5 more labels are")):
            study.connection.execute(f"UPDATE label_metrics SET smallest_p = {p}")
            out = io.StringIO()
            print_summary(study, path, Console(file=out, width=200, highlight=False))
            assert f"{said} in the report." in out.getvalue()


def test_switches_of_kind_stand_beside_the_inconsistency(tmp_path: Path) -> None:
    study = Cellar(wines=12).open()
    path = tmp_path / "specifications.toml"
    kind = "kind = \"CASE WHEN value = '烛光' THEN 'a' ELSE 'b' END\"\nmissing = "
    path.write_text(SPECIFICATIONS.replace("missing = ", kind), encoding="utf-8")
    with study:
        study.connection.execute("UPDATE predictions SET text = 'I give 80 points'")
        analyze.run(study, path, codings=["careful"], audit=False, draws=999)
        page = parse(write_html(study, path, tmp_path).read_text(encoding="utf-8"))
        write_tables(study, path, tmp_path, format="csv")
    (table,) = page.find("table", data_t="label_metrics")
    assert "Other kind" in table.text
    rows = {row["label"]: row for row in csv.DictReader((tmp_path / "labels.csv").open(encoding="utf-8-sig"))}
    assert (rows["light"]["kind_switches"], rows["glass"]["kind_switches"]) == ("12", "0")
    assert rows["light"]["inconsistency"] == "0.0"
    assert "the kind of answer is another than under the reference in 12 pairs" in page.text
    minute = page.find("section", id="minute")[0].text
    assert "Light: candles instead of daylight: the kind of answer changes in 12 of the 12 wines" in minute
    assert "no change" not in minute
