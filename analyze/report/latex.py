"""The report's tables as LaTeX: booktabs rules, set so that they fit the page of a plain article.

A table is set as large as it fits, upright, else on its side, else in parts that repeat its first columns.
What it needs stands at its head. `document` makes one file that sets them all.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace

from analyze.report import numbers, sheets
from analyze.report.sheets import Column, Sheet

PACKAGES = ("array", "booktabs", "longtable", "pdflscape")
CHINESE_PACKAGE = r"\usepackage[scheme=plain]{ctex}"
UPRIGHT, ON_ITS_SIDE = 345.0, 550.0
"""Points across the text of an article in its own margins, and across the same turned by a quarter."""
_SIZES = {10: r"\normalsize", 9: r"\small", 8: r"\footnotesize", 7: r"\scriptsize"}
_EM = {10: 10.0, 9: 9.26, 8: 8.5, 7: 7.97}
"""Points of the em that widths are counted in: small sizes are cut wider."""
_GAP = 3.0
"""Points to both sides of a column."""
_AT_EASE, _MOST_TEXT = 9.0, 22.0
"""Ems in which a name can be read without breaking at every word, and ems beyond which none goes."""
_LEAST_NOTE, _NOTE_AT_EASE, _MOST_NOTE = 11.0, 18.0, 60.0
"""The same of a note, and ems below which none may be squeezed."""
_KEYS = 2
"""Columns of text that the parts of a table repeat, at most."""

_NARROW, _WIDE, _CAPITALS = set("fijlrtI.,;:!'()[]|/ -"), set("mwMW%@+=<>"), set("ABCDEFGHJKLNOPQRSTUVXYZ")
_ESCAPED = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%",
    "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
    numbers.MINUS: "$-$", numbers.NOTHING: "--", "—": "---", "…": r"\ldots{}",
    "×": r"$\times$", "·": r"$\cdot$", "≥": r"$\ge$", "≤": r"$\le$", "→": r"$\to$",
    "\u2018": "`", "\u2019": "'", "\u201c": "``", "\u201d": "''",
}  # fmt: skip
_SPARED = frozenset(
    {"temperature", "collection", "kind", "queries", "label", "mape_n", "mae_n", "clusters", "model_key"}
)
_SAID = {
    "model": "Model",
    "settings": "settings",
    "coding": "coding",
    "collection": "collection",
    "arm": "arm",
    "temperature": "temperature",
}


def to_latex(sheet: Sheet, notices: Sequence[str] = ()) -> str:
    """A longtable with booktabs rules, in English, for `\\input`."""
    sheet, said = _said_once(_wanted(sheet))
    parts = _parts(sheet)
    body = []
    for number, (part, layout) in enumerate(parts, 1):
        caption = [
            sheet.caption.rstrip(".") + (f" ({number} of {len(parts)})" if len(parts) > 1 else "") + "."
        ]
        label = sheet.name if number == 1 else f"{sheet.name}:{number}"
        text = " ".join([*caption, *([f"{said}."] if said else []), *notices])
        body += [_table(part, layout, text, label)]
    whole = "\n".join(body)
    return "\n".join([*_head(whole), whole, ""])


def document(names: Sequence[str], texts: Sequence[str], title: str) -> str:
    """A document that sets the tables of these files, whose texts are given too."""
    chinese = any(_is_chinese(character) for text in texts for character in text)
    engines = "xelatex or lualatex" if chinese else "pdflatex, xelatex or lualatex"
    return "\n".join(
        [
            f"% To be set by {engines}, three times: the widths of a long table are found on the way.",
            r"\documentclass[a4paper]{article}",
            rf"\usepackage{{{','.join(PACKAGES)}}}",
            *([CHINESE_PACKAGE] if chinese else []),
            r"\begin{document}",
            rf"\section*{{{escaped(title)}}}",
            *(rf"\input{{{name}}}\clearpage" for name in names),
            r"\end{document}",
            "",
        ]
    )


def escaped(text: str) -> str:
    """A text in which nothing is LaTeX. What no font has is left to the engine."""
    mantissa, power, exponent = text.partition("×10^")
    if power and exponent.lstrip("-").isdigit():
        return f"${mantissa}\\times 10^{{{exponent}}}$"
    shown = "".join(c if c.isprintable() else " " for c in unicodedata.normalize("NFC", text))
    return "".join(_ESCAPED.get(character, character) for character in shown)


def _head(text: str) -> list[str]:
    """What the text needs, as comments."""
    lines = [
        f"% Needs \\usepackage{{{','.join(PACKAGES)}}}; made for the width of \\documentclass{{article}}.",
    ]
    if any(_is_chinese(character) for character in text):
        lines.append(f"% Holds Chinese: needs xelatex or lualatex, and {CHINESE_PACKAGE}.")
    elif any(ord(character) > 0x24F for character in text):
        lines.append(
            "% Holds letters that pdflatex has not: needs xelatex or lualatex, and a font that has them."
        )
    else:
        lines.append("% Any engine: pdflatex, xelatex, lualatex.")
    lines.append("% The widths of a long table are found in the second and third run.")
    return lines


def _is_chinese(character: str) -> bool:
    return "\u2e80" <= character <= "\u9fff" or "\uf900" <= character <= "\uffef"


def _wanted(sheet: Sheet) -> Sheet:
    """Without what is in Chinese, spare, empty, or said in English beside it."""
    keys = {column.key for column in sheet.columns}
    kept = sheet.without(
        lambda c: (
            c.chinese
            or (c.rank == sheets.SPARE and c.key in _SPARED)
            or f"{c.key}_en" in keys
            or not any(row[sheet.columns.index(c)] not in (None, "") for row in sheet.rows)
        )
    )
    named = tuple(replace(c, heading=c.heading.removesuffix(", English")) for c in kept.columns)
    return replace(kept, columns=named)


def _said_once(sheet: Sheet) -> tuple[Sheet, str]:
    """The sheet without the keys that are the same in every row, and these in words."""
    same = {
        column.key: str(sheet.rows[0][i])
        for i, column in enumerate(sheet.columns)
        if column.key in _SAID and sheet.rows and len({row[i] for row in sheet.rows}) == 1
    }
    if len(same) == len(sheet.columns):
        return sheet, ""
    words = ", ".join(f"{_SAID[key]} {value}" for key, value in same.items())
    return sheet.without(lambda c: c.key in same), words[:1].upper() + words[1:]


@dataclass(frozen=True, slots=True)
class _Layout:
    """How a table is set: its size, whether on its side, the ems of each column (None: what it takes)."""

    size: int
    turned: bool
    widths: tuple[float | None, ...]


def _parts(sheet: Sheet) -> list[tuple[Sheet, _Layout]]:
    """The sheet, or sheets of some of its columns each, that fit."""
    layout = _layout(sheet)
    if layout is not None:
        return [(sheet, layout)]
    texts = [i for i, column in enumerate(sheet.columns) if column.is_text and column.key != "note"]
    keys = texts[:_KEYS]
    rest = [i for i in range(len(sheet.columns)) if i not in keys]
    found: list[tuple[Sheet, _Layout]] = []
    while rest:
        for count in range(len(rest), 0, -1):
            part = _of_columns(sheet, [*keys, *rest[:count]])
            layout = _layout(part) or (_least(part) if count == 1 else None)
            if layout is not None:
                found.append((part, layout))
                rest = rest[count:]
                break
    return found


def _of_columns(sheet: Sheet, at: Sequence[int]) -> Sheet:
    kept = {sheet.columns[i].key for i in at}
    return sheet.without(lambda c: c.key not in kept)


def _layout(sheet: Sheet) -> _Layout | None:
    """The largest setting that fits: texts at their ease rather than upright; None where none does."""
    cells = _cells(sheet)
    natural = [_natural(column, of) for column, of in zip(sheet.columns, cells, strict=True)]
    least = [_least_of(column, of) for column, of in zip(sheet.columns, cells, strict=True)]
    ease = [_NOTE_AT_EASE if column.kind == "note" else _AT_EASE for column in sheet.columns]
    at_ease = [max(a, min(b, e)) for a, b, e in zip(least, natural, ease, strict=True)]
    for across, sizes, wanted in (
        (UPRIGHT, (10, 9, 8), at_ease),
        (ON_ITS_SIDE, (9, 8, 7), at_ease),
        (ON_ITS_SIDE, (8, 7), least),
    ):
        for size in sizes:
            room = (across - 2 * _GAP * len(sheet.columns)) / _EM[size]
            if sum(wanted) <= room:
                given = _given(natural, wanted, room)
                return _Layout(size, across == ON_ITS_SIDE, _broken(sheet, cells, given))
    return None


def _least(sheet: Sheet) -> _Layout:
    """The smallest setting, where nothing fits."""
    cells = _cells(sheet)
    least = [_least_of(column, of) for column, of in zip(sheet.columns, cells, strict=True)]
    return _Layout(7, True, _broken(sheet, cells, least))


def _cells(sheet: Sheet) -> list[list[str]]:
    """What is shown, by column."""
    texts = sheet.shown()
    return [[row[i] for row in texts] for i in range(len(sheet.columns))]


def _given(natural: Sequence[float], wanted: Sequence[float], room: float) -> list[float]:
    """The room that is left is shared among the texts that could use it, in proportion."""
    need = sum(n - w for n, w in zip(natural, wanted, strict=True))
    share = min(1.0, (room - sum(wanted)) / need) if need > 0 else 0.0
    return [w + share * (n - w) for n, w in zip(natural, wanted, strict=True)]


def _broken(
    sheet: Sheet, cells: Sequence[Sequence[str]], widths: Sequence[float]
) -> tuple[float | None, ...]:
    """The widths of the columns in which something has to be broken."""
    return tuple(
        width if column.is_text and any(_ems(cell) > width for cell in of) else None
        for column, of, width in zip(sheet.columns, cells, widths, strict=True)
    )


def _natural(column: Column, cells: Sequence[str]) -> float:
    """Ems that a column takes if nothing in it is broken, but for headings and very long texts."""
    widest = max((_ems(cell) for cell in cells), default=0.0)
    words = max((_ems(word) for word in column.heading.split()), default=0.0)
    most = (_MOST_NOTE if column.kind == "note" else _MOST_TEXT) if column.is_text else widest
    return max(min(widest, most), words)


def _least_of(column: Column, cells: Sequence[str]) -> float:
    """The same with texts broken at every blank, but for notes, which are more than a word."""
    if not column.is_text:
        return _natural(column, cells)
    words = [word for cell in [*cells, column.heading] for word in cell.split()]
    widest = max((_ems(word) for word in words), default=1.0)
    return max(widest, min(_LEAST_NOTE, _natural(column, cells))) if column.kind == "note" else widest


def _ems(text: str) -> float:
    """About how wide a text is set, in ems, rather too wide than too narrow."""
    return sum(
        1.0 if ord(c) > 0x2E7F
        else 0.36 if c in _NARROW
        else 0.82 if c in _WIDE
        else 0.74 if c in _CAPITALS
        else 0.53
        for c in text
    )  # fmt: skip


def _table(sheet: Sheet, layout: _Layout, caption: str, label: str) -> str:
    texts = sheet.shown()
    form = "".join(
        ("l" if column.is_text else "r")
        if width is None
        else rf">{{\raggedright\arraybackslash}}p{{{width * _EM[layout.size]:.0f}pt}}"
        for column, width in zip(sheet.columns, layout.widths, strict=True)
    )
    head = " & ".join(
        _heading(column, width, cells)
        for column, width, cells in zip(sheet.columns, layout.widths, _cells(sheet), strict=True)
    )
    opening, closing = [r"\begingroup"], [r"\endgroup"]
    if layout.turned:
        opening, closing = [r"\begin{landscape}", *opening], [*closing, r"\end{landscape}"]
    lines = [
        *opening,
        rf"{_SIZES[layout.size]}\setlength{{\tabcolsep}}{{{_GAP:g}pt}}\setlength{{\LTcapwidth}}{{\linewidth}}",
        rf"\begin{{longtable}}{{@{{}}{form}@{{}}}}",
        rf"\caption{{{escaped(caption)}}}\label{{tab:{label}}}\\",
        r"\toprule", rf"{head} \\", r"\midrule", r"\endfirsthead",
        r"\toprule", rf"{head} \\", r"\midrule", r"\endhead",
        r"\bottomrule", r"\endlastfoot",
        *(" & ".join(escaped(text) for text in row) + r" \\" for row in texts),
        r"\end{longtable}",
        *closing,
    ]  # fmt: skip
    return "\n".join(lines)


def _heading(column: Column, width: float | None, cells: Sequence[str]) -> str:
    """A heading, its words stacked so that it is no wider than its column."""
    words = column.heading.split()
    most = max([*(_ems(word) for word in words), *(_ems(cell) for cell in cells)], default=0.0)
    if width is not None:
        return escaped(column.heading)
    lines: list[str] = []
    for word in words:
        if lines and _ems(f"{lines[-1]} {word}") <= most:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    if len(lines) < 2:
        return escaped(column.heading)
    stacked = r"\\".join(escaped(line) for line in lines)
    return rf"\shortstack[{'l' if column.is_text else 'r'}]{{{stacked}}}"
