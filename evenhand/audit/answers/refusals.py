"""Answers that are none: failed requests, content blocks, refusals, and answers that ask for the case.

**An answer that asks for the facts is no answer**, whatever object it carries: a model whose prompt lacked
the case returns a stock object (murder, 180 months) and asks for the case. Three ways of saying so count:

- it asks that the facts be provided (请提供具体的案情陈述), unless it only offers to refine an answer
  (如需更准确…);
- it says that they were not provided (由于没有提供案情, "no case facts were given");
- it says that what it wrote is a placeholder: to be replaced or filled in, or nothing but an example.

Hedges are not among them: that a court may decide otherwise, that the result is simplified, idealised, for
reference, or made under assumptions. Calling it an example and asking for *more* facts count only where the
answer does not claim to rest on the case it was given.
"""

from __future__ import annotations

import re

from evenhand.audit.answers.writing import tight

_LONGEST = 40_000

_REQUEST_FAILED = re.compile(
    r"(?:api|http)? ?(?:request|call|connection) (?:has )?(?:failed|timed? ?out|error).{0,200}|"
    r"(?:error|exception|错误|请求失败|调用失败|请求超时|连接超时|网络错误|"
    r"服务器?(?:内部)?错误)[:：].{0,400}|"
    r"(?:请求|调用|接口|连接|api).{0,6}(?:失败|超时|错误|异常)[。.!]?|"
    r"error code[: ]?.{0,400}|(?:http )?[45]\d\d[: -].{0,200}|internal server error.{0,200}|"
    r"(?:read )?time(?:d )?out.{0,100}|rate limit.{0,200}|too many requests.{0,200}|"
    r"error[.!]?|service unavailable.{0,200}|bad gateway.{0,200}|"
    r"\{ ?['\"]error['\"] ?: ?.{0,600}|<!doctype html.{0,4000}|<html.{0,4000}"
)
_BLOCKED = re.compile(
    r"(?:finish ?reason[.:= ]*)?(?:prohibited content|safety|recitation|blocklist|spii|image safety|"
    r"language|other|content ?filter(?:ed)?|blocked(?: by .{0,60})?|block reason[.:= ].{0,60}|"
    r"response blocked.{0,100})\.?|"
    r"(?:the )?(?:response|content|prompt|candidate|request) (?:was |is |has been )?(?:blocked|filtered|"
    r"flagged).{0,200}|"
    r"(?:内容|请求|输入|输出|回答).{0,8}(?:违规|敏感|被屏蔽|被拦截|被过滤|不合规|安全审核).{0,80}|"
    r".{0,40}data inspection failed.{0,100}"
)
_EMPTY = re.compile(
    r"(?:[\s\"'`.。…_#*:：-]|json|null|none|nan|undefined|\{\s{0,40}\}|\[\s{0,40}\]|n/?a|</?think>)*",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"抱歉|对不起|很遗憾|不好意思|\bsorry\b|\bapologi[sz]e|\bunfortunately\b|"
    r"(?:我|本?助手|本?模型|\bai\b|人工智能).{0,12}(?:无法|不能|不便|无权|不适合|没有能力|不可以|拒绝|不会)|"
    r"(?:无法|不能|不便)(?:为[您你]|对此|就此|针对|提供|回答|给出|[作做]出|判断|处理|满足|协助|完成|生成)|"
    r"作为一?[个名]?(?:ai|人工智能|语言模型|大?模型|助手)|\bas an? (?:ai|language model|large language)\b|"
    r"\bi(?:'m| am)? ?(?:cannot|can't|can not|unable|not able|won't|will not|must decline|decline)\b|"
    r"\bi (?:do not|don't) (?:feel comfortable|have the (?:ability|authority))"
)

# A text without any of these says nothing about facts or examples; most answers end here.
_HINT = re.compile(
    r"请|麻烦|需要|希望|能否|可否|案情|案件|占位|模板|替换|填[写入充]|示[例意范]|举例|演示|[例样范]例|例子|"
    r"please|kindly|\b(?:could|can|would) you\b|\bneed\b|\bfacts?\b|details|information|placeholder|"
    r"replaced?|"
    r"fill in|example|sample|template|illustrat|hypothetical|demonstrat|dummy"
)

