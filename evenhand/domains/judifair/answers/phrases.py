"""What stands in a term field, word by word: accepted only where every word is understood.

A term field holds a number with its unit and words that change nothing (判处有期徒刑三年). It may also
hold more: the suspension, money, the terms of single crimes, the total. `phrase` cuts the text into such
parts. A single word that it does not know makes the whole text unreadable: 至少, "up to", "roughly",
"not" and all words yet unseen are kept from doing harm by not being in any list.

Works on text in the form of `writing.tight`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from evenhand.audit.answers.numerals import ARABIC, CHINESE, ENGLISH, NUMBER, number
from evenhand.audit.answers.writing import UNKNOWN_DIGIT
from evenhand.domains.judifair.answers.lengths import OTHER_UNIT, Length, length_at, without_other_lengths
from evenhand.domains.judifair.answers.missing import Missing

Kind = Literal["length", "number", "word", "total", "sum", "crime", "other", "plus", "equals", "or", "end"]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a phrase. `length` and `value` are set for lengths and bare numbers."""

    kind: Kind
    length: Length | None = None
    value: float | None = None


_HARMLESS = re.compile(
    r"应(?:当|该)?[为是]|(?:依法|应当?|现|故|因此|综上(?:所述)?|最终|本[院案]|对?被告人?(?:某?[甲]|张某)?|某甲|[其他她])?(?:被|予以)?"
    r"(?:判决|判处?|处以|处|量刑|科处|执行)(?:刑罚)?(?:为|是)?|[其他她](?=有期|处|无期|死刑|拘役|管制)"
    r"|宣告|(?:最终)?(?:答案|判决结果|结论|结果)|固?定期?有?期徒刑|有期徒?刑|徒刑|拘役|管制|监禁|主刑|实刑|(?:宣告|判决)?刑期|时长|刑罚|期限"
    r"|共计?|总?共|一共|计|即|也就是|亦即|就是|合|折合?|换算[为成]?|转换?为?|相当于|等同?于|为|是"
    r"|(?:并|单)处|及|和|与|并|且|的"
    r"|被告人?|某甲|本[院案]|依法"
    r"|以?月份?(?:计算?|为单位)|按月(?:计算?)?|单位|个?月份?"
    r"|\b(?:(?:fixed|definite)[- ]?term|imprisonment|imprisoned|incarcerat(?:ion|ed)|custodial|"
    r"prison|jail(?:ed)?|(?:criminal )?detention|"
    r"sentenced to|"
    r"sentence[ds]?(?: (?:(?:the|this) )?(?:defendant|accused|offender))?(?: (?:him|her|某.|"
    r"mr\.? [a-z]{1,12}|[a-z]))? to|"
    r"sentence[ds]?|receives?|serves?|penalty|punishment|with|custody|term|a term of|of|for|in (?:prison|"
    r"jail|custody|total)|is|"
    r"the|a|and|that is|namely|equivalent to|equals|months|he|she|defendant|him|her|behind bars)\b"
    r"|\bi\.?e\.?(?=[ ,])|整(?!数)|驱逐出境"
    r"|[,，、;；。:\"'“”‘’「」『』`*$(){}\[\]\s=\\]|\.(?!\d)|\b(?:boxed|text|mathrm|quad)\b"
)
_TOTAL = re.compile(
    r"数罪并罚后?[,，]?(?:决定|合并|实际|最终)?执行(?:的?刑[期罚])?|(?:决定|合并|实际|最终|应)执行(?:的?刑[期罚])?|"
    r"执行刑期|并罚后|合并(?:刑期|后|处罚)|数罪并罚|最终(?:刑期|判决)|最终|[总合]计|总刑期|"
    r"\b(?:combined|concurrent|total|final)(?: (?:sentence|term))?\b|\baltogether\b"
)
_SUM = re.compile(r"总和(?:刑期)?")
# What has a length or an amount of its own.
_OTHER = re.compile(
    r"罚[金款]|没收(?:个人)?(?:全部|部分)?(?:个人)?财产|附加刑?|剥夺(?:政治权利)?|\bfine[sd]?\b|赔偿|退赔"
)
_CRIME = re.compile(r"(?:犯有?|因|对于?|构成)?[\u4e00-\u9fff]{1,14}?罪")
# What a crime's name never holds: words that would change the number behind it.
_NO_CRIME = re.compile(r"[不非未至到或约近超逾多少余几]|以[上下]|可能|一般|最[高低]|建议")
_MARK = re.compile(r"(?P<plus>\+|加(?=\d|[一二三四五六七八九十两]))|(?P<equals>[=＝])|(?P<or>/|或者?|\bor\b)")
_NUMBER = re.compile(rf"(?:{ARABIC}|{CHINESE}|{ENGLISH})")
_UNIT_IN_BRACKETS = re.compile(r"[(\[] ?(?:单位:?)? ?(个?月|年|天|日|months?|years?|days?) ?[)\]]")
_APPROXIMATES = re.compile(r"([年月天日s]) ?≈")  # 3年≈36个月: an equation; ≈36 alone is an estimate
# 10年以上15年以下,本案判处12年; 12年(法定刑为10年以上15年以下): what the statute allows beside the sentence
_RANGE = rf"(?:{NUMBER})个?[年月]以[上下](?:[,，]? ?(?:{NUMBER})个?[年月]以[上下])?(?:有期徒刑)?"
_STATUTE_BEFORE = re.compile(rf"(?:法定刑(?:为|是)?)?{_RANGE}[,，;；。](?=本[院案]判处?)")
_STATUTE_BEHIND = re.compile(rf"\((?:法定刑|量刑幅度|刑法规定)(?:为|是)?:?{_RANGE}\)")

