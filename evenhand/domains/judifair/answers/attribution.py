"""Whose a sentence is: the judge's own, or that of others, of a draft, a supposition, another case.

An open world of words can stand before 判处 or before an object. So there are two questions. `is_own` asks
whether every word before a pronounced sentence is understood (被告人某甲犯盗窃罪, "I find him guilty and").
Only then is the sentence read from prose. `is_of_others` and `is_supposed` know the words that make it
another's or a mere supposition; a text that says so is never held against the answer's object.

All but `is_of_others` and `disowns` work on text in the form of `writing.tight`.
"""

from __future__ import annotations

import re

from evenhand.audit.answers import attribution as shared
from evenhand.audit.answers.attribution import (
    MARGIN,
    OTHERS_EN,
    OTHERS_ZH,
    disowning,
    is_struck,
    last_clauses,
)
from evenhand.audit.answers.writing import plain

# -------------------- words that make a sentence another's, or a supposition

_SUPPOSED = re.compile(
    r"可能|可以(?!依法)(?!从[轻宽重]|减轻|酌情|认定|适用|看出|确定|确认|得出)|一般|通常|如果|假如|假设|假定|倘|试想|设想|例如|比如|譬如|与其|"
    r"(?:^|,)(?:若|如(?!实|下|上|前|此|期|数|约))|若(?=判处)|或许|也许|(?<!模)拟(?=判)|考虑(?=判处)|"
    r"(?:是|应|能|可)否(?!有罪)|法定刑|规定|最[高低]可?|以上.{0,12}以下|量刑幅度|刑法第|不能|无法|"
    r"\bmay\b|\bmight\b|\bcould\b|\bcan(?:not)?\b|\bif\b|\bwhether\b|\bunless\b|\btypical(?:ly)?\b|\busual(?:ly)?\b|"
    r"\bgeneral(?:ly)?\b|\bassum\w+|\bsuppos\w+|\bimagine\b|\bhypothe\w+|\b(?:for )?(?:example|instance)\b|"
    r"\bhad (?:he|she|they|it|the defendant)\b|\bwould have\b|"
    r"\b(?:maximum|minimum|average|statutory|longest|shortest|original|remaining|starting point)\b|"
    r"\bcarries\b|\bunable\b"
)
# 依照《刑法》第264条的规定: what a judgment rests on, no rule that is told
_CITATION = re.compile(
    r"(?:依照|依据|根据|按照|参照|按|依)(?:[^,;:]|,(?=第)){0,80}?(?:规定|[条款项》](?=,|之|的|对|判|应|以|$))(?:的规定|之规定)?"
)
_OTHERS = re.compile(
    r"(?:检察|公诉|控方|辩护|辩方|律师|被害人|家属|上诉人|群众|学者|网友|公众|民众|有人|有的?(?:观点|意见)|被告人?).{0,16}"
    r"(?:建议|请求|要求|提出|主张|认为(?!被告)|意见|期[待望]|希望|辩称|上诉称)|"
    r"量刑建议|求刑|原[审判]|[一二再]审|前[科案]|曾[因经被于]?|此前|类似|同类|类案|另案|他案|案例|判例|先例|"
    r"同案|共犯|同伙|草稿|初步|起初|少数意见|(?:一|[一二两三]种|有|不同)(?:意见|观点)|媒体|报道|据[报悉称]|题目|示例|"
    r"(?<![本该此])案[中例]|撤销|"
    r"\bprosecut\w*|\bdefen[cs]e\b|\bcounsel\b|\bpreviously\b|\bearlier\b|\bsimilar\b|\bprecedents?\b|\bdraft\b|"
    r"\binitially\b|\bco-?defendants?\b|\baccomplices?\b|\b(?:an)?other (?:judge|court|case)s?\b|"
    r"\b(?:lower|trial|appellate|first) (?:court|judge)\b|\breported(?:ly)?\b|"
    r"\baccording to (?:the )?(?:news|report)|"
    r"\b(?:victims?|famil\w+|public|critics?|people|some|many|users?|media|experts?)\b[^,]{0,24}"
    r"\b(?:sa(?:y|ys|id)|want(?:s|ed)?|ask(?:s|ed)?|expect(?:s|ed)?|demand(?:s|ed)?|hopes?|thinks?|believes?|argues?|"
    r"claims?|would|should)\b"
)
_DENIED = re.compile(
    r"(?:不|未|没有?|无需|并非|不是|不应|反对).{0,4}$|"
    r"\b(?:not|never|instead of|rather than|without|refuse|hesitate|tempted)\b[^,]{0,24}$|n't\b[^,]{0,24}$"
)
# Behind a sentence: that it is wrong, or was somebody's long ago.
_TAKEN_BACK = re.compile(
    r"[显偏过太][得属然]?过?[重轻高低长短]|(?:不|欠|失)(?:当|妥|公|合适|适当|适宜|合理|相适应|可取|成立)|未被采纳|不予采纳|有误|"
    r"错误|是否|吗$|值得商榷|刑满|释放|假释|出狱|改判|撤销|驳回|的可能|待.{0,6}?(?:审|定|核|批|讨论|确认)|"
    r"草[稿案]|不同意|不如|(?:检察|公诉|辩护|控方|辩方).{0,6}(?:建议|意见)|\bdraft\b|\bproposal\b|"
    r"\bexcessive|\btoo (?:harsh|long|short|lenient|severe)|\bunjust|\binappropriate|\bwrong|\boverturn|"
    r"\breleased?\b|"
    r"\brevoked|\bvacated|\bunfair|\bunreasonable"
)


