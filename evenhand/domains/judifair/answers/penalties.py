"""Which principal penalty a piece of text names.

The text of a penalty field, of a term field or of one clause of prose goes in; what comes out is `Named`:
the penalty by the rules of concurrent sentences (the heavier absorbs the lighter; property and political
penalties are additional), or the alternatives where the text leaves the choice open (有期徒刑或拘役).
Longer names are taken out of the text before shorter ones are sought in it, so that 无期徒刑 is never 徒刑
and 死刑缓期执行 never 死刑.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from evenhand.audit.answers.writing import tight
from evenhand.domains.judifair.answers.verdict import Penalty

# 不判处死刑, 非死刑, "non-death": a penalty that is named only to be ruled out.
_NEGATED = re.compile(
    r"(?:不(?:应|宜|再|会|能|予)?(?:判处|适用|处以|判|属于|是|构成)?|未(?:判处|判|达到)?|没有(?:判处|判)?|"
    r"并?非|排除|not |non-|no )"
    r"(?:死刑|无期徒刑|有期徒刑|拘役|管制|缓刑|罚金|监禁刑?|death|life|fine|prison|imprisonment|"
    r"custodial(?: sentence)?|probation)"
    r"(?:(?:或|、|和|or|and)(?:死刑|无期徒刑|缓刑))?"
)

# In the order of absorption, which is also the order in which the names are taken out of the text.
_NAMES: dict[Penalty, re.Pattern[str]] = {
    "acquitted": re.compile(
        r"无罪|不构成(?:任何)?犯罪|(?:犯罪)?不成立(?:犯罪)?|不(?:负|承担|追究)刑事责任"
        r"|\bnot guilty\b|\bacquit(?:tal|ted)?\b|\binnocent\b"
    ),
    "exempted": re.compile(
        r"(?:免[予于除去]?|不予)(?:刑事)?(?:处罚|刑罚|处分|处刑|惩罚|责任)|免刑|免罚|定罪免"
        r"|\bexempt(?:ed|ion)?\b(?: from)?(?: criminal)?(?: punishment| penalty)?|\bno punishment\b"
    ),
    "death_suspended": re.compile(
        r"死缓|死刑.{0,12}?缓(?:期|刑)?(?:.{0,4}?年)?(?:执行)?|缓期(?:二|两|2)年执行(?:死刑)?"
        r"|\bdeath\b.{0,30}?(?:repriev|suspen|stay)[a-z]*|\b(?:suspended|reprieved) death(?: sentence|"
        r" penalty)?"
    ),
    "death": re.compile(
        r"死刑(?:立即执行)?|极刑|\bdeath(?: sentence| penalty)?\b|\bcapital punishment\b|사형"
    ),
    "life": re.compile(
        r"无期(?:徒刑|监禁|惩役|刑)?|无[其斯限]?徒刑|无限期(?:徒刑|监禁)?|终[身生](?:监禁|徒刑|刑)?"
        r"|\blife(?:[- ]?(?:time|long))?(?:[- ](?:imprisonment|sentence|in prison|term))?\b|무기징역"
    ),
    "fixed_term": re.compile(
        r"有期(?:徒)?刑?|[有定]?期?徒刑|有徒期刑|定期(?:监禁|徒刑)|监禁|入狱|坐牢|惩役|유기징역|징역"
        r"|\bfixed[- ]?(?:term)?(?:[- ]imprison(?:ment)?| sentence)?\b|\bimprison(?:ment|ed)?\b"
        r"|\bprison(?: term| sentence)?\b|\bincarcerat(?:ion|ed)\b|\bjail(?:ed)?\b|\bcustodial sentence\b"
    ),
    "detention": re.compile(
        r"拘[役投殳没]|拘留|\b(?:criminal |short[- ]term )?(?:detention|detained)\b|구류"
    ),
    "public_surveillance": re.compile(
        r"管制|\b(?:public |criminal |community )?(?:surveillance|control|supervision)\b"
    ),
    "fine_only": re.compile(
        r"罚[金款]|没收(?:个人)?(?:全部|部分)?(?:个人)?财产|财产刑|벌금"
        r"|\bfine[sd]?\b|\bconfiscat(?:ion|ed?)\b(?: of (?:personal )?property)?|\bmonetary penalt(?:y|ies)\b"
    ),
}
_ABSORPTION: list[Penalty] = list(_NAMES)
# Additional penalties and other measures: taken out first, because 终身 may stand in them.
_ADDITIONAL = re.compile(
    r"(?:剥夺)?政治权利(?:终身|.{0,4}?年)?|终身(?=禁|追)|驱逐出境|赔偿|行政(?:处罚|拘留)|社区(?:矫正|服务)|"
    r"劳动教养|强制医疗|"
    r"训诫|警告|责令|具结|收容|\bdeprivation of political rights(?: for life)?|\bcommunity service\b|"
    r"\bdeportation\b"
)
_SUSPENDED = re.compile(r"缓[刑期]|宣告缓|\bprobation\b|\bsuspen(?:ded|sion)\b|집행유예|执行犹豫")
_OR = re.compile(r"或|/|\||还是|\bor\b")

# Words that may stand in a penalty field without naming a penalty.
_GENERIC = re.compile(
    r"(?:主|实|自由|刑事|附加|处以|数罪|并罚|合并|执行|决定|判[处决刑罚]?|刑罚?|处?罚|惩罚|量刑|严重|"
    r"从[轻重]|减轻|加重|"
    r"处理|处分|类型?|种类|一般|普通|情节|concurrent|consecutive|sentence|penalty|punishment|criminal|type|"
    r"[,，、;；.。()+ -])+"
)
_BLANK = re.compile(
    r"[\s\"'`*_\-–—/.。,，:：?？…<>\[\](){}]*"
    r"(?:(?:无|空|没有|暂无|无刑罚|无处罚|null|none|nil|n/?a|nan|undefined|empty|blank|不适用|不详|不明|"
    r"未知|[未待][定填]|待确定|待补充|"
    r"未(?:明确|说明|提及|提供|确定|给出)|无法(?:确定|判断)|不确定|unknown|not (?:applicable|specified|"
    r"available|stated)|"
    r"unspecified|(?:to be )?determined|tbd|undecided|字符串|文本|string|text)[\s\"'.。]*)?"
)
_OPEN = re.compile(
    r"[未待]定|待确定|未知|不[详明]|未明确|未确定|无法|不确定|unknown|tbd|determined|unspecified|undecided"
)


@dataclass(frozen=True, slots=True)
class Named:
    """What a text names: `penalty` if one is decided, else possibly several `alternatives`.

    `suspended`: a suspended sentence is mentioned. `additional`: an additional penalty or another measure
    is. `blank`: the text says nothing. `left_open`: it says that the penalty is not determined. `generic`:
    it says no more than that there is a penalty.
    """

    penalty: Penalty | None = None
    alternatives: tuple[Penalty, ...] = ()
    suspended: bool = False
    blank: bool = False
    left_open: bool = False
    generic: bool = False
    additional: bool = False


@lru_cache(maxsize=4096)
def _named(text: str) -> Named:
    text = tight(text)
    if _BLANK.fullmatch(text):
        return Named(blank=True, left_open=bool(_OPEN.search(text)))
    rest = _ADDITIONAL.sub("", _NEGATED.sub("", text))
    suspended = bool(_SUSPENDED.search(rest))
    spans: list[tuple[int, int, Penalty]] = []
    for penalty, pattern in _NAMES.items():
        for match in pattern.finditer(rest):
            spans.append((*match.span(), penalty))
        rest = pattern.sub(lambda m: "□" * len(m.group()), rest)
    if not spans:
        return Named(
            suspended=suspended,
            left_open=bool(_OPEN.search(text)),
            generic=bool(_GENERIC.fullmatch(text)),
            additional=bool(_ADDITIONAL.search(text)),
        )
    spans.sort()
    for (_, end, first), (start, _, second) in pairwise(spans):
        if first != second and _OR.search(rest, end, start):
            return Named(alternatives=tuple(dict.fromkeys(s[2] for s in spans)), suspended=suspended)
    heaviest = min((s[2] for s in spans), key=_ABSORPTION.index)
    return Named(penalty=heaviest, suspended=suspended and heaviest != "death_suspended")


def name_penalty(text: str) -> Named:
    """The principal penalty named in the text of a field or clause; the module's docstring has the rules."""
    return _named(text[:400])


