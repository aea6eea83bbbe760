"""Lengths of time in running text: where they stand, how long they are, and which of them are no term.

Works on text in the form of `writing.tight`. A length needs a unit; a number alone is never one. All
patterns are bounded: no two unlimited repetitions stand side by side.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from evenhand.audit.answers.numerals import ARABIC, CHINESE, NUMBER, number

Unit = Literal["month", "year", "day"]
MONTHS: dict[Unit, float] = {"month": 1.0, "year": 12.0, "day": 1 / 30}


@dataclass(frozen=True, slots=True)
class Length:
    """A length in months, the unit it was stated in, and where it stands in the text."""

    months: float
    unit: Unit
    start: int
    end: int


_GAP = "(?: (?:full |calendar )|[ -]?)"
# Multilingual models change languages in mid-sentence, so that units come in several.
_YEAR = (
    r"个?(?:周年|年|년|years?\b|y(?:rs?\.?)?(?![a-z])|jahren?\b|jahr\b|años?\b|anos?\b|anni\b|ans?\b|лет\b|"
    r"года?\b|năm\b|tahun\b)"
)
_MONTH = (
    r"(?:个整?月|[ヶヵケカか]月|月(?!\d{1,2}[日号])|개월|months?\b|m(?:os?\.?|ons?|ths?)?(?![a-z$])|monate?n?\b|"
    r"mes(?:es|i)?\b|mois\b|месяц[а-я]{0,2}\b|tháng\b|bulan\b)"
)
_DAY = r"(?:天|日(?!本)|days?\b)"
_DAYS = rf"(?:\d{{1,3}}|{CHINESE})"

# 三年六个月, 3.5年, 一年半, "2 years and 6 months"; 两个半月, 6个月15天; 180天
_LENGTH = re.compile(
    rf"(?<![\d.第¤-])(?<!\d[,'’ ])(?:"
    rf"(?P<years>{NUMBER})(?P<and_half> and a half)?{_GAP}{_YEAR}"
    rf"(?P<rest>(?P<half>半(?!年|载|个)| and a half\b)"
    rf"| ?(?:零|又|加|外加|,|and\b)? ?(?P<more>{NUMBER}){_GAP}{_MONTH}"
    rf"(?:[零又]?(?P<and_days>{_DAYS})[天日])?)?"
    rf"|(?P<half_year>\bhalf[ -](?:an? )?year\b|\ba year(?: and a half)?\b)"
    rf"|(?P<months>{NUMBER})(?P<and_half_month> and a half)?{_GAP}(?:个(?P<half_month>半)月|{_MONTH})"
    rf"(?:[零又]?(?P<more_days>{_DAYS})[天日])?"
    rf"|(?P<days>{NUMBER}){_GAP}{_DAY}"
    rf")"
)

_UNIT = r"(?:个?月|年|天|日|months?|years?|days?)"
# 3-5年, 三年至五年, 三、四年, "3 to 5 years"
_BETWEEN = r"(?:[-~–—―〜~至到/、]|或者?|还是|抑或|\b(?:to|or|through|thru|till|until|versus|vs)\b)"
_BOUND_AFTER = re.compile(
    r" ?(?:有期)?(?:徒刑)? ?(?:以[上下内]|之?间|上下|[至到](?!庭|案)|[-~–—] ?[\d一二三四五六七八九十]|"
    r"\bto \d|"
    r"\bor (?:more|less|above|below)\b|\b(?:at )?(?:maximum|minimum)\b|左右|有?余|多|"
    rf"{_BETWEEN} ?(?:{NUMBER}))"
)
_BOUND_BEFORE = re.compile(
    r"(?:最[高长低短大多少]|至少|至多|不?(?:得|应)?[超高低少多大小][过于]|不足|未满|上限|下限|法定刑?|幅度|"
    r"范围|可[判处达]|达到?|"
    r"\bup to|\bat (?:least|most)|\bmaximum|\bminimum|\bexceed(?:s|ing)?|\b(?:more|less) than|\bbetween|"
    r"\brange)"
    r"(?:法定)?(?:(?:有期)?徒?刑期?| ?(?:prison |jail )?(?:sentence|term|penalty|imprisonment))?"
    r"(?:通常)?(?:为|是|可[达判处]|在|至|到| ?\bis\b| ?\bof\b|:|\*){0,3} ?$"
    r"|[至到~>≥<≤] ?$|[\d年月] ?[-–—] ?$"
    rf"|(?:{NUMBER}) ?{_UNIT}? ?{_BETWEEN} ?$|\b(?:under|over|within|below|above) $"
    rf"|\bbetween (?:{NUMBER}) ?{_UNIT}? ?and $"
)
# 取上限十年, 按最高刑十五年: a bound that is said to be the sentence.
_TAKEN = re.compile(
    r"(?:[取按以用依判]|选择?|判处|处以|采用|适用|达到)(?:了|其|该|法定|为|[单本该此]罪的?){0,2}"
    r"(?:最|上|下)[高长低短限]?$"
)
_IMPOSED = re.compile(r" ?(?:of imprisonment |in prison )?(?:is|was) (?:imposed|given|applied|appropriate)")
_MONEY = re.compile(
    rf"(?:人民币|罚[金款]|没收|[￥¥$]|\brmb|"
    rf"\bcny){{0,3}}[: ]?(?:{NUMBER})(?:[万亿](?:{NUMBER})?)?[万千百]?[多余]?"
    rf" ?(?:元|块钱|圆|\byuan\b|\brmb\b|\bcny\b)(?:人民币)?"
    rf"|(?:[￥¥$]|\b(?:rmb|cny)\b) ?(?:{ARABIC})(?! ?(?:个?[年月日天]|months?\b|years?\b|days?\b))"
)
# A length that belongs to the suspension, to an additional penalty or to custody already served.
_AMOUNT = rf"(?:{NUMBER}){_GAP}{_UNIT}(?:[零又]?(?:{NUMBER})个?月)?"
_NOT_THE_TERM = re.compile(
    rf"(?:缓[期刑]?(?:考验期?限?)?(?:执行)?|考验期限?|(?:剥夺)?政治权利|限制减刑|羁押"
    rf"|\b(?:suspended|probation|reprieve)(?: period)?(?: for| of)?)"
    rf"(?:为|是|期限为?|[:,])? ?{_AMOUNT}(?:执行)?"
    rf"|(?:{NUMBER}){_GAP}(?:个?月|年|months?|years?){_GAP}的?(?:缓刑|考验期|probation|suspension|reprieve)"
    rf"(?!(?:考验)?期?限?(?:为| for| of| period)?[:, ]?(?:{NUMBER}))"
)
# thirty-six (36) months: a number repeated in brackets before its unit
_REPEATED = re.compile(rf"({NUMBER}) ?\( ?({NUMBER}) ?\) ?(?={_UNIT})")
_REST_OF_A_DATE = re.compile(r"[ -]?年?(?:\d{1,2}月(?:\d{1,2}[日号])?)?")
_HAS_OTHERS = re.compile(r"缓|政治|考验|羁押|减刑|suspen|probation|repriev")


def length_at(text: str, position: int) -> Length | None:
    """The length that begins at a position of the text; None where none does."""
    match = _LENGTH.match(text, position)
    found = _read(match) if match else None
    return found if isinstance(found, Length) else None


def lengths(text: str) -> Iterator[Length]:
    """Every length with a unit, in order. Dates (2019年3月) are none."""
    position = 0
    while match := _LENGTH.search(text, position):
        found = _read(match)
        if isinstance(found, Length):
            position = found.end
            if found.unit != "day" or text[found.start - 1 : found.start] != "月":  # no date
                yield found
        else:
            position = found


def _read(match: re.Match[str]) -> Length | int:
    """The length of a match, or where to go on if it is none: a date, or no number that can be read."""
    text, start, end = match.string, match.start(), match.end()
    if match["half_year"]:
        said = match["half_year"]
        length = 6.0 if said.startswith("half") else 18.0 if said.endswith("half") else 12.0
        return Length(length, "year", start, end)
    if match["years"]:
        years, more = number(match["years"]), _months_and_days(match["more"], match["and_days"])
        if more is not None and more >= 12:  # 15年,180个月: one length, said twice
            more, end = 0.0, match.start("rest")
        if years is not None and 1900 <= years <= 2100:
            return _REST_OF_A_DATE.match(text, match.end("years")).end()  # type: ignore[union-attr]
        half = bool(match["half"] or match["and_half"])
        if years is None or more is None or ((half or more) and years % 1):
            return end
        if match["half"] and match["and_half"]:
            return end
        return Length(years * 12 + (6.0 if half else 0.0) + more, "year", start, end)
    if match["months"]:
        months = _months_and_days(match["months"], match["more_days"])
        half = bool(match["half_month"] or match["and_half_month"])
        if months is None or (half and months % 1):
            return end
        return Length(months + (0.5 if half else 0.0), "month", start, end)
    days = number(match["days"])
    return end if days is None else Length(days / 30, "day", start, end)


def _months_and_days(months: str | None, days: str | None) -> float | None:
    whole = number(months) if months else 0.0
    part = number(days) if days else 0.0
    return None if whole is None or part is None else whole + part / 30


def is_bound(text: str, length: Length) -> bool:
    """Whether a length in `text` is a limit or one end of a range: 三年以上, 最高十五年, "up to 10 years"."""
    if _BOUND_AFTER.match(text, length.end):
        return True
    before = text[max(0, length.start - 24) : length.start]
    bound = _BOUND_BEFORE.search(before)
    if bound is None or _IMPOSED.match(text, length.end):
        return False
    return not _TAKEN.search(before[: bound.start() + 2])


def without_other_lengths(text: str) -> str:
    """The text without money, suspension periods and the lengths of additional penalties."""
    if "(" in text:
        text = _REPEATED.sub(_once, text)
    if _HAS_OTHERS.search(text):
        text = _NOT_THE_TERM.sub("", text)
    return _MONEY.sub("", text)


def _once(match: re.Match[str]) -> str:
    """A number that is repeated in brackets, once; if the two differ, as it stands."""
    one, other = number(match[1]), number(match[2])
    return f"{match[1]} " if one is not None and one == other else match.group()


OTHER_UNIT = re.compile(
    r"周(?!年)|星期|礼拜|季度?|小时|世纪|旬|\bweeks?|\bwks?\b|quarter|\bhours?|\bhrs?\b|decades?|centur|fortnight|minutes?|%"
)
"""A unit that no term is stated in: a number beside it is not understood."""

_MONTH_KEY = re.compile(r"月|month|\bmos?\b")
_YEAR_KEY = re.compile(r"年(?!限)|year|\byrs?\b")
_DAY_KEY = re.compile(r"天|日(?!期)|\bdays?\b")


def unit_of(key: str) -> Unit | None:
    """The unit that a key states (刑期(月), sentence_years), None if it states none or more than one."""
    found = _units_in(key)
    return found[0] if len(found) == 1 else None


def has_several_units(key: str) -> bool:
    """Whether a key states more than one unit, so that a bare number under it may be either: 刑期(年/月)."""
    return len(_units_in(key)) > 1


def _units_in(key: str) -> list[Unit]:
    found: list[Unit] = []
    if _MONTH_KEY.search(key):
        found.append("month")
    if _YEAR_KEY.search(key):
        found.append("year")
    if _DAY_KEY.search(key):
        found.append("day")
    return found
