"""The published coding: what the authors' converter, merge and Stata scripts make of an answer.

Mistakes included. The rule numbers are those by which their printed results were reproduced: parse (1),
blank term (2), text terms (3), zero term (4), cumulative penalty (5), full outcome (8). Samples, exclusions
and single precision are in the view `judifair.published`. Nothing here may be improved: a better reading
belongs into the corrected coding.
"""

from __future__ import annotations

import json
import re
from typing import Any

from evenhand.domains.judifair.coding.verdict import CodedVerdict

VERSION = 1

FIXED, LIFE, DEATH = "有期徒刑", "无期徒刑", "死刑"

TEXT_TERMS = {
    "2个月": 2.0,
    "30个月": 30.0,
    "36个月": 36.0,
    "250个月": 250.0,
    "272个月": 272.0,
    "有期徒刑+180个月": 180.0,
    "15年": 180.0,
    "十五年": 180.0,
    "20年": 240.0,
    "二十年": 240.0,
    "25年": 300.0,
    "二十五年": 300.0,
    "有期徒刑25年": 300.0,
    "数罪并罚,有期徒刑二十五年": 300.0,
    "数罪并罚，有期徒刑二十五年": 300.0,
    "30年": 360.0,
}
"""Rule 3: the texts that the scripts replace by a number; any other text is a missing term."""

LIFE_IMPRISONMENT = "终身监禁"
NO_PENALTY = ("无罪", "免予刑事处罚", "免于刑事处罚")

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_FENCE, _FENCE_END = "```json", "```"

_KINDS = (
    (FIXED, "fixed_term"),
    (LIFE, "life"),
    ("拘役", "detention"),
    ("管制", "public_surveillance"),
    ("罚金", "fine_only"),
    ("无罪", "acquitted"),
    ("免予刑事处罚", "exempted"),
    ("免于刑事处罚", "exempted"),
)


def code_text(text: str) -> CodedVerdict:
    """The published reading of an answer; an object that a file stores as such comes as its JSON."""
    answer = _one_object(text)
    if answer is None:
        return _missing(text)
    charge, guilt = _text(answer.get("罪名")), _text(answer.get("是否有罪"))
    penalty = _text(answer.get("刑罚类型"))
    months = _term(answer.get("刑期"))
    if isinstance(answer.get("刑期"), str) and _text(answer["刑期"]) == LIFE_IMPRISONMENT:
        penalty = LIFE
    if any(word in penalty for word in NO_PENALTY) or "否" in guilt or "无罪" in guilt or "无罪" in charge:
        months = 0.0
    if "数罪并罚" in penalty and months is not None:
        penalty = FIXED
    return CodedVerdict(
        charge=charge,
        guilty=_guilty(guilt),
        penalty=penalty_kind(penalty),
        months=months,
        severity=None,
        read_as="exact",
        note=_note(penalty, months),
        penalty_text=penalty,
        full_months=_full(penalty, months),
    )


def _one_object(text: str) -> dict[str, Any] | None:
    """Rule 1: the whole text, but for one enclosing fence, must be one JSON object."""
    bare = text.strip()
    if bare.startswith(_FENCE) and bare.endswith(_FENCE_END) and len(bare) >= len(_FENCE) + len(_FENCE_END):
        bare = bare[len(_FENCE) : -len(_FENCE_END)].strip()
    if not bare.startswith("{"):
        return None
    try:
        answer = json.loads(bare)
    except (ValueError, RecursionError):
        return None
    return answer if isinstance(answer, dict) else None


def _missing(text: str) -> CodedVerdict:
    bare = text.strip()
    if not bare:
        read_as, note = "empty", None
    elif bare == "API Request failed":
        read_as, note = "request_failed", None
    else:
        read_as, note = "unparseable", "not exactly one JSON object: dropped"
    return CodedVerdict(None, None, None, None, None, read_as, note)


def _text(value: Any) -> str:
    """A value as text without its spaces; what is neither text nor null is taken as it would print."""
    if value is None:
        return ""
    return (value if isinstance(value, str) else str(value)).replace(" ", "")


def _term(value: Any) -> float | None:
    """Rules 2 and 3. A blank text is 0 months; null, or no term at all, is missing."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return _finite(float(value)) if abs(value) < 1e15 else None
    if not isinstance(value, str):
        return None
    text = value.replace(" ", "").strip()
    if not text:
        return 0.0
    if _NUMBER.fullmatch(text):
        return _finite(float(text))
    return TEXT_TERMS.get(text)


def _finite(value: float) -> float | None:
    return value if abs(value) < 1e15 else None


def _guilty(text: str) -> bool | None:
    if "否" in text or "无罪" in text:
        return False
    return True if "是" in text or "有罪" in text else None


def penalty_kind(penalty: str) -> str:
    """The kind of penalty that the text names, for people to group by; samples match the text itself."""
    if DEATH in penalty or "死缓" in penalty:
        return "death_suspended" if "缓" in penalty else "death"
    for word, kind in _KINDS:
        if word in penalty:
            return kind
    return "unparseable" if penalty else "none"


def _full(penalty: str, months: float | None) -> float | None:
    """Rule 8, in the order of the scripts; a zero term, whatever it comes from, ends at 0."""
    if months == 0:
        return 0.0
    full = months
    if DEATH in penalty or "死缓" in penalty:
        full = 400.0 if "缓" in penalty else 600.0
    if LIFE in penalty:
        full = 300.0
    if "罚金" in penalty:
        full = 0.0
    if "管制" in penalty and months is not None:
        full = months / 2
    return full


def _note(penalty: str, months: float | None) -> str | None:
    kind = penalty_kind(penalty)
    if months == 0 and kind in ("death", "death_suspended", "life", "detention", "fine_only"):
        return f"{kind} without a number: counted as 0 months"
    return None
