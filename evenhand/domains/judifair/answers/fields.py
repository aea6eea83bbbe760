"""What a key asks, and what the values of guilt and charge say.

Keys come misspelt (刑罪类型), renamed (是否罪名成立), traditional (刑罰類型), in English, with units and
brackets. They are recognised by the words inside them, the most telling first, never by a list of seen
misspellings: what speaks of a kind (类型, type) is the penalty, what speaks of a span (期, months) is the
term, what asks whether is guilt.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from evenhand.audit.answers.writing import tight
from evenhand.domains.judifair.answers.lengths import Unit, unit_of
from evenhand.domains.judifair.answers.penalties import is_blank, name_penalty

FieldName = Literal["charge", "guilty", "penalty", "term", "sentence", "crime", "total", "owner"]
"""`sentence` may hold a penalty, a term or both (刑罚, 判决, sentence); a `crime` is a charge in place of a
key, whose value is the sentence for it; `total` (数罪并罚, 决定执行) may hold the sentence for all; `owner`
names the defendant."""

ASKED = ("罪名", "是否有罪", "刑罚类型", "刑期")


@dataclass(frozen=True, slots=True)
class Key:
    """What a key asks for (None: nothing of the verdict), in which unit, and whether it claims to be the
    total.

    `other` tells a key that is known to hold something else (罚金, 理由) from one that is not understood.
    `unclear`: it speaks of a span in words that are not all understood (剩余刑期, average_term), so that the
    length may be another than the term.
    """

    field: FieldName | None
    unit: Unit | None = None
    total: bool = False
    other: bool = False
    unclear: bool = False


# All that the key of a term may be made of, also misspelt: 判处刑期（月）, "sentence length in months"
_OF_A_TERM = re.compile(
    r"判[处决]?|量刑|宣告|执行|决定|合并|数罪并罚|总和?|最终|实际|应|主|自由|数字|整数|刑[罚期型其斯朝度]?|[型徒判罚处]期|有期?徒?刑?|徒刑|拘役|"
    r"管制|监禁|入狱|坐牢|期[间限长]?|时[长间期]|长度|年限|[年月日天]|个|[数份值量]|单位|以|为|按|计算?|的|具体|本案|"
    r"被告人?|某甲|结果|建议|"
    r"(?<![a-z])(?:terms?|sentence[ds]?|sentencing|prison|imprisonment|imprisoned|incarceration|custod(?:y|ial)|jail|detention|"
    r"fixed|definite|lengths?|duration|period|time|in|of|for|the|to|be|is|(?:to )?serve|months?|mos?|"
    r"years?|yrs?|days?|"
    r"number|num|no|total|final|combined|overall|penalty|punishment|verdict|value|defendant|imposed|given|principal|"
    r"main|criminal|recommended|suggested)(?![a-z])|[\s\d:,，、.。\"'“”()\[\]<>/+&=-]"
)


def _is_of_a_term(text: str) -> bool:
    """Whether every word of a key that speaks of a span is understood."""
    return not _OF_A_TERM.sub("", text)


_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_ELSE = re.compile(
    r"缓|考验|附加|罚[金款]|没收|财产|剥夺|政治|理由|依据|说明|解释|备注|注[释意]?$|法[律条规院]|条款|日期|"
    r"金额|数额|赔偿|"
    r"认罪|自首|立功|情节|从[轻重]|减[轻刑]|案[情号件]|证据|事实|上诉|羁押|期间|年龄|编号|序号|置信|"
    r"人数|"
    r"reason|expla|note|basis|comment|remark|probation|suspen|\blaw|article|\bdate|\bfines?\b|confisc|"
    r"evidence|fact|additional|amount|appeal|circumstance|mitigat|aggravat|plea|unit|truncat|flag|\bid\b|"
    r"index|confiden|score|version|\bage\b|count\b"
)
_OWNER = re.compile(
    r"(?:被告人?|当事人|姓名|犯罪嫌疑人|嫌疑人|defendants?|name|accused|person)(?:姓名|名称|名字| name)?"
)
_KIND = re.compile(r"类[型别]?|种类|刑种|种别|\btype|kind\b|categor")
_OTHER_KIND = re.compile(r"附加|罚金|案件|主体|缓|责任")
_OF_CRIME = re.compile(r"罪|犯|crim|offen[cs]e|charge")
_OF_PENALTY = re.compile(r"[刑罚判处量]|penal|punish|sentenc")
_WHETHER = re.compile(
    r"是否.{0,8}?(?:罪|成立|构成|犯)|是否有.?$|是否$|(?:有|无)罪(?!名)|有无罪|罪名(?:是否)?成立|定罪(?:结果|"
    r"与否)|"
    r"guilt|convicted|conviction status"
)
_SPAN = re.compile(
    r"刑期|[刑型徒判罚]期|期[限长]|刑[其斯朝]$|时[长间]|年限|月[数份]|[年月]$|徒刑|刑度|时期|"
    r"\bterm|duration|length|\bmonths?|\byears?|imprisonment|period"
)
_CHARGE = re.compile(r"罪|案由|crime|charge|offen[cs]e|accus|convict|범죄|죄명")
_SENTENCE = re.compile(
    r"刑|罚|判|处理|惩|裁决|结果|sentenc|penalt|punish|verdict|judge?ment|ruling|result|처벌|형벌"
)
_CRIME = re.compile(r"(?!.*(?:[有无定认何]罪|犯罪|罪责)$).{1,24}罪")
# 刑期(单位:月), 刑期(以月为单位): a term; 刑期单位 alone is none
_UNIT_STATED = re.compile(r"单位[为是:]? ?个?[年月日天]|以个?[年月日天]为单位")
_FOR_ALL = re.compile(
    r"数罪并罚|(?:决定|合并|最终|实际|应)执行(?:的?刑[期罚])?|总和刑期|合并处罚|combined sentence"
)
_TOTAL = re.compile(r"总|合并|合计|决定执行|最终|实际|执行刑|total|final|combined|overall")
_DRESSING = re.compile(r"[\s\"'`*_#\-.]+")


def field_of(key: str) -> Key:
    """What a key asks for; any string may be given."""
    return _field_of(key[:60])


@lru_cache(maxsize=4096)
def _field_of(key: str) -> Key:
    text = _DRESSING.sub(" ", tight(_CAMEL.sub(" ", key))).strip(" :()[]<>")
    if not text:
        return Key(None)
    unit = unit_of(text)
    if _OWNER.fullmatch(text):
        return Key("owner")
    if _FOR_ALL.fullmatch(text):
        return Key("total", unit, total=True)
    if _KIND.search(text):
        if _OTHER_KIND.search(text):
            return Key(None, other=True)
        if _OF_PENALTY.search(text) or text in ("类型", "type", "种类", "类别"):
            return Key("penalty")
        return Key("charge") if _OF_CRIME.search(text) else Key(None)
    if _ELSE.search(text) or ("单位" in text and not _UNIT_STATED.search(text)):
        return Key(None, unit if "单位" in text or "unit" in text else None, other=True)
    if _WHETHER.search(text):
        return Key("guilty")
    if _CRIME.fullmatch(text):
        return Key("crime")
    if _SPAN.search(text):
        return Key("term", unit, total=bool(_TOTAL.search(text)), unclear=not _is_of_a_term(text))
    if text.startswith("是否"):
        return Key(None, other=True)
    if _CHARGE.search(text):
        return Key("charge")
    if _SENTENCE.search(text):
        return Key("sentence", unit, total=bool(_TOTAL.search(text)))
    return Key(None)


_YES = re.compile(
    r"[√✓✔☑]|是的?|对|有|有罪.{0,40}|成立|构成.{0,40}|罪名成立|认定有罪|yes|y|true|t|1|1\.0|guilty.{0,60}|"
    r"convicted|"
    r"是[,，(:;。].{0,60}|yes[,，(:;. ].{0,60}|すい|はい|예|네|유죄|да|sí|oui|有罪判决"
)
_NO = re.compile(
    r"[×✗✘❌x]|否|不|不是|非|无|没有|无罪.{0,40}|不成立|不构成.{0,40}|未?不?构成犯罪|no|n|false|f|0|0\.0|"
    r"not guilty.{0,60}|acquitted|innocent|"
    r"否[,，(:;。].{0,60}|不是[,，(:;。].{0,60}|no[,，(:;. ].{0,60}|証拠不足|证据不足.{0,40}|아니요|무죄|"
    r"нет|non"
)
_YES_INSIDE = re.compile(r"构成|有罪|成立|犯有|guilty|convicted")
_NO_INSIDE = re.compile(
    r"(?:不|未|没有?|并非|无)[^,，。;；]{0,6}?(?:构成|有罪|成立|犯罪|认定|罪$)|无罪|证据不足|not guilty|"
    r"acquit|innocent"
)
_UNDECIDED = re.compile(r"是否|是[/或]否|否[/或]是|yes/no|true/false|待定|无法|不确定|unknown")


def read_guilt(value: object) -> bool | None:
    """True for guilty, False for not guilty, None where the value decides neither (是否, 待定, blank)."""
    if isinstance(value, bool):
        return value
    if isinstance(value, (int, float)):
        return True if value == 1 else False if value == 0 else None
    if isinstance(value, str):
        return _guilt_text(value[:120])
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, Sequence) and value:
        each = {read_guilt(v) for v in value[:20] if not isinstance(v, (Mapping, list))}
        return True if True in each else False if False in each else None
    return None


@lru_cache(maxsize=1024)
def _guilt_text(value: str) -> bool | None:
    text = tight(value).strip("\"'`*_<>[](){}.。,，;； ")
    if not text or _UNDECIDED.search(text):
        return None
    if _NO.fullmatch(text):
        return False
    if _YES.fullmatch(text):
        return True
    if _NO_INSIDE.search(text):
        return False
    return True if _YES_INSIDE.search(text) else None


_PLACEHOLDER = re.compile(
    r"[<\[{(【].{0,30}[>\]})】]|[x×*?？.…_]+罪?|某+罪|\.{2,}|…+|"
    r"(?:请|在?此处|这里)?(?:填[写入]|插入|输入)?(?:具体|相应|对应|相关|实际|某个?|填[写入])的?"
    r"(?:罪名?|刑罚|刑罚类型|刑种|刑期|月数|内容|类型|数字|数值)?|"
    r"罪名|罪名名称|刑罚类型|刑期|月数|数字|整数|数值|字符串|是否有罪|是[/或]否|[xn] ?个?月|"
    r"string|number|integer|boolean|charge|crime|(?:your|insert|specific) .{0,30}"
)


_DOTS = re.compile(r"\.{2,}|…+")


def is_placeholder(value: object) -> bool:
    """Whether a value is the name of what belongs there (具体罪名, XX罪, 是/否, <number>) and no content."""
    return isinstance(value, str) and len(value) <= 60 and _is_placeholder(value)


@lru_cache(maxsize=4096)
def _is_placeholder(value: str) -> bool:
    text = tight(value)
    if not text or (is_blank(text) and not _DOTS.fullmatch(text)):
        return False
    if _PLACEHOLDER.fullmatch(text):
        return True
    return len(name_penalty(text).alternatives) >= 3


def read_charge(value: object) -> str | None:
    """The charge as the answer has it, several joined by 、; None where it is blank or a placeholder."""
    if isinstance(value, str):
        text = " ".join(value.split())
        return None if is_blank(text) or is_placeholder(text) else text[:400]
    if isinstance(value, Mapping):
        named = [v for k, v in value.items() if field_of(str(k)).field == "charge" or "罪" in str(v)]
        return read_charge(named[0]) if named and not isinstance(named[0], Mapping) else None
    if isinstance(value, Sequence):
        each = [c for c in (read_charge(v) for v in value[:40]) if c]
        return "、".join(dict.fromkeys(each))[:400] or None
    return None


def charges_in(value: object) -> int:
    """How many charges a value lists: the items of a list, else the names in the text that end in 罪."""
    if isinstance(value, str):
        return max(1, len(re.findall(r"罪(?=[、,，;；和及与\s/+]|$)", value[:600])))
    if isinstance(value, Sequence):
        return len(value)
    return 1