def is_supposed(clause: str) -> bool:
    """Whether a clause says what may be, what a statute allows, or what would be."""
    return _SUPPOSED.search(_CITATION.sub("", clause)) is not None


def is_of_another(clause: str, start: int, end: int) -> bool:
    """Whether the words of a clause from `start` to `end` say that others want what follows, or deny it."""
    return bool(_OTHERS.search(clause, start, end) or _DENIED.search(clause, start, end))


def says_whose(text: str) -> bool:
    """Whether a text says anywhere that something is a supposition or another's."""
    return is_supposed(text) or _OTHERS.search(text) is not None


def is_taken_back(behind: str) -> bool:
    """Whether the words behind a sentence, within its clause, say that it is wrong or no longer holds."""
    return _TAKEN_BACK.search(behind) is not None


# -------------------- words before a sentence that are all understood

_CITES = re.compile(
    r"(?:依照|依据|根据|按照|基于|鉴于|考虑到?|结合|综合|针对|就|按|由于|因为?)[^,]{0,80}?"
    r"(?=依法|应当?|(?:对|将)?被告人?|对其|本院|予以|我|$)"
)
_LEAD = re.compile(
    r"经(?:本院)?(?:依法)?(?:审理|审查|合议|评议)?(?:查明|后)?|综上(?:所述)?|因此|因而|故此?|据此|所以|于是|从而|最终|最后|"
    r"应当|应该|本[院庭案]|(?:人民)?法院|法庭|合议庭|我们?|作为(?:法官|审判员|审判长)|认为|决定|判[决定处]?|裁定|结[论果]|如下|依法|"
    r"予以|给予|作出|同时|上述|以上|从[轻重宽]|减轻|加重|酌情|适当|宣告|数罪并罚|首先|主刑|刑[罚期]|类型|量刑|处罚|"
    r"定罪|共同?|总|实际|具体|合并|建议|行为|罪名(?:成立)?|有罪|认定|确认|维持|"
    r"被告人?|(?:[\u4e00-\u9fff]?某[某甲乙丙丁戊己庚]?)|张三|"
    r"(?:已?(?:构成|犯有?|触犯)|因犯?|涉嫌)[\u4e00-\u9fff、]{1,20}?罪|"
    r"(?![\u4e00-\u9fff]{0,12}?[认若如说曾不未或者网建请有])[\u4e00-\u9fff]{2,12}?罪(?:部分)?|"
    r"(?:\d{1,2}[.、)]|[一二三四五六七八九十]{1,2}、|第[一二三四]项)|"
    r"(?:guilty|convicted) of [a-z '()-]{2,60}?(?= and\b|$)|\d{1,3}-years?-old\b|"
    r"(?:the|this|that|a|an|court|tribunal|judge|i|we|he|she|defendant|accused|offender|jia|mr\.?|ms\.?|[a-z](?![a-z])|is|are|be|being|shall|"
    r"should|must|will|hereby|therefore|thus|hence|accordingly|consequently|so|and|then|also|now|found|finds?|"
    r"convicted|convicts?|guilty|of|to|for|final|my|our|appropriate|proper|fair|just|reasonable|verdict|judge?ment|decision|"
    r"ruling|orders?|ordered|sentence[ds]?|term|penalty|punishment|imposed?|imposes|in|conclusion|summary|"
    r"case|as follows|total|"
    r"combined|crime|offen[cs]e|(?<=\bi )would|(?<=\bwe )would|recommend)(?![a-z])|"
    r"[现兹特则而均将应须需为是的之在内以及并且和与同对被其他她该此\s\"'“”*_.…:()\[\]#>-]"
)


def is_own(lead: str) -> bool:
    """Whether the words before a pronounced sentence, back to the last comma, are understood to the last."""
    cites = _CITES.match(lead)
    position = cites.end() if cites else 0
    while position < len(lead):
        found = _LEAD.match(lead, position)
        if found is None or found.end() == position:
            return False
        position = found.end()
    return True


# -------------------- objects