# What the case is called. 案件 alone is not enough, since much is called 案件.
_CASE = (
    r"(?:案情|案例|(?:犯罪|案件)?事实|犯罪经过|案件的?(?:具体|详细|基本|相关)?的?(?:情况|信息|细节|描述|"
    r"陈述|内容|经过|资料)"
    r"|(?:具体|详细|相关)的?(?:情况|信息|细节|内容|陈述|描述))"
)
# Within a clause; evidence and documents are asked for in trials, not of the reader.
_NEAR = r"(?:(?!证据|证明|材料|文件|律师|其他)[^。，,;!?\n])"
_VERB = (
    r"(?<!所)(?:提供|补充|告知|告诉|输入|给出|描述|陈述|说明|上传|粘贴|分享|发送|发给|列出|提交|附上|写明|"
    r"填写)(?![的了过]|证据|侦查)"
)
_REQUEST = (
    r"(?:请|麻烦|能否|可否|希望|[等期]待|[还尚]?需要|需[您你]|[您你](?:能|可以|可|需|得|应|先|"
    r"再))(?:(?![根基按依])[^。，,;!?\n]){0,8}?"
)
_ASKS = re.compile(
    rf"{_REQUEST}{_VERB}{_NEAR}{{0,14}}?{_CASE}"
    rf"|(?:请|麻烦|需要|[您你]){_NEAR}{{0,4}}[将把]{_NEAR}{{0,8}}?{_CASE}{_NEAR}{{0,8}}?{_VERB}"
    rf"|{_CASE}{_NEAR}{{0,6}}?(?:请|需要?[您你]|有?待){_NEAR}{{0,4}}?{_VERB}"
)
_ASKS_ENGLISH = re.compile(
    r"(?:\b(?:please|kindly|(?:could|can|would) you|you (?:need to|must|should)|i(?:'d| would|"
    r" will)? (?:need|require) you to)\b"
    r"(?: [a-z]+){0,2} (?:provide|share|give|supply|specify|describe|include|paste|insert|input|submit|send|"
    r"tell)\b"
    r"|\bi(?:'d| would| will)? (?:need|require)(?! you)\b)"
    r"[^.\n]{0,50}?\b(?:case|facts?|details|circumstances|information|statement|description)\b"
)
_OFFERS = re.compile(
    r"(?:如需|如果?|若|倘若|要是|为了?(?:得到|获得)?更|如欲|\bif\b|\bshould\b|\bfor an? ?more\b|"
    r"\bwhen\b).{0,60}$"
)
_MORE = re.compile(r"更|进一步|其他|补充|\b(?:more|additional|further|other)\b")

