"""How figures look and how they are written: palette, fonts, SVG for the page, files for papers.

matplotlib, which pyfixest brings along, writes SVG, PDF and PNG without a browser. An SVG goes into the page
as it is, prints sharply and costs kilobytes where an interactive library costs megabytes of script; what is
interactive in the report (sorting, filtering, the figures behind a mark) needs no more than the page's own
few lines.

Nothing is told by colour alone: what is significant is filled, direction is a triangle's, codings differ in
shape.
"""

from __future__ import annotations

import io
import re
import textwrap
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.transforms import Bbox, offset_copy

from store.errors import BadInput

INK, FAINT, RULE, WARN = "#1b1b1b", "#8a8a8a", "#d8d5cf", "#7a3300"
ROW_IN = 0.205
"""Height of a line of a figure, in inches."""
LEGEND_IN = 1.25
"""Room for an entry of a legend."""
SUFFIXES = ("svg", "pdf", "png")
_CJK = re.compile(
    "noto ?(sans|serif) ?cjk|source ?han|pingfang|hiragino ?sans ?gb|yahei|msyh|simsun|simhei|wenquanyi|wqy|"
    "arial ?unicode|droid ?sans ?fallback|uming|ukai",
    re.IGNORECASE,
)
"""Names of fonts, or of their files, that have Chinese."""


class TooNarrow(Exception):
    """A figure does not fit; `inches` is the width that it needs."""

    def __init__(self, inches: float) -> None:
        super().__init__(f"{inches:.1f} inches are needed")
        self.inches = inches


def svg(
    figure: Figure,
    *,
    title: str,
    salt: str,
    description: str = "",
    tips: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """The figure as an SVG element to set into a page.

    Text stays text; ids carry `salt`, so that several figures can share a page.
    `tips` maps the gid of a series of marks to what is shown when the pointer rests on each, in order.
    """
    buffer = io.StringIO()
    with _style(text_as_text=True, salt=salt):
        _set_fonts(figure)
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None}, transparent=True)
    text = _slimmed(buffer.getvalue(), salt, tips or {})
    for gid, tip in (tips or {}).items():
        text = _with_tips(text, f'id="{salt}-{gid}"', tip)
    text = _described(text, title, description)
    return text.replace("<svg ", f'<svg role="img" aria-label="{escape(title, quote=True)}" ', 1)


def _described(text: str, title: str, description: str) -> str:
    """An SVG that says what it is, to whoever does not see it."""
    said = "".join(
        f"<{tag}>{escape(words)}</{tag}>" for tag, words in (("title", title), ("desc", description)) if words
    )
    opened = text.index(">", text.index("<svg")) + 1
    return text[:opened] + said + text[opened:]


def _slimmed(text: str, salt: str, kept: Iterable[str]) -> str:
    """What matplotlib wrote without what a page has no use for: it comes to a third of the size.

    Fonts are the page's; of the ids stay those that are referred to, and `kept`.
    """
    text = text[text.index("<svg") :]
    text = re.sub(r"<(metadata|style)\b.*?</\1>", "", text, flags=re.DOTALL)
    text = re.sub(r"font(-family)?: [^;\"]*'[^;\"]*(; )?", lambda m: _size_of(m.group(0)), text)
    text = text.replace(' xmlns:xlink="http://www.w3.org/1999/xlink"', "").replace("xlink:href", "href")
    text = re.sub(
        r"\d+\.\d{3,}(?=[ \"\n])", lambda m: f"{float(m.group(0)):.2f}".rstrip("0").rstrip("."), text
    )
    # A tenth of a point is not seen. The shapes of marks, in <defs>, are small and keep more.
    text = "".join(
        part
        if part.startswith("<defs")
        else re.sub(r'(?<= [xyd]=")[^"]+|(?<=transform=")[^"]+', _tenths, part)
        for part in re.split(r"(<defs>.*?</defs>)", text, flags=re.DOTALL)
    )
    wanted = {f'id="{gid}"' for gid in kept}
    text = re.sub(
        r' id="(?![mp][0-9a-f]{6,}")[^"]*"',
        lambda m: f' id="{salt}-{m.group(0)[5:]}' if m.group(0).strip() in wanted else "",
        text,
    )
    text = re.sub(r' transform="rotate\(-0 [^"]*\)"', "", text)
    while (shorter := re.sub(r"<g>\s*</g>|<g/>|<defs>\s*</defs>", "", text)) != text:
        text = shorter
    return re.sub(r"\s*\n\s*", "\n", text)


