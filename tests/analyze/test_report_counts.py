"""Counts stand beside the p that is theirs; what was confirmed leads; a direction is that of its p."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from cellar import LABELS, SPECIFICATIONS, Cellar
from pages import Node, parse

import analyze
import store
from analyze.report import numbers, write_html
from analyze.report.data import read
from analyze.report.labels import strongest

MODELS = (("A", "api", 0.0), ("B", "api", 0.0), ("C", "api", 0.0))

CHANGES = """
    UPDATE estimates SET p = CASE WHEN value IN ('塑料', '透明') THEN 0.04 ELSE 0.9 END
    WHERE variant = 'main';
    UPDATE estimates SET coef = 0.02 WHERE variant = 'main' AND value IN ('塑料', '透明');
    UPDATE estimates SET coef = -2e-16 WHERE variant = 'level' AND value = '塑料';
    UPDATE estimates SET coef = -1.5 WHERE variant = 'level' AND value = '透明';
    UPDATE model_metrics SET value = 2, n = 5
    WHERE metric = 'biased_labels' AND threshold = 0.05 AND "group" = 'all';
"""


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[store.Study, Path]]:
    folder = tmp_path_factory.mktemp("one")
    study, path = Cellar(wines=24).analysed(folder, inference=True)
    with study:
        study.connection.execute(CHANGES)
        yield study, path


@pytest.fixture(scope="module")
def minute(one: tuple[store.Study, Path], tmp_path_factory: pytest.TempPathFactory) -> str:
    return told(parse(write_html(*one, tmp_path_factory.mktemp("page")).read_text(encoding="utf-8")))


def told(page: Node) -> str:
    return page.find("section", id="minute")[0].text


def test_what_is_confirmed_leads_and_the_uncorrected_count_stands_under_its_name(minute: str) -> None:
    confirmed = "Confirmed: the answers change with 1 of 5 labels (varied facts): Glass (p "
    # Glass has two values tested, the others one each: 1 - 0.95**2 + 4 * 0.05 = 0.2975.
    uncorrected = (
        "Uncorrected count of the main variant (labels with a value at clustered p < 0.05): 2 of 5; chance "
        "alone would give about 0.3. It is no list of findings."
    )
    assert minute.index(confirmed) < minute.index(uncorrected)
    assert "As few" not in minute
    assert "fall below p = 0.05" not in minute


def test_a_regression_row_makes_no_sentence(minute: str) -> None:
    assert "Bottle: clear instead of green" not in minute
    assert "on average" in minute
    assert minute.count("the score is") == 1


def test_a_direction_is_that_of_the_effect_whose_p_is_shown(one: tuple[store.Study, Path]) -> None:
    results = read(*one)
    for label, coef in (("glass", -2e-16), ("bottle", -1.5)):
        cell = strongest(results, results.audits[0].main, label)
        assert cell is not None
        assert (cell.coef, cell.sign, cell.mark) == (coef, 1, "▲ ")


def test_models_are_ranked_only_where_they_were_compared_alike(tmp_path: Path) -> None:
    study, path = Cellar(models=MODELS, wines=24).analysed(tmp_path, inference=True)
    with study:
        alike = parse(write_html(study, path, tmp_path / "a").read_text(encoding="utf-8"))
        (key,) = study.connection.execute("SELECT model_key FROM models WHERE model = 'B'").fetchall()
        study.connection.execute(
            "UPDATE findings SET n_compared = n_compared - 9 WHERE model_key = ? AND label = 'glass'", key
        )
        study.connection.execute(
            "DELETE FROM predictions WHERE model_key = ? AND query_id IN "
            "(SELECT query_id FROM queries WHERE label = 'room')",
            key,
        )
        other = parse(write_html(study, path, tmp_path / "b").read_text(encoding="utf-8"))
    names = [row.find("a")[0].text for row in other.find("table", data_t="minute")[0].find("tr", data_k=True)]
    assert names == ["A", "B", "C"], "not in the study's order"
    assert "The models are not ranked: they were not compared on the same pairs of answers" in told(other)
    pending = [
        row.find("td")[-1].text for row in other.find("table", data_t="minute")[0].find("tr", data_k=True)
    ]
    assert pending == ["0", "48", "0"]
    assert "In 3 of 3 models labels are confirmed to change the answers. So far: 48 queries have not" in told(
        other
    )
    assert "All labels of all models are corrected for together, 15 in all." in told(alike)


def test_what_was_not_compared_or_tested_is_a_dash(tmp_path: Path) -> None:
    many = (*LABELS, *((f"{LABELS[1][0]}{i}", *LABELS[1][1:]) for i in range(16)))
    cellar = Cellar(wines=12, models=(("A", "imported", 0.0),), labels=many)
    study = cellar.open()
    with study:
        study.connection.execute(
            "DELETE FROM predictions WHERE query_id IN "
            "(SELECT query_id FROM queries WHERE label = 'light' AND value <> '白天')"
        )
        path = tmp_path / "specifications.toml"
        path.write_text(SPECIFICATIONS, encoding="utf-8")
        analyze.run(study, path, codings=["careful"], audit=False, inference=True, draws=99)
        study.connection.execute("UPDATE label_metrics SET inconsistency = 0 WHERE label = 'light'")
        study.connection.execute("UPDATE model_metrics SET n = 0, value = 1 WHERE metric = 'bernoulli_p'")
        study.connection.execute("UPDATE global_tests SET bernoulli_p = NULL")
        study.connection.execute(
            "UPDATE global_tests SET observed = 4, n = 22 WHERE threshold IS NOT NULL; "
            "UPDATE global_tests SET observed = 0.12345, n = 22 WHERE threshold IS NULL"
        )
        page = parse(write_html(study, path, tmp_path).read_text(encoding="utf-8"))
        out = read(study, path)
    (table,) = page.find("table", data_t="label_metrics")
    column = [th.text for th in table.find("thead")[0].find("th")].index("Inconsistent, %")
    shown = {row["data-label"]: row.find("td")[column].text for row in table.find("tr", data_label=True)}
    assert shown["light"] == numbers.NOTHING
    assert shown["glass"] != numbers.NOTHING
    (ranking,) = page.find("table", data_t="ranking")
    assert ranking.find("tbody")[0].find("td")[-1].text == numbers.NOTHING
    tables = {table["data-name"]: table for table in page.find("table", data_t="further")}
    rows = [[cell.text for cell in row.find("td")] for row in tables["global"].find("tbody")[0].find("tr")]
    assert "1.000" not in {cell for row in rows for cell in row[-3:]}
    observed = {row[0]: row[2] for row in rows}
    assert observed["Significant values"] == "4"
    assert observed["Cross label correlation"] == "0.123"
    assert out.audits[0].kind == "imported"
    noise = next(f for f in page.find("figure") if tables["noise"] in f.walk())
    assert "The prompts of imported answers are not known" in noise.find("figcaption")[0].text


def test_notes_of_the_coding_are_counted(tmp_path: Path) -> None:
    study = Cellar(wines=8).open()
    path = tmp_path / "specifications.toml"
    path.write_text(SPECIFICATIONS, encoding="utf-8")
    with study:
        study.connection.execute("ALTER VIEW scores RENAME TO bare_scores")
        study.connection.execute(
            "CREATE VIEW scores AS SELECT *, "
            "CASE WHEN doc_id = 'wine 1' THEN 'over the top; a number ' || points "
            "WHEN doc_id = 'wine 2' THEN 'over the top' END AS note FROM bare_scores"
        )
        study.connection.execute("UPDATE predictions SET text = 'I give 80 points'")
        analyze.run(study, path, codings=["careful"], audit=False)
        page = parse(write_html(study, path, tmp_path).read_text(encoding="utf-8"))
    (table,) = page.find("table", data_t="notes")
    values = sum(len(own) for *_, own in LABELS)
    rows = {row["data-k"]: row.find("td")[1].text for row in table.find("tr", data_k=True)}
    assert rows == {"over the top": str(2 * values), "a number …": str(values)}
