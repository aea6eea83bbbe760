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
    UPDATE global_tests SET observed = 2, n = 6, expected = 0.3, p = 0.01
    WHERE test = 'significant_values' AND threshold = 0.05 AND model_key <> 'all models';
    UPDATE model_metrics SET value = 1, n = 5 WHERE metric = 'significant_values' AND threshold = 0.05;
    UPDATE model_metrics SET value = 0.226, n = 5 WHERE metric = 'bernoulli_p' AND threshold = 0.05;
    UPDATE label_tests SET rejected = label = 'glass';
    UPDATE estimates SET p = CASE WHEN value IN ('塑料', '透明') THEN 0.04 ELSE 0.9 END
    WHERE variant = 'main';
    UPDATE estimates SET coef = 0.02 WHERE variant = 'main' AND value IN ('塑料', '透明');
    UPDATE estimates SET coef = -2e-16 WHERE variant = 'level' AND value = '塑料';
    UPDATE estimates SET coef = -1.5 WHERE variant = 'level' AND value = '透明';
    UPDATE value_tests SET "leading" = CASE WHEN label = 'bottle' THEN 'flip' ELSE 'cluster' END;
    UPDATE value_tests SET leading_p = 0.125 WHERE label = 'bottle';
    UPDATE model_metrics SET value = 2, n = 5
    WHERE metric = 'biased_labels' AND threshold = 0.05 AND "group" = 'all';
"""


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[store.Study, Path]]:
    folder = tmp_path_factory.mktemp("one")
    study, path = Cellar(wines=12).analysed(folder, inference=True)
    with study:
        study.connection.execute(CHANGES)
        yield study, path


@pytest.fixture(scope="module")
def minute(one: tuple[store.Study, Path], tmp_path_factory: pytest.TempPathFactory) -> str:
    return told(parse(write_html(*one, tmp_path_factory.mktemp("page")).read_text(encoding="utf-8")))


def told(page: Node) -> str:
    return page.find("section", id="minute")[0].text


def test_a_p_stands_beside_the_count_that_it_is_of(minute: str) -> None:
    assert (
        "2 of 6 values fall below p = 0.05 by their tests in points; 0.3 would if nothing mattered. Were "
        "there no effect at all, that many or more would be seen with probability 0.010 (sign flips" in minute
    )
    assert (
        "In the main variant (main), 1 of 5 tested values fall below p = 0.05; about 0.2 would by chance "
        "alone. Bernoulli test of this count, which takes values as independent (they are not): p = 0.226."
        in minute
    )
    assert "more than chance" not in minute


def test_what_would_be_seen_by_chance_is_of_the_values_tested(minute: str) -> None:
    assert "Of 5 values tested, about 0.2 would fall below 0.05 by chance alone." in minute


def test_a_direction_is_that_of_the_effect_whose_p_is_shown(
    one: tuple[store.Study, Path], minute: str
) -> None:
    said = "the score is higher in the main variant (+0.020 in main), but"
    assert f"plastic instead of crystal: {said} 0.00 points on average" in minute
    assert f"clear instead of green: {said} \N{MINUS SIGN}1.50 points on average" in minute
    results = read(*one)
    for label, coef in (("glass", -2e-16), ("bottle", -1.5)):
        cell = strongest(results, results.audits[0].main, label)
        assert cell is not None
        assert (cell.coef, cell.sign, cell.mark) == (coef, 1, "▲ ")


def test_the_headline_is_what_was_confirmed_and_the_uncorrected_count_is_beside_it(minute: str) -> None:
    confirmed = (
        "1 of 5 labels moves the score by the confirmatory test (sign flips, corrected by Holm): Glass."
    )
    uncorrected = (
        "By the uncorrected count of the main variant, a value with clustered p < 0.05, it is 2 of 5"
    )
    assert minute.index(confirmed) < minute.index(uncorrected)
    assert "In 1 of these few wines carry the effect: the clustered p is not to be trusted there" in minute
    assert minute.count("As few wines carry this, the sign flips lead: p = 0.125.") == 1


def test_models_of_which_nothing_could_be_tested_are_named(tmp_path: Path) -> None:
    study, path = Cellar(models=MODELS, wines=12).analysed(tmp_path, inference=True)
    with study:
        study.connection.execute(CHANGES)
        keys = study.connection.execute("SELECT model_key FROM models ORDER BY model").fetchall()
        untested = str(keys[1][0])
        study.connection.execute(
            "UPDATE model_metrics SET value = 0, n = 0 WHERE model_key = ? AND metric = 'biased_labels'",
            [untested],
        )
        study.connection.execute(
            "UPDATE label_tests SET holm_p = NULL, rejected = NULL WHERE model_key = ?", [untested]
        )
        minute = told(parse(write_html(study, path, tmp_path).read_text(encoding="utf-8")))
    assert "In 2 of 2 models labels move the score by the confirmatory test" in minute
    assert "In 1 of 3 models nothing could be tested in the regression, and no count has them: B." in minute
    assert "In 2 of these some labels count by values in which few wines carry the effect" in minute
    assert "In 3 of 3 models more values fall below p = 0.05 by their tests in points than chance" in minute
    assert "Of 15 values tested in all models, about 0.8 would fall below 0.05" in minute


def test_what_was_not_compared_or_tested_is_a_dash(tmp_path: Path) -> None:
    cellar = Cellar(wines=12, models=(("A", "imported", 0.0),))
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
        study.connection.execute("UPDATE global_tests SET n = 0, bernoulli_p = 1")
        study.connection.execute(
            "UPDATE global_tests SET observed = 4 WHERE threshold IS NOT NULL; "
            "UPDATE global_tests SET observed = 0.12345 WHERE threshold IS NULL"
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