def _tenths(numbers: re.Match[str]) -> str:
    """Coordinates with one decimal."""
    return re.sub(r"\d+\.\d{2,}", lambda m: f"{float(m.group(0)):.1f}".removesuffix(".0"), numbers.group(0))


def _size_of(font: str) -> str:
    """Of a font declaration its size alone."""
    size = re.search(r"[\d.]+px", font)
    return f"font-size: {size.group(0)}; " if size and not font.startswith("font-family") else ""


def _with_tips(text: str, opening: str, tips: Sequence[str]) -> str:
    """Titles for the marks of one group of the SVG."""
    start = text.find(opening)
    if start < 0:
        return text
    end = text.index("</g>\n</g>", start)
    waiting = iter(tips)

    def titled(match: re.Match[str]) -> str:
        tip = next(waiting, "")
        return f"<g><title>{escape(tip)}</title>{match.group(0)}</g>" if tip else match.group(0)

    return text[:start] + re.sub(r"<use [^>]*/>", titled, text[start:end]) + text[end:]


def save(
    figure: Figure,
    path: Path | str,
    *,
    notices: Sequence[str] = (),
    title: str = "",
    description: str = "",
    exact_width: bool = False,
) -> Path:
    """Write a figure as SVG, PDF or PNG (300 dpi), whichever the name ends in, with title and notices above.

    With `exact_width` the file is as wide as the figure, to fit a column; else as wide as what is drawn.

    Raises BadInput where it ends in something else or the file cannot be written.
    """
    path = Path(path)
    kind = path.suffix.lower().lstrip(".")
    if kind not in SUFFIXES:
        raise BadInput(
            f"{path}: a figure is written as {', '.join(SUFFIXES)}", hint="Name the file accordingly."
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _style(text_as_text=False, salt="figure"):
            _stamp(figure, notices, title)
            _set_fonts(figure)
            figure.savefig(
                path,
                format=kind,
                dpi=300,
                bbox_inches=_full_width(figure) if exact_width else "tight",
                metadata={"Date": None} if kind == "svg" else None,
            )
        if kind == "svg":
            text = path.read_text(encoding="utf-8")
            named = ": ".join(filter(None, (title, description)))
            path.write_text(_described(text, named, " ".join((description, *notices))), encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {error.strerror or error}") from error
    return path


def _full_width(figure: Figure) -> Bbox:
    """What is drawn, from top to bottom, at the figure's own width."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415  (for its measures alone)

    box = figure.get_tightbbox(FigureCanvasAgg(figure).get_renderer())  # type: ignore[no-untyped-call]
    return Bbox([[0, box.y0 - 0.05], [figure.get_figwidth(), box.y1 + 0.05]])


def _stamp(figure: Figure, notices: Sequence[str], title: str = "") -> None:
    """A figure that leaves the report takes along whose it is, and its notices."""
    above = 1.02
    if title:
        told = textwrap.wrap(title, max(20, int(figure.get_figwidth() * 11)))
        figure.text(
            0.02, above, "\n".join(told), ha="left", va="bottom", fontsize=9, color=INK, weight="bold"
        )
        above += (0.1 + 0.18 * len(told)) / figure.get_figheight()
    wide = max(40, int(figure.get_figwidth() * 13))
    lines = [line for notice in notices for line in textwrap.wrap(notice, wide)]
    if lines:
        figure.text(
            0.5, above, "\n".join(lines), ha="center", va="bottom", fontsize=7.5, color=WARN, weight="bold"
        )


def inches(texts: Sequence[str], size: float = 8) -> float:
    """Room for the longest of these texts beside a plot, in inches, a Chinese character counting as two."""
    units = max((sum(2 if ord(c) > 0x2E7F else 1 for c in text) for text in texts), default=0)
    return 0.3 + units * size * 0.56 / 72


def strokes(
    axes: Axes, y: Sequence[float], low: Sequence[float], high: Sequence[float], **style: Any
) -> None:
    """Horizontal lines as one path with gaps, a tenth of what as many lines would take."""
    gap = float("nan")
    axes.plot(
        [x for ends in zip(low, high, strict=True) for x in (*ends, gap)],
        [at for one in y for at in (one, one, gap)],
        solid_capstyle="butt",
        **style,
    )


def bare(axes: Axes) -> None:
    """A plot with nothing but a scale below, and names at its left."""
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(FAINT)
    axes.tick_params(axis="x", labelsize=7.5, colors=INK, length=3)
    axes.set_yticks([])


def named(english: str, chinese: str, *, in_english: bool, in_chinese: bool, joint: str = "  ") -> str:
    """A name in the languages wanted; the English one where there is no Chinese one."""
    if not in_chinese or not chinese or chinese == english:
        return english
    return f"{english}{joint}{chinese}" if in_english else chinese


def legend(figure: Figure, handles: Sequence[Any], width: float, **style: Any) -> float:
    """A legend at the foot, in as many lines as the width (in inches) needs; gives the room for those beyond
    one.
    """
    columns = max(1, min(len(handles), int((width - 0.1) / LEGEND_IN)))
    figure.legend(handles=handles, loc="lower left", ncol=columns, frameon=False, fontsize=7.5, **style)
    return legend_room(len(handles), width)


def legend_room(count: int, width: float) -> float:
    """The height, in inches, of the lines of a legend beyond the first."""
    columns = max(1, min(count, int((width - 0.1) / LEGEND_IN)))
    return 0.17 * (-(-count // columns) - 1)


def shrink(figure: Figure, factor: float) -> None:
    """Make everything smaller by a factor, letters and lines too, so that the layout stays as it is."""
    for axis in (axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)):
        sizes = [float(label.get_fontsize()) for label in axis.get_ticklabels()]
        if sizes:
            axis.set_tick_params(labelsize=sizes[0] * factor)
    for text in figure.findobj(match=Text):
        if isinstance(text, Text):
            text.set_fontsize(float(text.get_fontsize()) * factor)
    for line in figure.findobj(match=Line2D):
        if isinstance(line, Line2D):
            line.set_linewidth(line.get_linewidth() * factor)
            line.set_markersize(line.get_markersize() * factor)
    figure.set_size_inches(figure.get_figwidth() * factor, figure.get_figheight() * factor)


def name_lines(axes: Axes, names: Sequence[str], *, middle: float = 0.0) -> None:
    """Names at the left of a plot, one for each line. As texts, for ticks take ten times as long to make."""
    beside = offset_copy(axes.get_yaxis_transform(), axes.get_figure(root=True), x=-0.11, units="inches")
    for y, name in enumerate(names):
        axes.text(0, y + middle, name, transform=beside, ha="right", va="center", fontsize=8, color=INK)


def with_chinese(wanted: bool | None) -> bool:
    """Whether to draw Chinese names: as wanted, or where this machine has a font for them."""
    return cjk_font() is not None if wanted is None else wanted


@cache
def cjk_font() -> str | None:
    """A font of this machine that has Chinese, if there is one."""
    if not _cjk_names():
        # matplotlib keeps its list of fonts for good; one installed since is not on it.
        for path in sorted(font_manager.findSystemFonts()):
            if _CJK.search(Path(path).name):
                font_manager.fontManager.addfont(path)
    return next(iter(_cjk_names()), None)


def _cjk_names() -> list[str]:
    """Fonts that matplotlib knows and that have Chinese: plain and simplified ones first."""
    names = {font.name for font in font_manager.fontManager.ttflist if _CJK.search(font.name)}
    return sorted(names, key=lambda name: ("Mono" in name, "Serif" in name, not name.endswith("SC"), name))


def _set_fonts(figure: Figure) -> None:
    """Name the fonts on every text: a generic family has no fallback."""
    cjk = cjk_font()
    for text in figure.findobj(match=Text):
        text.set_family(["DejaVu Sans", *([cjk] if cjk else [])])  # type: ignore[attr-defined]


@contextmanager
def _style(*, text_as_text: bool, salt: str) -> Iterator[None]:
    with (
        mpl.rc_context(
            {
                "svg.fonttype": "none" if text_as_text else "path",
                "svg.hashsalt": salt,
                "pdf.fonttype": 42,
                "axes.unicode_minus": True,
            }
        ),
        warnings.catch_warnings(),
    ):
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield
