"""How a number is written: one rule for the terminal, the page, LaTeX and Markdown.

A number is rounded here and nowhere else, and only on its way to the reader: JSON, CSV and the spreadsheet
carry it in full, and every cell of the page carries nine digits of it beside the rounded one.
"""

from __future__ import annotations

import math

MINUS = "\N{MINUS SIGN}"
NOTHING = "\N{EN DASH}"


def is_number(value: object) -> bool:
    """Whether there is a figure to print: neither null nor NaN nor infinite."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def count(value: int | float | None) -> str:
    """A count with thousands separated: 177,100."""
    return NOTHING if value is None or not is_number(value) else f"{round(value):,}"


def decimal(value: float | None, places: int) -> str:
    """A figure with a fixed number of decimals and a real minus sign; a rounded zero carries no sign."""
    if value is None or not is_number(value):
        return NOTHING
    text = f"{value:,.{places}f}"
    if text.startswith("-"):
        text = text[1:] if not text.strip("-0.,") else MINUS + text[1:]
    return text


def signed(value: float | None, places: int) -> str:
    """As `decimal`, with a plus sign before what is above zero: for effects, where direction is the point."""
    text = decimal(value, places)
    positive = value is not None and is_number(value) and value > 0 and text.strip("0.,")
    return f"+{text}" if positive else text


def direction(value: float | None, places: int | None) -> int:
    """Its sign as -1, 0 or 1; of what is shown with so many decimals, 0 where no digit of it is seen."""
    if value is None or not is_number(value):
        return 0
    seen = value if places is None else round(value, places)
    return (seen > 0) - (seen < 0)


def significant(value: float | None, digits: int) -> str:
    """A figure of any size, to so many digits that count: a whole one whole, a tiny one as a power of ten."""
    if value is None or not is_number(value):
        return NOTHING
    if float(value).is_integer() and abs(value) < 1e9:
        return decimal(value, 0)
    if abs(value) < 1e-4:
        return tiny(value)
    return decimal(value, max(0, digits - 1 - math.floor(math.log10(abs(value)))))


def percent(share: float | None, places: int = 1) -> str:
    """A share between 0 and 1 as per cent, without the sign: 0.173 is "17.3"."""
    return decimal(None if share is None else share * 100, places)


LEVELS = (0.001, 0.01, 0.05, 0.1)
"""Levels that p values are held against."""


def p_value(p: float | None) -> str:
    """A p value with three decimals; below 0.001 it is said to be so.

    It has more decimals where three would put it on the other side of a level: 0.0498 is below 0.05, and
    0.050 is not.
    """
    if p is None or not is_number(p):
        return NOTHING
    if p < 0.001:
        return "<0.001"
    for places in range(3, 17):
        text = f"{p:.{places}f}"
        if all((float(text) < level) == (p < level) for level in LEVELS):
            return text
    return repr(p)


def expected(number: float | None) -> str:
    """A count that chance would give; never 0.0, as it is not none."""
    if number is not None and is_number(number) and 0 < number < 0.05:
        return "fewer than 0.1"
    return decimal(number, 1)


def apart(low: float, high: float, places: int) -> int:
    """The decimals that two ends need to be seen as two: `places`, or as many more, up to four."""
    for more in range(places, places + 4):
        if f"{low:.{more}f}" != f"{high:.{more}f}":
            return more
    return places


def with_sign(p: float) -> str:
    """A p with the sign before it: = 0.012, < 0.001."""
    text = p_value(p)
    return text.replace("<", "< ") if text.startswith("<") else f"= {text}"


def tiny(p: float | None) -> str:
    """A probability that may be far below 0.001, in powers of ten where it is: 4.6 × 10^-23."""
    if p is None or not is_number(p):
        return NOTHING
    if p >= 0.001 or p == 0:
        return f"{p:.3f}"
    mantissa, exponent = f"{p:.1e}".split("e")
    return f"{mantissa}×10^{int(exponent)}"


def stars(p: float | None) -> str:
    """The usual marks: *** below 0.01, ** below 0.05, * below 0.1."""
    if p is None or not is_number(p):
        return ""
    return "***" if p < 0.01 else "**" if p < 0.05 else "*" if p < 0.1 else ""


def exact(value: object) -> str:
    """A figure for machines: whole numbers in full, others to nine digits, which is beyond any use of them.

    All digits of a float are nineteen characters, and a page has some hundred thousand.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, int | float) or not is_number(value):
        return ""
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else f"{value:.9g}"


def behind(value: object, text: str) -> str:
    """The attribute with the whole figure, where the text does not say it already."""
    full = exact(value)
    return "" if full == text or (not full and text in ("", NOTHING)) else f' data-v="{full}"'