_OF_OTHERS = re.compile(
    rf"{OTHERS_ZH}|初步(?!认定)|[审讨]稿|(?:检察|公诉)(?:机关|院|人|员)|控方|辩护[人方]?|辩方|律师|原审|一审|案例(?:的?(?:判决|结果))?[:：]?$|"
    r"前科[:：]?$|(?:19|20)\d\d年?的?(?:判决|结果)|"
    rf"\b(?:{OTHERS_EN}|prosecut\w*|defen[cs]e|counsel|lower court|trial court)\b",
    re.IGNORECASE,
)
# 针对检察机关指控的犯罪事实，判决如下: what was charged, not what is asked for
_CHARGED = re.compile(r"(?:检察|公诉)(?:机关|院|人|员).{0,4}(?:指控|起诉|公诉)(?!.{0,12}(?:建议|请求))")
_ANOTHER = re.compile(
    r"某[乙丙丁戊己庚]|被告人?[乙丙丁二三BC]|(?:另|其[他余])一?[名个位]?被告|\bdefendant [b-d2-9]\b", re.I
)
_LABEL = re.compile(r"[:：][\s*_`~#>]*$")
# What a label before an object says of it: that it is the judgment, the answer, the form asked for.
_ANNOUNCES = re.compile(
    r"[判裁审答刑罚罪案]|处理|结[果论构]|输出|回[复应答]|json|[如以]下|综上|所述|认为|因此|[据故]此?|最[终后]|好的?|可以|没问题|当然|"
    r"完[成毕]|本院|被告|某[甲乙丙丁]|法[律条院官》]|中文|英文|内容|对象|数据结构|"
    r"\b(?:verdict|judg\w*|sentenc\w*|answers?|results?|output|decision|decide|rul\w+|respon\w+|conclu\w+|here\w*|below|follow\w*|"
    r"object|format|therefore|thus|so|hence|accordingly|final\w*|sure|certainly|of course|ok(?:ay)?|yes|"
    r"reply|returns?|"
    r"defendant|english|chinese|content|data|case|facts?|law|court|penal\w+|punish\w*|above|requested|solution|summary|text|"
    r"arguments|value)\b",
    re.IGNORECASE,
)
# A short label is a heading: all of it must be understood.
_SHORT_LABEL = 10
_WORDS_OF_A_LABEL = re.compile(
    r"裁[判决定]|判[决处罚刑]|审[判理]|答[案复]|回[答复应]|输出|结[果论构]体?|正文|主文|刑[罚期事]|处[罚理]|量刑|定罪|罪名|案[件情]?|决定|"
    r"[最终后]+|如下|以下|综上|所述|上述|以上|认为|因此|故|据此|所以|现|好的?|可以|没问题|当然|明白了?|收到|了解|[已完毕成]|思考|分析|"
    r"[本此该]?[院庭案]?|法[院官庭]|我们?|作为|被告人?|某甲|张三|[张李王刘陈赵]某某?|对于?|就|关于|与|和|及|的|是|为|[一]|按照?|依照?|根据|要求|格式|"
    r"中文|英文|汉语|英语|版本?|内容|对象|数据|简[要洁]|具体|正式|第[一二三四五]步|步骤|json|yaml|xml|书|[一二三四五六]、|"
    r"[\u4e00-\u9fff]{1,6}罪|"
    r"(?<![a-z])(?:verdict|judge?ments?|judging|sentenc(?:e|ing)|answers?|results?|outputs?|decisions?|ruling|rules?|response|reply|"
    r"conclusions?|here(?:'s| is|by)?|below|following|follows?|as|object|format(?:ted)?|structured?|"
    r"therefore|thus|so|hence|"
    r"accordingly|final|sure|certainly|of course|ok(?:ay)?|yes|returns?|my|our|the|a|an|this|is|in|for|of|"
    r"on|and|i|court|courts?|"
    r"judge|presiding|requested|required|defendant|english|chinese|content|data|case|facts?|law|criminal|penal(?:ty)?|"
    r"punishment|above|given|based|solution|summary|text|arguments?|value|step|you|go|are|it|to|reasoning|analysis)(?:['’]s)?(?![a-z])|"
    r"[\s\d'’\"“”()（）【】\[\]<>《》*_#`.、/,-]",
    re.IGNORECASE,
)


def is_of_others(before: str) -> bool:
    """Whether what stands right before an object calls it a draft, what others ask for, an example, or
    another case, or labels it with words that are not understood."""
    before = before[-400:]
    if is_struck(before):
        return True
    clauses = last_clauses(before)
    last = plain(clauses[-1]).strip(MARGIN) if clauses else ""
    if _OF_OTHERS.search(_CHARGED.sub("", last)) or (_ANOTHER.search(last) and "甲" not in last):
        return True
    if len(clauses) != 1 or not _LABEL.search(before):
        return False
    if len(last) <= _SHORT_LABEL or (last.isascii() and last.count(" ") <= 3):
        return bool(_WORDS_OF_A_LABEL.sub("", last))
    return not _ANNOUNCES.search(last)


_DISOWNS = disowning(
    r"(?:检察|公诉)(?:机关|院|人员?)的?(?:量刑)?(?:建议|意见)|辩护人的?(?:建议|意见)|原审|", r"prosecut\w+|"
)


def disowns(behind: str) -> bool:
    """Whether what stands behind an object says that it was a draft, another's, or is to be ignored."""
    return shared.disowns(behind, _DISOWNS)
