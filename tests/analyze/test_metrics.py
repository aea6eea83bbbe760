"""Metrics of labels and models against counts done by hand, and the published Bernoulli figures."""

from __future__ import annotations

import dataclasses
import functools
from pathlib import Path

import pytest
from tastings import SPECIFICATIONS, Table, specifications

from analyze import Analysis
from analyze.analysis import run as run_audited
from analyze.counterfactual import within
from analyze.inference.bernoulli import bernoulli_p
from store.errors import BadInput, RunFailed

run = functools.partial(run_audited, audit=False)


@pytest.mark.parametrize(
    ("significant", "threshold", "published"),
    [
        (48, 0.1, 4.591787589007338e-23),
        (39, 0.05, 1.267239506411694e-25),
        (28, 0.01, 6.782083673916846e-33),
    ],
)
def test_published_bernoulli_figures(significant: int, threshold: float, published: float) -> None:
    assert bernoulli_p(significant, 96, threshold) == pytest.approx(published, rel=1e-9)


def test_no_trial_and_no_success_prove_nothing() -> None:
    assert bernoulli_p(0, 0, 0.1) == 1.0
    assert bernoulli_p(0, 10, 0.1) == 1.0


def tasted() -> Table:
    """Glass: plastic moves every document, paper none. Music: two documents, one of them inconsistent."""
    table = Table()
    for i in range(20):
        for value, points in (("crystal", 10.0), ("plastic", 12.0 + i % 2), ("paper", 10.0)):
            table.taste("glass", value, f"w{i}", points, truth=8.0)
    for wine, loud in (("w0", 10.0), ("w1", 11.0)):
        table.taste("music", "silence", wine, 10.0, truth=None if wine == "w0" else 5.0)
        table.taste("music", "loud", wine, loud, truth=None if wine == "w0" else 5.0)
    table.taste("music", "silence", "w2", None, truth=5.0)
    return table


def model_metric(analysis: Analysis, metric: str, threshold: float | None, group: str) -> dict:
    (row,) = (
        row
        for row in analysis.model_metrics.to_pylist()
        if (row["metric"], row["threshold"], row["group"]) == (metric, threshold, group)
    )
    return row


def test_metrics_by_hand(tmp_path: Path) -> None:
    connection = tasted().database()
    analysis = run_audited(connection, specifications(tmp_path))
    glass, music = analysis.label_metrics.to_pylist()
    assert (glass["label"], glass["group"], glass["answers"]) == ("glass", "vessel", 60)
    assert (glass["inconsistent_documents"], glass["documents"], glass["inconsistency"]) == (20, 20, 1.0)
    assert glass["mae"] == pytest.approx((2 * 20 + 4 * 10 + 5 * 10 + 2 * 20) / 60)
    assert (glass["mae_n"], glass["mape_n"]) == (60, 60)
    assert (glass["values_designed"], glass["values_estimated"]) == (2, 1)
    assert (glass["biased_10"], glass["biased_05"], glass["biased_01"]) == (True, True, True)
    assert glass["note"] == "paper: no variation"
    # The third document has no answer, and counts nowhere; the first has no truth.
    assert (music["answers"], music["documents"], music["inconsistent_documents"]) == (5, 2, 1)
    assert music["mae"] == pytest.approx(5.5)
    assert music["mape"] == pytest.approx(110)
    assert (music["mae_n"], music["mape_n"]) == (2, 2)

    def value(metric: str, threshold: float | None = None, group: str = "all") -> tuple[float, int]:
        row = model_metric(analysis, metric, threshold, group)
        return row["value"], row["n"]

    assert value("labels_asked") == (2, 3)
    assert value("labels_asked", group="setting") == (1, 1)
    assert value("labels_estimated") == (2, 2)
    assert value("biased_labels", 0.05) == (1, 2)
    assert value("biased_labels", 0.05, "vessel") == (1, 1)
    assert value("biased_labels", 0.05, "setting") == (0, 1)
    # Three values asked, one of them without variation: two trials, one success. Four in the design.
    assert value("significant_values", 0.01) == (1, 2)
    assert value("bernoulli_p", 0.01) == (pytest.approx(1 - 0.99**2), 2)
    assert value("bernoulli_p_all_values", 0.01) == (pytest.approx(1 - 0.99**4), 4)
    assert value("inconsistency_weighted") == (pytest.approx(21 / 22), 22)
    assert value("inconsistency_weighted_printed") == (pytest.approx((20 * 1 + 1 * 0.5) / 21), 21)
    deviation, compared = value("deviation_from_pyfixest")
    assert compared == 2
    assert deviation < 1e-10
    assert value("mae_weighted") == (pytest.approx((170 + 11) / 62), 62)


def test_the_database_holds_what_is_returned_and_only_that(tmp_path: Path) -> None:
    connection = tasted().database()
    path = specifications(tmp_path)
    run(connection, path)
    analysis = run(connection, path)
    for name, table in analysis.tables.items():
        stored = connection.sql(f"SELECT * FROM {name}").to_arrow_table()
        key = [(c, "ascending") for c in table.column_names if c != "note"]
        expected = table.sort_by(key).to_pylist()
        assert [
            {k: row[k] for k in table.column_names} for row in stored.sort_by(key).to_pylist()
        ] == expected, name