# 刑期从判决执行之日起计算, 羁押一日折抵刑期一日, 即自2020年1月1日起至2022年12月31日止: how the term runs, and
# when, is said in the same words in every judgment.
_ONE_OR_TWO_DIGITS = r"[\d一二三四五六七八九十]{1,3}"
_DATE = rf"(?:\d{{4}}|[一二〇○零两三四五六七八九]{{4}})年{_ONE_OR_TWO_DIGITS}月{_ONE_OR_TWO_DIGITS}日"
_HOW_IT_RUNS = re.compile(
    r"[,，。;；(]? ?(?:(?:本|该)?刑期)?(?:均|应)?[从自](?:本)?判决(?:书)?(?:执行|确定|"
    r"生效)?之日起(?:开始)?(?:计算|执行)"
    r"|[,，。;；(]? ?判决(?:执行)?(?:以|之)前(?:先行)?羁押的?,?羁押[一1]日折抵(?:刑期)?[一1]日"
    rf"|[,，。;；(]? ?即?(?:刑期)?自{_DATE}起?至{_DATE}止?"
)
# 三年和, "3 years and": more was to come
_ENDS_OPEN = re.compile(r"(?:[和及与并且即或为]|\b(?:and|with|of|for|plus|or|is|to|an?|i\.?e\.?))[\s,:]*$")

# 几年, 数月, "several years": a length without a number
_SOME = re.compile(
    r"[几数若多][干个]?[年月]|\b(?:several|few|couple|dozen|some|many|number)\b.{0,12}\b(?:years|months)"
)
_SIGN_OF_A_RANGE = re.compile(
    r"[-~–—―〜～−至到或、/<>≤≥±+%]|以[上下内外]|左右|上下|不|超|逾|少|多|余|约|近|大概|几|[数若]|之?间|内|[起最]|"
    r"\b(?:to|or|and|between|from|through|thru|till|until|versus|vs|up|at|least|most|over|under|above|below|within|"
    r"less|more|than|max|min|maximum|minimum|about|around|approx|approximately|nearly|almost|roughly|circa|ca|"
    r"some|not|no|either|plus|minus|upward|upwards|exceed|exceeding|range)\b"
)


def phrase(text: str) -> list[Part] | Missing | None:
    """The parts of a text: None where it holds no number at all, else why it is not understood."""
    text = _STATUTE_BEHIND.sub("", _STATUTE_BEFORE.sub("", _UNIT_IN_BRACKETS.sub(r"\1", text)))
    if "日" in text:
        text = _HOW_IT_RUNS.sub("", text)
    open_end = _ENDS_OPEN.search(text) is not None
    text = without_other_lengths(_APPROXIMATES.sub(r"\1=", text) if "≈" in text else text)
    if open_end and _NUMBER.search(text):
        return Missing.UNCLEAR_WORDS
    parts: list[Part] = []
    position, unknown = 0, False
    while position < len(text):
        part, end = _part(text, position)
        if part is None:
            unknown = True
            break
        parts.append(part)
        position = end
    if not unknown:
        if _of_another(parts):
            return Missing.UNCLEAR_WORDS
        return parts if any(p.kind in ("length", "number") for p in parts) else None
    if not _NUMBER.search(text) and UNKNOWN_DIGIT not in text:
        return Missing.UNCLEAR_WORDS if _SOME.search(text) else None
    if _has_open_number(text):
        return Missing.UNCLEAR_NUMBER
    if OTHER_UNIT.search(text):
        return Missing.UNCLEAR_UNIT
    return Missing.RANGE if _SIGN_OF_A_RANGE.search(text) else Missing.UNCLEAR_WORDS


def is_harmless(text: str) -> bool:
    """Whether a text without numbers is understood to its last word: 判处被告人某甲有期徒刑."""
    position = 0
    while position < len(text):
        part, position = _part(text, position)
        if part is None or part.kind in ("length", "number", "plus", "equals", "or"):
            return False
    return True


def _part(text: str, position: int) -> tuple[Part | None, int]:
    length = length_at(text, position)
    if length is not None:
        return Part("length", length), length.end
    digits = _NUMBER.match(text, position)
    if digits:
        value = number(digits.group())
        return (None, position) if value is None else (Part("number", value=value), digits.end())
    patterns: tuple[tuple[Kind, re.Pattern[str]], ...] = (
        ("sum", _SUM), ("total", _TOTAL), ("other", _OTHER), ("word", _HARMLESS),
    )  # fmt: skip
    mark = _MARK.match(text, position)
    if mark:
        kind: Kind = "plus" if mark["plus"] else "equals" if mark["equals"] else "or"
        return Part(kind), mark.end()
    for kind, pattern in patterns:
        match = pattern.match(text, position)
        if match and match.end() > position:
            return Part("end" if match.group() in ",;。" else kind), match.end()
    crime = _CRIME.match(text, position)
    if crime and not _NO_CRIME.search(crime.group()):
        return Part("crime"), crime.end()
    return None, position


def _of_another(parts: list[Part]) -> bool:
    """Whether a number belongs to a fine or the like: one stands before it in the same clause."""
    other = False
    for part in parts:
        if part.kind in ("other", "end"):
            other = part.kind == "other"
        elif other and part.kind in ("length", "number"):
            return True
    return False


def _has_open_number(text: str) -> bool:
    """Whether digits stand in the text that make no number, or two, or one with a sign."""
    return UNKNOWN_DIGIT in text or any(number(m.group()) is None for m in re.finditer(ARABIC, text))
