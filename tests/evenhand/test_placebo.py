"""Placebo edits from the build to the report: a floor of noise, and in no other figure."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from small_study import ask, rows, study_at

from evenhand.cli.analyze import command as analyze_command
from evenhand.cli.build import command as build_command
from evenhand.cli.report import command as report_command
from evenhand.simulate import Script

LABELS = ("defendant_religion", "defendant_sex", "defendant_age", "online_broadcast")
FIGURES = ("estimates", "label_metrics", "value_tests", "label_tests", "global_tests", "missing_tests")
SCRIPT = Script(seed=3, jitter=0.3)


def evenhand(command: object, *arguments: str | Path) -> str:
    done = CliRunner().invoke(command, [str(argument) for argument in arguments])  # type: ignore[arg-type]
    assert done.exit_code == 0, done.output
    return done.output


@pytest.fixture(scope="module")
def studies(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same study without and with placebos, each asked twice: the script answers alike in both."""
    found = {}
    for name, more in (("plain", ()), ("placebo", ("--placebo",))):
        folder = tmp_path_factory.mktemp(name)
        database = folder / "study.duckdb"
        said = evenhand(build_command, "--db", database, "--labels", ",".join(LABELS), *more)
        assert ("placebos" in said) == bool(more)
        with study_at(database) as study:
            ask(study, folder, "phi-4", script=SCRIPT, repeats=2)
        evenhand(analyze_command, "--db", database, "--coding", "both")
        found[name] = database
    return found


def test_placebos_are_asked_beside_the_rest(studies: dict[str, Path]) -> None:
    with study_at(studies["plain"]) as plain, study_at(studies["placebo"]) as placebo:
        ((without,),) = rows(plain, "SELECT count(*) FROM queries")
        ((whole,),) = rows(placebo, "SELECT count(*) FROM queries")
        ((extra,),) = rows(placebo, "SELECT count(*) FROM queries WHERE starts_with(label, 'placebo:')")
        ((sets,),) = rows(placebo, "SELECT count(DISTINCT (doc_id, label)) FROM queries")
        ((answered,),) = rows(placebo, "SELECT count(*) FROM predictions")
    assert whole - without == extra == sets / 2
    assert answered == 2 * whole


@pytest.mark.parametrize("table", FIGURES)
def test_no_figure_changes_by_them(studies: dict[str, Path], table: str) -> None:
    everything = f"SELECT * FROM {table} ORDER BY ALL"
    with study_at(studies["plain"]) as plain, study_at(studies["placebo"]) as placebo:
        assert rows(plain, everything) == rows(placebo, everything)
        assert rows(placebo, everything)


def test_no_metric_changes_by_them_but_the_floor(studies: dict[str, Path]) -> None:
    metrics = "SELECT * FROM model_metrics WHERE metric <> 'inconsistency_placebo' ORDER BY ALL"
    inconsistency = """
        SELECT * EXCLUDE (placebo, placebo_pairs, placebo_excess, placebo_low, placebo_high)
        FROM inconsistency_tests
        ORDER BY ALL
    """
    with study_at(studies["plain"]) as plain, study_at(studies["placebo"]) as placebo:
        for query in (metrics, inconsistency):
            assert rows(plain, query) == rows(placebo, query)


def test_the_floor_has_its_n_and_is_the_noise_that_the_script_makes(studies: dict[str, Path]) -> None:
    with study_at(studies["placebo"]) as study:
        ((share, pairs, documents, excess, low, high),) = rows(
            study,
            "SELECT share, pairs, documents, excess, low, high FROM noise_floors "
            "WHERE floor = 'placebos' AND coding = 'corrected'",
        )
        by_hand = """
            SELECT count(*), count(*) FILTER (plain.months <> placebo.months), count(DISTINCT plain.doc_id)
            FROM answers AS plain
            JOIN answers AS placebo USING (collection, doc_id, value, repeat, coding)
            WHERE placebo.label = 'placebo:' || plain.label AND coding = 'corrected'
        """
        ((of, differ, of_documents),) = rows(study, by_hand)
        labels = dict(rows(study, "SELECT label, placebo_pairs FROM inconsistency_tests"))
        (metric,) = rows(study, "SELECT value, n FROM model_metrics WHERE metric = 'inconsistency_placebo'")
    # All but those of crimes that a label excludes.
    assert 0.9 * of <= pairs <= of
    assert documents == of_documents == 30
    assert share == pytest.approx(differ / of, abs=0.05)
    assert set(labels) == set(LABELS)
    assert sum(labels.values()) == pairs
    assert metric == (share, pairs)
    # No bias is planted: two answers differ as often between values as between a reference and its placebo.
    assert low < 0 < high
    assert low < excess < high


def test_the_report_shows_the_floor_and_says_where_the_placebos_went(
    studies: dict[str, Path], tmp_path: Path
) -> None:
    evenhand(report_command, "--db", studies["placebo"], "--out", tmp_path)
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    with study_at(studies["placebo"]) as study:
        ((pairs,),) = rows(study, "SELECT pairs FROM noise_floors WHERE floor = 'placebos'")
        ((asked,),) = rows(
            study,
            "SELECT count(*) FROM predictions JOIN queries USING (query_id) WHERE label LIKE 'placebo:%'",
        )
    noise = page[page.index('data-name="noise"') :]
    (row,) = re.findall(
        r"<tr data-k='?\"?[^>]*placebos[^>]*>.*?</tr>", noise[: noise.index("</table>")], re.DOTALL
    )
    assert f">{pairs:,}<" in row
    assert f"{asked:,} outside the design: placebos" in page
    assert "placebo:" not in page.replace("placebos:", "")
    assert 'data-label="placebo' not in page