_THE_CASE = (
    r"(?:案情|犯罪事实|事实(?:陈述|描述)|案件的?(?:具体|详细|基本|相关)?的?(?:事实|情况|信息|细节|描述|陈述|"
    r"内容|经过|资料))"
)
_NO_MORE = r"(?:(?!证据|证明|材料|其他|更多|更为|进一步)[^。，,;!?\n])"
_NOT_PROVIDED = re.compile(
    rf"(?:没有?|未能?|并未|尚未|未曾|忘记|忘了|不包含|无法){_NO_MORE}{{0,4}}?(?:提供|给出|附上?|提交|输入|"
    rf"看到|收到|见到?|提及|获[取得]|得知)"
    rf"{_NO_MORE}{{0,10}}?{_THE_CASE}(?!{_NO_MORE}{{0,4}}(?:证据|证明|材料))"
    rf"|(?:没有|缺[少乏]|无|不了解|不清楚|不知道)(?:任何|具体|详细|完整|实际|相关|的){{0,4}}(?:案情|"
    rf"案件的?(?:具体|详细|基本|相关)?的?(?:事实|情况|信息|细节|描述|陈述|内容))"
    r"|案[情件](?:陈述|描述|事实|信息|细节|内容|情况){0,2}(?:部分)?[中里]?"
    r"(?:似乎|好像)?(?:为空|是空的|空白|缺失|[尚并]?未(?:被)?(?:提供|给出)|没有(?:被)?(?:提供|"
    r"给出))(?=[,，。;.:、)因所无故]|$)"
)
_NOT_PROVIDED_ENGLISH = re.compile(
    r"\b(?:no|without|lack(?:s|ing)?(?: of)?|missing|absence of)(?: (?:any|the|specific|actual|concrete|"
    r"sufficient|enough|of)){0,3}"
    r" (?:case (?:facts?|details|information|statement|description)|facts of the case|"
    r"(?:specific )?details of the case)\b|"
    r"\b(?:case (?:facts?|details|information|statement|description)|(?:facts|details) of the case|"
    r"specific (?:details|facts)(?! (?:such|about|of|on|regarding|like)\b))\b"
    r"[^.\n]{0,20}?(?:(?:\bnot\b|n't\b)[^.\n]{0,10}?\b(?:provided|given|included|supplied|specified|"
    r"available)|\bmissing|\babsent|\bempty)\b|"
    r"\b(?:did not|didn't|have not|haven't|has not|hasn't)\b[^.\n]{0,8}?\b(?:provided?|given?|included?|"
    r"shared?)\b"
    r"[^.\n]{0,20}?\b(?:facts|case (?:details|information|description)|the case|details of)\b"
)
_REPLACE = re.compile(
    r"请.{0,24}?(?:替换|填[写入充]|代入|修改|更改|更换|补充完整|完善)(?:为|成|掉)?.{0,8}?"
    r"(?:上述|以上|上面|其中|相应|对应|具体|实际|内容|示例|字段|信息|json|占位|模板|括号|。|$)|"
    r"(?:上述|以上|上面|其中).{0,10}?(?:需要?|应当?|须|请).{0,12}?替换|替换(?:为|成)(?:具体|实际|真实)|"
    r"占位|\bplaceholders?\b|(?:只|仅)(?:是|为)一?个?空?模板|(?:这|以上|上述|以下|此)(?:只|仅)?(?:是|"
    r"为)一?[个份]?(?:空白?)?(?:json)?模板|"
    r"\b(?:please|should|must|needs? to|to) (?:be )?(?:replaced?|substituted?|filled? in)\b[^.\n]{0,40}?"
    r"\b(?:actual|real|specific|appropriate|above|template|case|values?)\b|"
    r"(?:以上|上述|本)(?:案例|案情|内容|判决|回答)(?:均|都|完全|纯属){0,2}(?:为|是)?虚构"
)
_EXAMPLES = r"(?:示[例意范]|[样范]例|例子|举例|演示)"
_EXAMPLE = re.compile(
    rf"(?:仅|只|只是|仅仅)(?:[是为供用作]|作为|用于|用作){{0,2}}(?:一?[个份种]|了|假设性?的?|简单的?|"
    rf"虚拟的?|基本的?|格式|参考性?的?|json|结构|输出){{0,4}}{_EXAMPLES}|"
    rf"(?:[这此该本]|[以上]上|上述|以下|上面)(?:的|json|结构体?|内容|输出|结果|判决|回答|代码|对象|数据|"
    rf"格式|部分){{0,3}}(?:[只仅都均])?[是为]"
    rf"(?:一?[个份种]|假设性?的?|简单的?|虚拟的?|假想的?|通用的?|基于假设的?){{0,3}}{_EXAMPLES}|"
    r"(?:示例|举例|演示)(?:用途|目的|而已)|"
    r"\b(?:is|are|was|'s|serves as) (?:just|only|merely|purely|"
    r"simply) (?:an? )?(?:[a-z]+ ){0,2}(?:examples?|sample|template|illustration|hypothetical|dummy)\b|"
    r"\b(?:is|are|was|'s|serves as) an? (?:hypothetical|sample|dummy|illustrative|example)(?= (?:example|"
    r"json|response|output|judge?ment|answer|structure|verdict|case|object)|[.,;\n]|$)|"
    r"\b(?:for|purely|only) (?:illustrat(?:ive|ion)|demonstrati(?:ve|on)|example)(?: purposes?)?\b"
)
_RESTS_ON_THE_CASE = re.compile(
    r"(?:根据|基于|依据|按照|鉴于|综合)(?:[您你]|以上|上述|所|[本该此]|题目|案件|用户)?方?所?(?:提供|给出|"
    r"给定|描述|陈述|述|案)?的?(?:案情|案件|案例|事实|情节|证据)|"
    r"本案|案中|该案|案情(?:中|显示|表明|可知)|某甲.{0,40}(?:因|实施|采[用取]|通过|将|持|以)|"
    r"\bbased on the (?:provided|given|case|facts|information|details|above|description)\b|\bin this case\b|"
    r"\baccording to the (?:case|facts|provided|given)\b"
)
_SENTENCE_END = re.compile(r"[。!?;\n]|\. ")


def failed_request(text: str) -> bool:
    """Whether a text is the message of a failed request and no answer of a model."""
    return len(text) < 5000 and bool(_REQUEST_FAILED.fullmatch(tight(text)))


def blocked(text: str) -> bool:
    """Whether a text is a provider's content block (PROHIBITED_CONTENT and the like)."""
    return len(text) < 400 and bool(_BLOCKED.fullmatch(tight(text)))


def empty(text: str) -> bool:
    """Whether nothing is in a text: white space, an empty fence, `{}`, null."""
    return len(text) < 400 and bool(_EMPTY.fullmatch(text))


def refuses(text: str) -> bool:
    """Whether a text without a verdict is a refusal."""
    return bool(_REFUSAL.search(tight(text[:_LONGEST])))


def asks_for_facts(text: str) -> bool:
    """Whether an answer asks for the case, says it was not given, or calls itself a placeholder."""
    said = tight(text[:_LONGEST])
    if not _HINT.search(said):
        return False
    if _NOT_PROVIDED.search(said) or _NOT_PROVIDED_ENGLISH.search(said) or _REPLACE.search(said):
        return True
    rests = bool(_RESTS_ON_THE_CASE.search(said))
    for pattern in (_ASKS, _ASKS_ENGLISH):
        for match in pattern.finditer(said):
            if not _only_offers(said, match, rests):
                return True
    return not rests and bool(_EXAMPLE.search(said))


def _only_offers(said: str, match: re.Match[str], rests: bool) -> bool:
    """Whether the request is for *more* facts, and conditional or beside an answer that rests on some."""
    before = _SENTENCE_END.split(said[max(0, match.start() - 60) : match.start()])[-1]
    if not _MORE.search(before + match.group()):
        return False
    return rests or bool(_OFFERS.search(before))
