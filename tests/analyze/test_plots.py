"""Figures: intervals are those of the estimates, marks say what is behind them, files are what they say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import click
import pytest
from cellar import Cellar
from matplotlib import image
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from pages import parse

import store
from analyze import plots
from analyze.report import drawing, forest, html, labels
from analyze.report.data import read
from analyze.report.shapes import Results
from evenhand.cli.plot import _width, command
from store.errors import BadInput

MODELS = (("Sommelier 7B", "simulated", 0.0), ("Taster", "api", 0.0))
MAGIC = {"svg": b"<?xml", "pdf": b"%PDF-", "png": b"\x89PNG"}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[store.Study, Path]]:
    opened, specifications = Cellar(models=MODELS).analysed(tmp_path_factory.mktemp("plots"))
    with opened:
        yield opened, specifications


@pytest.fixture(scope="module")
def results(study: tuple[store.Study, Path]) -> Results:
    return read(*study)


def test_the_95_interval_is_the_databases_and_the_90_lies_within(results: Results) -> None:
    seen = 0
    for estimate in results.audits[0].main.estimates:
        if estimate.p is None:
            continue
        wide, narrow = forest.interval(estimate, 0.95), forest.interval(estimate, 0.90)
        assert wide is not None
        assert narrow is not None
        assert wide == pytest.approx((estimate.ci_low, estimate.ci_high), rel=1e-9)
        assert wide[0] < narrow[0] < estimate.coef < narrow[1] < wide[1]  # type: ignore[operator]
        seen += 1
    assert seen == 24


def test_a_line_for_each_value_largest_first(results: Results) -> None:
    rows = forest.rows(results, results.audits[0].main)
    assert len(rows) == 6
    effects = [row.level.coef for row in rows if row.level]
    assert effects == sorted(effects, reverse=True)
    assert rows[-1].name == "Glass: plastic  塑料"


def test_points_stand_where_the_effects_are(results: Results) -> None:
    figure = forest.coefficients(results, results.audits[0])
    assert figure is not None
    unit, log = figure.axes
    for axes, variant in ((unit, "level"), (log, "main")):
        drawn = sorted(
            float(x)
            for line in axes.lines
            if line.get_marker() == "o"
            for x in line.get_xdata()  # type: ignore[union-attr]
        )
        stored = sorted(
            e.coef for e in results.audits[0].main.estimates if e.variant == variant and e.coef is not None
        )
        assert drawn == pytest.approx(stored)


def test_significance_is_told_by_filling_and_not_by_colour(results: Results) -> None:
    figure = forest.coefficients(results, results.audits[0])
    assert figure is not None
    filled = {}
    for line in figure.axes[0].lines:
        if line.get_marker() == "o":
            filled[str(line.get_gid())] = line.get_markerfacecolor() != "white"
    assert filled == {"unit-yes": True, "unit-no": False}


def test_marks_say_what_is_behind_them(results: Results) -> None:
    rows = forest.rows(results, results.audits[0].main)
    figure = forest.coefficients(results, results.audits[0], beside="hasty")
    assert figure is not None
    text = drawing.svg(figure, title="T <&>", salt="x", tips=forest.tips(results, rows))
    tree = parse(text)
    own, *tips = [node.text for node in tree.find("title")]
    assert own == "T <&>"
    assert len(tips) == 12
    plastic = next(e for e in results.audits[0].main.estimates if (e.value, e.variant) == ("塑料", "level"))
    (tip,) = [t for t in tips if t.startswith("Glass: plastic 塑料") and "points" in t]
    assert f"−{abs(plastic.coef or 0):.3f} points" in tip
    assert tree.find("svg")[0]["aria-label"] == "T <&>"


def test_figures_of_one_page_share_no_ids(results: Results) -> None:
    texts = []
    for salt in ("a", "b"):
        figure = forest.coefficients(results, results.audits[0], beside="hasty")
        assert figure is not None
        texts.append(drawing.svg(figure, title="t", salt=salt))
    ids = [set(re.findall(r' id="([^"]+)"', text)) for text in texts]
    assert ids[0]
    assert not ids[0] & ids[1]
    for text, own in zip(texts, ids, strict=True):
        assert set(re.findall(r'(?:url\(#|href="#)([^)"]+)', text)) <= own, (
            "a mark refers to what was cut away"
        )


def test_an_svg_asks_for_nothing_and_keeps_its_text(results: Results) -> None:
    for figure in (
        forest.coefficients(results, results.audits[0]),
        labels.heatmap(results),
        labels.inconsistency(results, results.audits[0]),
    ):
        assert figure is not None
        text = drawing.svg(figure, title="t", salt="s")
        assert "Glass" in text
        assert not re.findall(r"https?://(?!www\.w3\.org/)", text)
        assert "<style" not in text
        assert len(text) < 60_000
        parse(text)


def test_a_heatmap_can_be_of_one_model_and_needs_a_p(tmp_path: Path) -> None:
    opened, specifications = Cellar(wines=6).analysed(tmp_path)
    with opened:
        path = plots.plot(opened, specifications, "heatmap", tmp_path / "h.svg")
        assert "Sommelier 7B" in path.read_text(encoding="utf-8")
        opened.connection.execute("UPDATE estimates SET p = NULL")
        assert labels.heatmap(read(opened, specifications)) is None
        with pytest.raises(BadInput, match="nothing to draw"):
            plots.plot(opened, specifications, "heatmap", tmp_path / "h.png")


def test_the_cell_of_a_label_is_its_value_with_the_smallest_p(results: Results) -> None:
    reading = results.audits[0].main
    cell = labels.strongest(results, reading, "glass")
    assert cell is not None
    assert cell.value == "塑料"
    level = reading.estimate("glass", "塑料", "level")
    assert level is not None
    assert cell.coef == level.coef


@pytest.mark.parametrize("kind", drawing.SUFFIXES)
@pytest.mark.parametrize("name", plots.FIGURES)
def test_files_are_what_they_say(
    study: tuple[store.Study, Path], tmp_path: Path, name: str, kind: str
) -> None:
    path = plots.plot(
        *study, name, tmp_path / "sub" / f"f.{kind}", model=None if name == "heatmap" else "Taster"
    )
    assert path.read_bytes().startswith(MAGIC[kind])
    if kind == "png":
        pixels = image.imread(path)[:, :, :3]
        assert 0.002 < (pixels.mean(axis=2) < 0.5).mean() < 0.5


def test_a_figure_of_a_simulated_model_says_so(
    study: tuple[store.Study, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stamped: list[str] = []
    real = drawing._stamp
    monkeypatch.setattr(
        drawing,
        "_stamp",
        lambda figure, *rest: (real(figure, *rest), stamped.extend(t.get_text() for t in figure.texts)),
    )
    plots.plot(*study, "coefficients", tmp_path / "f.svg", model="Sommelier 7B")
    assert any("Simulated" in text for text in stamped)


def test_one_label_alone_can_be_drawn(
    study: tuple[store.Study, Path], results: Results, tmp_path: Path
) -> None:
    assert len(forest.rows(results, results.audits[0].main, labels=["glass"])) == 2
    plots.plot(*study, "coefficients", tmp_path / "glass.pdf", model="Taster", label="glass")
    with pytest.raises(BadInput, match="no label 'gloss'"):
        plots.plot(*study, "coefficients", tmp_path / "g.pdf", model="Taster", label="gloss")


def test_several_models_must_be_told_apart(study: tuple[store.Study, Path], tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="there are several") as caught:
        plots.plot(*study, "coefficients", tmp_path / "f.png")
    assert "Taster" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("name", "file", "complaint"),
    [
        ("pie", "f.png", "no figure 'pie'"),
        ("heatmap", "f.gif", "written as svg, pdf, png"),
        ("heatmap", "f", "written as"),
    ],
)
def test_bad_input_is_named(
    study: tuple[store.Study, Path], tmp_path: Path, name: str, file: str, complaint: str
) -> None:
    with pytest.raises(BadInput, match=complaint):
        plots.plot(*study, name, tmp_path / file)


def test_one_wide_interval_does_not_flatten_the_rest(results: Results) -> None:
    reading = results.audits[0].main
    normal = [e for e in reading.estimates if e.variant == "level"]
    limit = forest._limit(normal)
    wild = replace(normal[0], se=1e6)
    assert forest._limit([*normal, wild]) <= 4 * limit


def test_many_values_are_split_by_group(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    def titles() -> list[str]:
        tree = parse(html.render(results))
        return [s["aria-label"] for s in tree.find("svg") if s["aria-label"].startswith("Effects")]

    assert len(titles()) == len(MODELS)
    monkeypatch.setattr(html, "MOST_ROWS_IN_A_FIGURE", 5)
    assert len(titles()) == len(MODELS) * 2


def test_a_figure_says_whose_it_is_to_eyes_and_to_readers(
    study: tuple[store.Study, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[str] = []
    real = drawing._stamp
    monkeypatch.setattr(
        drawing,
        "_stamp",
        lambda figure, *rest: (real(figure, *rest), written.extend(t.get_text() for t in figure.texts)),
    )
    path = plots.plot(*study, "coefficients", tmp_path / "f.svg", model="Taster", coding="hasty")
    assert "Taster, hasty coding" in written
    text = path.read_text(encoding="utf-8")
    assert "<title>Taster, hasty coding: the effect of every value" in text
    assert "<desc>the effect of every value" in text
    page = drawing.svg(labels.heatmap(read(*study)), title="a < b", description="c", salt="s")  # type: ignore[arg-type]
    assert "<title>a &lt; b</title><desc>c</desc>" in page


def test_a_configuration_goes_by_the_name_that_is_offered(tmp_path: Path) -> None:
    cellar = Cellar(
        models=(("Taster", "api", 0.0), ("Taster", "api", 0.0)), wines=8,
        settings=({"reasoning": "on"}, {"reasoning": "off"}),
    )  # fmt: skip
    opened, specifications = cellar.analysed(tmp_path)
    with opened:
        with pytest.raises(BadInput, match="there are several") as caught:
            plots.plot(opened, specifications, "coefficients", tmp_path / "f.svg", model="Taster")
        offered = str(caught.value.hint).removeprefix("Name one of: ").rstrip(".").split("; ")
        assert len(offered) == 2
        for name in offered:
            for given in (name, name.partition(" (")[0]):
                path = plots.plot(opened, specifications, "coefficients", tmp_path / "f.svg", model=given)
                assert f"<title>{name.partition(' (')[0]}, careful coding" in path.read_text(encoding="utf-8")
        with pytest.raises(BadInput, match="nothing has been analysed for the model 'Tester'") as caught:
            plots.plot(opened, specifications, "coefficients", tmp_path / "f.svg", model="Tester")
        assert "reasoning=on" in str(caught.value.hint)


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(match=Text) if isinstance(text, Text)]


def sizes(figure: Figure) -> list[float]:
    return [
        float(text.get_fontsize())
        for text in figure.findobj(match=Text)
        if isinstance(text, Text) and text.get_text()
    ]


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """The figures that are saved."""
    found: list[Figure] = []
    real = drawing.save
    monkeypatch.setattr(
        plots, "save", lambda figure, *a, **k: (found.append(figure), real(figure, *a, **k))[1]
    )
    return found


def width_in(path: Path) -> float:
    """The width of a file, in inches."""
    if path.suffix == ".png":
        return float(image.imread(path).shape[1]) / 300
    if path.suffix == ".svg":
        (points,) = re.findall(r'<svg[^>]*? width="([\d.]+)pt"', path.read_text(encoding="utf-8"))
    else:
        (points,) = re.findall(rb"/MediaBox \[ 0 0 ([\d.]+)", path.read_bytes())
    return float(points) / 72


@pytest.mark.parametrize("name", plots.FIGURES)
@pytest.mark.parametrize(("width", "suffix"), [(3.46, "pdf"), (3.46, "png"), (7.0, "svg"), (12.0, "pdf")])
def test_a_figure_is_as_wide_as_the_column(
    study: tuple[store.Study, Path], tmp_path: Path, name: str, width: float, suffix: str, drawn: list[Figure]
) -> None:
    model = None if name == "heatmap" else "Taster"
    path = plots.plot(*study, name, tmp_path / f"f.{suffix}", model=model, width_in=width, language="en")
    assert width_in(path) == pytest.approx(width, abs=0.02)
    (figure,) = drawn
    assert min(sizes(figure)) >= 7 * plots.SMALLEST - 1e-9
    renderer = FigureCanvasAgg(figure).get_renderer()
    box = figure.get_tightbbox(renderer)
    assert box.x0 > -0.02, "no name is cut off"
    assert box.x1 < width + 0.02


def test_in_a_narrow_column_the_panel_in_the_unit_stays(
    study: tuple[store.Study, Path], tmp_path: Path, drawn: list[Figure]
) -> None:
    for width, panels in ((3.2, 1), (8.0, 2)):
        plots.plot(
            *study, "coefficients", tmp_path / f"{width}.pdf", model="Taster", width_in=width, language="en"
        )
        assert len(drawn[-1].axes) == panels
        assert any(text.startswith("in ") for text in texts(drawn[-1]))


def test_what_does_not_fit_is_told_with_the_width_that_it_needs(
    study: tuple[store.Study, Path], tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match=r"does not fit into 2\.5 cm") as caught:
        plots.plot(*study, "inconsistency", tmp_path / "f.pdf", model="Taster", width_in=1.0)
    assert re.search(r"It needs \d+\.\d cm", str(caught.value.hint))
    assert not (tmp_path / "f.pdf").exists()


@pytest.mark.parametrize(
    ("language", "wanted", "unwanted"),
    [("en", "plastic", "塑料"), ("zh", "塑料", "plastic"), ("both", "塑料", None)],
)
def test_names_are_in_the_language_asked_for(
    study: tuple[store.Study, Path],
    tmp_path: Path,
    drawn: list[Figure],
    monkeypatch: pytest.MonkeyPatch,
    language: plots.Language,
    wanted: str,
    unwanted: str | None,
) -> None:
    monkeypatch.setattr(plots, "cjk_font", lambda: "a font")
    for name in plots.FIGURES:
        model = None if name == "heatmap" else "Taster"
        plots.plot(*study, name, tmp_path / "f.svg", model=model, language=language)
        shown = "\n".join(texts(drawn[-1]))
        if name == "coefficients":
            assert wanted in shown
            assert unwanted is None or unwanted not in shown
        assert any("\u4e00" <= letter <= "\u9fff" for letter in shown) is (language != "en")


def test_chinese_without_a_font_for_it_is_an_error(
    study: tuple[store.Study, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plots, "cjk_font", lambda: None)
    with pytest.raises(BadInput, match="no font with Chinese"):
        plots.plot(*study, "heatmap", tmp_path / "f.svg", language="zh")


@pytest.mark.parametrize(
    ("title", "wanted"),
    [(None, "Taster, careful coding"), ("Figure 2. Tasting notes", "Figure 2. Tasting notes"), ("", None)],
)
def test_a_title_of_ones_own(
    study: tuple[store.Study, Path],
    tmp_path: Path,
    drawn: list[Figure],
    title: str | None,
    wanted: str | None,
) -> None:
    path = plots.plot(*study, "coefficients", tmp_path / "f.svg", model="Taster", title=title)
    shown = texts(drawn[-1])
    assert ("Taster, careful coding" in shown) is (title is None)
    if wanted is not None:
        assert wanted in shown
        assert f"<title>{wanted}: the effect" in path.read_text(encoding="utf-8")


def test_a_long_title_takes_as_many_lines_as_the_column_needs(
    study: tuple[store.Study, Path], tmp_path: Path, drawn: list[Figure]
) -> None:
    long = (
        "A title that says much more than a column of a journal has room for, twice over, and then some more"
    )
    path = plots.plot(
        *study, "inconsistency", tmp_path / "f.pdf", model="Taster", width_in=3.46, title=long, language="en"
    )
    assert width_in(path) == pytest.approx(3.46, abs=0.02)
    assert any("\n" in text and text.replace("\n", " ") == long for text in texts(drawn[-1]))


@pytest.mark.parametrize(
    ("given", "inches"), [("8.8cm", 8.8 / 2.54), ("88 mm", 8.8 / 2.54), ("3.5in", 3.5), ('3.5"', 3.5)]
)
def test_a_width_is_typed_with_its_unit(given: str, inches: float) -> None:
    assert _width(click.Context(command), command, given) == pytest.approx(inches)  # type: ignore[arg-type]


@pytest.mark.parametrize("given", ["8.8", "8,8cm", "-3in", "0cm", "200in", "wide"])
def test_a_width_that_is_none_is_told(given: str) -> None:
    with pytest.raises(click.BadParameter, match=r"8\.8cm"):
        _width(click.Context(command), command, given)  # type: ignore[arg-type]
