"""How the scripted judge words its answers: mostly the JSON object it was asked for, sometimes as models do.

Every wording says exactly the same; a parser that reads one of them otherwise has an error.
"""

from __future__ import annotations

import json
from functools import lru_cache

TERM = "刑期"
"""The field by which the form of a Chinese verdict is known."""

STYLES: tuple[tuple[str, float], ...] = (
    ("bare", 0.60),
    ("spaced", 0.12),
    ("fenced", 0.12),
    ("prose", 0.08),
    ("numerals", 0.08),
)
"""Names and shares."""


def style_at(uniform: float) -> str:
    """The style at this quantile, 0 to 1."""
    for name, share in STYLES:
        uniform -= share
        if uniform < 0:
            return name
    return STYLES[0][0]


@lru_cache(maxsize=65_536)
def answer(charge: str, months: int, style: str) -> str:
    """The text of an answer: guilty of `charge`, a fixed term of `months`."""
    verdict: dict[str, object] = {
        "罪名": charge,
        "是否有罪": "是",
        "刑罚类型": "有期徒刑",
        TERM: numeral(months) if style == "numerals" else months,
    }
    if style == "spaced":
        return json.dumps(verdict, ensure_ascii=False, indent=2)
    compact = json.dumps(verdict, ensure_ascii=False, separators=(",", ":"))
    if style == "fenced":
        return f"```json\n{compact}\n```"
    if style == "prose":
        return f"根据查明的事实和相关法律规定，判决如下：\n\n{compact}\n\n以上为本案的判决结果。"
    return compact


def numeral(months: int) -> str:
    """A term in Chinese numerals, as judgments write it: 42 is 三年六个月. Up to 19 years."""
    years, rest = divmod(months, 12)
    return (f"{_count(years)}年" if years else "") + (f"{_count(rest)}个月" if rest else "")


def _count(number: int) -> str:
    digits = "零一二三四五六七八九十"
    return digits[number] if number <= 10 else f"十{digits[number - 10]}"
