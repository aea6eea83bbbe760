"""Whose an object is: the answer, or a draft, an example, another case's.

Said by what stands right before the object ("an example answer would be {...}"), by the key that it stands
under ({"example": {...}}), or by what stands behind it ("the above was a draft"). A domain adds the words of
its own field to those that stand here.
"""

from __future__ import annotations

import re

from evenhand.audit.answers.writing import plain

MARGIN = " \t\r#*_>`~-—:：.,，、|()（）【】[]\"'“”"
SENTENCES = re.compile(r"[\n。！？!?；;]+")
CLAUSES = re.compile(r"[，,]+")

OTHERS_ZH = (
    r"草[稿案]|稿$|初稿|暂[定拟]|类似(?:案|判)|同类|类案|另案|他案|判例|先例|思考(?:过程)?$|思路|也许|或许|推理过程|思维链|"
    r"假[设如定]|如果|若|示[例范意]|[样范]例|例如|比如|[举反]例|^例$|^.{0,3}模[板版]$|^(?:输出|json)?格式(?:如下|为)?$|"
    r"(?:不|并)[是应非].{0,6}$|错误|有人|(?:少数|反对|不同)意见|可能|备选|方案[一二三四1-4A-D]|否决|假[数想]|虚构|随机|占位|推翻|"
    r"撤销|作废|不采纳|前[任案次]|测试"
)
OTHERS_EN = (
    r"draft|tentative|preliminary|provisional|initial|similar|precedents?|comparable|(?:an)?other case|"
    r"earlier|previous(?! (?:analysis|reasoning|convictions?|criminal))|first attempt|"
    r"(?:thought process|thinking)$|scratch|if|suppose|hypothetical(?:ly)?|had the|maybe|perhaps|possible|"
    r"possibly|might|options? [a-d1-4]|one option|alternative|examples?|samples?|^template|"
    r"^(?:output )?format|e\.g|instance|dummy|mock|random|placeholder|overturned|rejected|"
    r"(?:best|worst)[ -]case|^(?:but |and )?not|^wrong|^incorrect|mistaken"
)
"""Words in the last clause before an object that make it none of the answer; English ones stand as words."""
OTHERS_KEY = (
    r"类案|类似|同类|草稿|草案|初步|初判|初稿|[示样范]例|模[板版]|draft|initial|prelimin|example|sample|template|schema|similar|"
    r"previous|\bprior|think|thought|scratch|思考|推理"
)
"""The same in the key that an object stands under."""

_MORE_EN = (
    r"such as|(?:would|could|may) (?:be|look|read)|typical(?:ly)?|in general|for reference|schema|dummy|else"
)
_OTHERS = re.compile(rf"{OTHERS_ZH}|\b(?:{OTHERS_EN}|{_MORE_EN})\b", re.IGNORECASE)
_OTHERS_KEY = re.compile(OTHERS_KEY, re.IGNORECASE)
_STRUCK = re.compile(r"(?:~~|<(?:del|s|strike)>)[\s`]*$", re.IGNORECASE)
_ABOVE = r"(?:以上|上述|上面|前述|[此这该]|\b(?:the above|above|this|that|it)\b)"
_LONGEST_BEFORE = 400
_LONGEST_BEHIND = 4000


def is_struck(before: str) -> bool:
    """Whether an object is struck out by what stands right before it."""
    return _STRUCK.search(before) is not None


def last_clauses(before: str) -> list[str]:
    """The clauses of the last sentence before an object."""
    before = before[-_LONGEST_BEFORE:]
    sentence = next((s for s in reversed(SENTENCES.split(before)) if s.strip(MARGIN)), "")
    return [clause for clause in CLAUSES.split(sentence) if clause.strip(MARGIN)]


def is_of_others(before: str) -> bool:
    """Whether what stands right before an object calls it a draft, an example or a supposition, or another
    case's."""
    if is_struck(before[-_LONGEST_BEFORE:]):
        return True
    clauses = last_clauses(before)
    last = plain(clauses[-1]).strip(MARGIN) if clauses else ""
    return _OTHERS.search(last) is not None


def is_key_of_others(key: str) -> bool:
    """Whether a key calls what stands under it a draft, an example or another case's."""
    return _OTHERS_KEY.search(key.replace("_", " ")) is not None


def disowning(more_zh: str = "", more_en: str = "") -> re.Pattern[str]:
    """What says, behind an object, that it was a draft, another's, or is to be ignored.

    A domain adds words: `more_zh` and `more_en` are alternatives, each with a `|` behind it.
    """
    return re.compile(
        rf"{_ABOVE}(?:[^,，。;；\n]{{0,8}}?(?:[是为系]|属于)|[^,.\n]{{0,24}}?\b(?:is|was|are|were))\s?(?:仅|只|"
        rf"just |only |merely )?[是为]?\s?"
        r"(?:一?[个份]|an? |the )?(?:初步的?|preliminary |first )?"
        rf"(?:草[稿案]|初稿|{more_zh}类似案[例件]|另案|案例的|错误的|"
        rf"drafts?\b|{more_en}precedent|(?:from )?(?:an)?other case|similar case|wrong\b|incorrect\b|"
        r"invalid\b)"
        rf"|{_ABOVE}[^,，。;；\n]{{0,8}}(?:作废|无效|不作数|有误|不正确|不算数|不代表(?:本院|我))"
        r"|(?:忽略|无视|删除|不要(?:理会|采[信用]))(?:以上|上述|上面|前面|前述)"
        r"|\b(?:ignore|disregard|forget|delete) (?:(?:the|my|this|that|all) )?(?:above|previous|prior|first|"
        r"last|earlier)\b",
        re.IGNORECASE,
    )


_DISOWNS = disowning(
    r"示例|例子|", r"examples?\b|samples?\b|illustrations?\b|templates?\b|placeholders?\b|hypothetical\b|"
)


def disowns(behind: str, words: re.Pattern[str] = _DISOWNS) -> bool:
    """Whether what stands behind an object says that it was a draft, another's, or is to be ignored."""
    return words.search(behind[:_LONGEST_BEHIND]) is not None