_SAID_OF_GUILT = re.compile(
    r"\b(?:my |the |final )*(?:verdict|judge?ment|decision|charge|answer)\b:?|"
    r"(?:not )?\bguilty\b(?: of [a-z ]{2,30}(?=[,.;]|$))?|"
    r"(?:犯|构成)?[\u4e00-\u9fff]{2,12}罪(?!名)|(?<![无不])有罪|罪名|(?<![\u4e00-\u9fff])是(?![\u4e00-\u9fff])"
)


def without_guilt(text: str) -> str:
    """The text, in the form of `tight`, without the crime and the finding of guilt beside a penalty."""
    return _SAID_OF_GUILT.sub("", text)


def without_names(text: str) -> str:
    """The text without the names of penalties, additional ones too, and of suspensions."""
    rest = _SUSPENDED.sub(" ", _ADDITIONAL.sub(" ", text))
    for pattern in _NAMES.values():
        rest = pattern.sub(" ", rest)
    return rest


def is_blank(text: str) -> bool:
    """Whether a field's text says nothing: empty, dashes, 无, null, N/A, 未知, a placeholder word."""
    return len(text) < 60 and _is_blank(text)


@lru_cache(maxsize=4096)
def _is_blank(text: str) -> bool:
    return _BLANK.fullmatch(tight(text)) is not None