def test_one_model_is_replaced_and_others_stay(tmp_path: Path) -> None:
    table = tasted()
    for i in range(4):
        for value, points in (("silence", 10.0), ("loud", 11.0 + i)):
            table.taste("music", value, f"w{i}", points, model="critic")
    connection = table.database()
    path = specifications(tmp_path)
    run(connection, path)

    def models() -> list[tuple]:
        return connection.execute(
            "SELECT model, count(*) FROM estimates GROUP BY model ORDER BY model"
        ).fetchall()

    both = models()
    assert [name for name, _ in both] == ["critic", "sommelier"]
    connection.execute("DELETE FROM answers WHERE model = 'sommelier'")
    assert len(run(connection, path, models=["critic"]).cells) == 1
    assert models() == both
    # Nor do they go where all is analysed: what is not there cannot be computed anew.
    run(connection, path)
    assert models() == both


def test_collections_are_never_pooled(tmp_path: Path) -> None:
    table = tasted()
    for i in range(9):
        for value, points in (("silence", 10.0), ("loud", 8.0 + i % 2)):
            table.taste("music", value, f"w{i}", points, collection="garage")
    analysis = run(table.database(), specifications(tmp_path))
    documents = {
        row["collection"]: row["documents"]
        for row in analysis.estimates.to_pylist()
        if (row["label"], row["variant"]) == ("music", "level")
    }
    assert documents == {"cellar": 2, "garage": 9}


def test_a_study_without_answers_gives_empty_tables(tmp_path: Path) -> None:
    analysis = run(Table().database(), specifications(tmp_path))
    assert analysis.cells == ()
    assert analysis.estimates.num_rows == 0


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"codings": ["fancy"]}, "no coding 'fancy'"),
        ({"models": ["nobody"]}, "Models with answers: sommelier"),
        ({"collections": ["attic"]}, "There are: cellar"),
    ],
)
def test_what_is_not_there_is_named(tmp_path: Path, asked: dict, said: str) -> None:
    with pytest.raises(BadInput) as caught:
        run(tasted().database(), specifications(tmp_path), **asked)
    assert said in str(caught.value)


def test_an_expression_that_does_not_fit_is_bad_input(tmp_path: Path) -> None:
    path = specifications(tmp_path)
    path.write_text(path.read_text().replace("ln(points + 1)", "ln(pints + 1)"))
    with pytest.raises(BadInput, match="pints"):
        run(tasted().database(), path)


def test_a_failed_writing_changes_nothing(tmp_path: Path) -> None:
    connection = tasted().database()
    path = specifications(tmp_path)
    run(connection, path)
    before = connection.execute("SELECT count(*) FROM estimates").fetchall()
    connection.execute("DROP TABLE model_metrics")
    with pytest.raises(RunFailed, match="could not be written"):
        run(connection, path)
    assert connection.execute("SELECT count(*) FROM estimates").fetchall() == before


def test_progress_is_told(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    run(tasted().database(), specifications(tmp_path), progress=lambda *args: told.append(args))
    assert [(done, total) for _, done, total in told] == [(1, 2), (2, 2)]


def test_disagreement_with_pyfixest_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fit = within.fit

    def slightly_off(*args: object) -> within.Within:
        return dataclasses.replace(fit(*args), bread=fit(*args).bread * (1 + 1e-6))

    monkeypatch.setattr(within, "fit", slightly_off)
    with pytest.raises(RunFailed, match="differ from pyfixest's by"):
        run_audited(tasted().database(), specifications(tmp_path))


def of_music(folder: Path, table: Table, change: str = "") -> dict:
    text = SPECIFICATIONS.replace(
        'inconsistency = { value = "points",', f'inconsistency = {{ {change}value = "points",'
    )
    (row,) = run(table.database(), specifications(folder, text)).label_metrics.to_pylist()
    return row


def test_what_differs_between_repeats_is_no_inconsistency(tmp_path: Path) -> None:
    table = Table()
    for repeat in range(3):
        for wine in ("w0", "w1", "w2"):
            # Each repeat has an answer of its own; only in w0's last does the music matter.
            loud = 10.0 + repeat + (wine == "w0" and repeat == 2)
            table.taste("music", "silence", wine, 10.0 + repeat, repeat=repeat)
            table.taste("music", "loud", wine, loud, repeat=repeat)
    row = of_music(tmp_path, table)
    assert row["inconsistency"] == pytest.approx(1 / 9)
    assert (row["inconsistent_documents"], row["documents"]) == (0, 3)


def test_a_document_with_one_answer_cannot_be_consistent(tmp_path: Path) -> None:
    table = Table()
    for wine, silence, loud in (
        ("w0", 10.0, 11.0),
        ("w1", 10.0, 10.0),
        ("w2", 10.0, None),
        ("w3", None, 9.0),
    ):
        table.taste("music", "silence", wine, silence)
        table.taste("music", "loud", wine, loud)
    # Answered in different repeats: nothing to compare either.
    table.taste("music", "silence", "w4", 10.0, repeat=0)
    table.taste("music", "loud", "w4", 12.0, repeat=1)
    row = of_music(tmp_path, table)
    assert (row["inconsistent_documents"], row["documents"], row["inconsistency"]) == (1, 2, 0.5)
    as_published = of_music(tmp_path, table, 'one_answer = ["plain"], ')
    assert (as_published["inconsistent_documents"], as_published["documents"]) == (1, 5)
    assert as_published["inconsistency"] == 0.2


def test_a_coding_that_does_not_exist_counts_no_single_answers(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"line \d+, metrics\.inconsistency\.one_answer: 'plane' is the"):
        of_music(tmp_path, Table(), 'one_answer = ["plane"], ')
