"""Numbers as answers write them: digits, Chinese numerals, English words.

`NUMBER` is the pattern to embed in others, `number` reads what it matched. Colloquial pairs such as 三五
(three to five) or 七八 are estimates and no numbers; 一八〇 with a zero or of three and more digits is read
digit by digit.

Digits come with marks between them: 1,200 and 1 200 and 1'200 are groups, 7,5 and 7.5 decimals. Where a mark
could be either (1.200), or where the marks follow no rule (12,36), there is no number.
"""

from __future__ import annotations

import re

_DIGITS = {
    "零": 0, "〇": 0, "○": 0, "一": 1, "壹": 1, "二": 2, "两": 2, "贰": 2, "三": 3, "叁": 3, "四": 4, "肆": 4,
    "五": 5, "伍": 5, "六": 6, "陆": 6, "七": 7, "柒": 7, "八": 8, "捌": 8, "九": 9, "玖": 9,
}  # fmt: skip
_UNITS = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000}
_TENS = {"廿": 20, "卅": 30}

_ENGLISH_SMALL = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
]  # fmt: skip
_ENGLISH_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_ENGLISH = {word: i for i, word in enumerate(_ENGLISH_SMALL)}
_ENGLISH |= {word: 20 + 10 * i for i, word in enumerate(_ENGLISH_TENS)}

_CHINESE_CHARACTERS = "".join([*_DIGITS, *_UNITS, *_TENS])
# All that hangs together, whether it makes a number or not: half of it must never be read.
ARABIC = r"\d{1,15}(?:[.,'’]\d{1,15}| \d{3}(?!\d)){0,6}(?!\d)"
CHINESE = rf"[{_CHINESE_CHARACTERS}半]{{1,12}}"
# Longer words first, so that "sixteen" is not read as "six".
_WORDS = "|".join(sorted(_ENGLISH, key=len, reverse=True))
ENGLISH = (
    rf"(?<![a-z])(?:(?:{_WORDS}|an?)[- ]?hundred(?: ?and)?[- ]?)?(?:{_WORDS})(?:[- ](?:{_WORDS}))?(?![a-z])"
)
NUMBER = rf"(?:{ARABIC}|{CHINESE}|{ENGLISH})"

_ARABIC = re.compile(ARABIC)
_CHINESE = re.compile(CHINESE)


def number(text: str) -> float | None:
    """The value of a number in digits, Chinese numerals or English words; None if it is no number.

    Expects the form of `writing.plain`: half-width, simplified, lower case.
    """
    text = text.strip()
    if _ARABIC.fullmatch(text):
        return arabic(text)
    if _CHINESE.fullmatch(text):
        return chinese(text)
    return _english(text)


_DECIMAL = re.compile(r"(\d{1,15})([.,])(\d{1,15})")
_GROUPS = re.compile(r"([1-9]\d{0,2})(?:([ ,'’])\d{3}(?:\2\d{3}){0,4})(?:[.,]\d{1,2})?")
_DOTTED_GROUPS = re.compile(r"([1-9]\d{0,2})(?:\.\d{3}){2,5}(?:,\d{1,2})?|[1-9]\d{0,2}\.\d{3},\d{1,2}")
_QUARTERS = ("25", "50", "75")  # other pairs may be two terms: 36,48


def arabic(text: str) -> float | None:
    """The value of digits with their marks; None where the marks leave it open (1.200; 12,36).

    >>> arabic("1,200"), arabic("7,5"), arabic("1 095"), arabic("1.200"), arabic("36,48")
    (1200.0, 7.5, 1095.0, None, None)
    """
    if text.isdigit():
        return float(text)
    decimal = _DECIMAL.fullmatch(text)
    if decimal:
        whole, mark, part = decimal.groups()
        group = len(part) == 3 and len(whole) <= 3 and whole[0] != "0"
        if mark == "." and not group:
            return float(f"{whole}.{part}")
        if mark == "," and (len(part) == 1 or (len(part) == 2 and (part in _QUARTERS or part[0] == "0"))):
            return float(f"{whole}.{part}")
    grouped = _GROUPS.fullmatch(text)
    if grouped:
        mark = grouped[2]
        whole, _, part = text.partition(".") if "." in text or mark == "," else text.partition(",")
        if mark == "," and "." not in text and not re.fullmatch(r"[\d,]+", text):
            return None
        if mark == "," and len(text.rpartition(",")[2]) != 3 and "." not in text:
            return None
        return float(re.sub(r"\D", "", whole) + (f".{part}" if part else ""))
    if _DOTTED_GROUPS.fullmatch(text):
        whole, _, part = text.partition(",")
        return float(whole.replace(".", "") + (f".{part}" if part else ""))
    return None


def chinese(text: str) -> float | None:
    """The value of a Chinese numeral: 三十六 36, 一百八 180, 廿五 25, 壹拾伍 15, 一八〇 180, 半 0.5."""
    if text == "半":
        return 0.5
    if not text or "半" in text:
        return None
    if not any(c in _UNITS or c in _TENS for c in text):
        return _digit_by_digit(text)
    total, digit, unit_before = 0, None, 0
    for i, c in enumerate(text):
        if c in _DIGITS:
            if digit not in (None, 0):
                return None
            digit = _DIGITS[c]
        elif c in _TENS:
            if digit:
                return None
            total, digit, unit_before = total + _TENS[c], None, 10
        else:
            unit = _UNITS[c]
            if unit_before and unit >= unit_before:
                return None
            if digit is None and i and unit != 10:
                return None
            total += (1 if digit is None else digit) * unit
            digit, unit_before = None, unit
    if digit:
        # 一百八 is 180, but 一百零八 is 108.
        elliptic = unit_before >= 100 and text[-2] in _UNITS
        total += digit * (unit_before // 10 if elliptic else 1)
    return float(total)


def _digit_by_digit(text: str) -> float | None:
    if len(text) == 1:
        return float(_DIGITS[text])
    if len(text) == 2 and not set(text) & set("零〇○"):
        return None
    if "两" in text or text[0] in "零〇○":
        return None
    return float("".join(str(_DIGITS[c]) for c in text))


def _english(text: str) -> float | None:
    words = [w for w in re.split(r"[-\s]+", text) if w and w != "and"]
    if not words or len(words) > 6:
        return None
    total, seen_ten = 0, False
    for i, word in enumerate(words):
        if word == "hundred":
            if i != 1:
                return None
            total, seen_ten = max(total, 1) * 100, False
        elif word in ("a", "an") and i == 0 and len(words) > 1:
            total = 1
        elif word in _ENGLISH:
            value = _ENGLISH[word]
            if i and words[i - 1] != "hundred" and not (seen_ten and value < 10):
                return None
            total, seen_ten = total + value, value >= 20
        else:
            return None
    return float(total)
