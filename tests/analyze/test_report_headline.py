"""What is confirmed is said first, in the words of a domain that is not law; what is missing is counted."""

from __future__ import annotations

import io
from pathlib import Path

from cellar import SPECIFICATIONS, Cellar
from rich.console import Console

import analyze
import store
from analyze.plots import plot
from analyze.report import print_summary, write_html

GIVEN = "UPDATE predictions SET text = ? WHERE query_id IN (SELECT query_id FROM queries WHERE value = ?)"


def written(study: store.Study, folder: Path) -> tuple[str, str]:
    """The terminal's summary and the text of the page, once analysed."""
    path = folder / "specifications.toml"
    text = SPECIFICATIONS.replace('sample = "points is not null"\nmissing', 'sample = "true"\nmissing')
    path.write_text(text, encoding="utf-8")
    analyze.run(study, path, codings=["careful"], audit=False, draws=999)
    out = io.StringIO()
    print_summary(study, path, Console(file=out, width=200, highlight=False))
    page = write_html(study, path, folder).read_text(encoding="utf-8")
    told = "".join(part.partition(">")[2] for part in page.split("<")).replace("&lt;", "<")
    return out.getvalue(), told.replace("&gt;", ">")


def one_score(study: store.Study, points: int = 80) -> None:
    study.connection.execute("UPDATE predictions SET text = ?", [f"I give {points} points"])


def test_a_perfectly_biased_taster_is_named_first(tmp_path: Path) -> None:
    with Cellar(wines=30).open() as study:
        one_score(study)
        study.connection.execute(GIVEN, ["I give 92 points", "塑料"])
        terminal, page = written(study, tmp_path)
    verdict = "Confirmed: the answers change with 1 of 5 labels (varied facts): Glass (p = "
    line = (
        "Glass: plastic instead of crystal: the score is higher by 12.00 points on average over the 30 wines "
        "compared (30 higher, 0 lower, 0 unchanged); all moved alike, so there is no interval; p "
    )
    for told in (terminal, page):
        assert told.index(verdict) < told.index(line) < told.index("Asked")
    assert terminal.startswith(f"Sommelier 7B: {verdict}")
    assert "1 of 5 labels asked was tested; of the others: no answer changed (4 labels)." in terminal
    assert "even-handed" not in terminal


def test_a_planted_effect_on_one_value_is_not_told_of_others(tmp_path: Path) -> None:
    with Cellar(wines=30, planted=0).open() as study:
        study.connection.execute(GIVEN, ["I give 80 points", "绿色"])
        study.connection.execute(GIVEN, ["I give 68 points", "透明"])
        terminal, _ = written(study, tmp_path)
    assert "Bottle: clear instead of green: the score is lower by 12.00 points on average" in terminal
    assert "Glass: plastic instead of crystal: the score is" not in terminal


def test_answers_missing_with_a_value_are_a_finding(tmp_path: Path) -> None:
    with Cellar(wines=30).open() as study:
        one_score(study)
        study.connection.execute(
            "UPDATE predictions SET text = 'It depends.' WHERE query_id IN "
            "(SELECT query_id FROM queries WHERE value = '烛光' AND doc_id < 'wine 25')"
        )
        terminal, page = written(study, tmp_path)
    said = "Light: candles instead of daylight: answers are missing more often, "
    assert said in terminal
    assert said in page
    assert "could not be used" not in terminal


def test_a_noise_floor_stands_beside_the_inconsistency_or_is_said_to_be_missing(tmp_path: Path) -> None:
    with Cellar(wines=12).open() as study:
        _, page = written(study, tmp_path)
        assert "no prompt was put twice" in page
        study.connection.execute(
            "INSERT INTO predictions SELECT p.* REPLACE (uuid() AS prediction_id, 1 AS repeat) "
            "FROM predictions AS p"
        )
        _, page = written(study, tmp_path)
        assert "no prompt was put twice" not in page
        assert "two answers to one and the same prompt differ in " in page


def test_a_heatmap_shows_what_moved_every_document_alike(tmp_path: Path) -> None:
    with Cellar(models=(("A", "api", 0.0), ("B", "api", 0.0)), wines=10).open() as study:
        one_score(study)
        study.connection.execute(GIVEN, ["I give 92 points", "塑料"])
        study.connection.execute(
            "UPDATE predictions SET text = 'I give 81 points' WHERE query_id IN "
            "(SELECT query_id FROM queries WHERE value = '透明' AND doc_id < 'wine 4')"
        )
        written(study, tmp_path)
        path = plot(study, tmp_path / "specifications.toml", "heatmap", tmp_path / "h.svg")
        page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "all alike, no p" in path.read_text(encoding="utf-8")
    assert "+12.00<sup>◆</sup>" in page
