"""The reasoning that models write before their answer: taken away, because drafts are no answers.

Every family of models has marks of its own (<think>, <seed:think>, [THINK], ◁think▷, <|begin_of_thought|>,
the channels of gpt-oss), and new ones come. So the rule does not ask for names: **a block that opens and is
closed before the answer is reasoning**, whatever its mark. Known are only the few marks that hold the answer
itself (<answer>, <json>, <|begin_of_box|>), those that lay out a text (<p>, <b>), and those that are the
fields of a verdict (<刑期>36</刑期>).

Reasoning that is opened and never closed is no answer. Some chat templates swallow the opening mark: what
stands before a closing one is reasoning then.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from evenhand.audit.answers.vocabulary import Vocabulary

# Words within the name of a mark, the stronger first: <final_reasoning> is reasoning.
_REASONS = re.compile(
    r"think|thought|reason|reflect|analy|scratch|draft|deliberat|\bcot\b|cot_|_cot|chain|inner|monolog|ponder|rationale|"
    r"brainstorm|musing|reflexion|plan|思|推理|草稿|分析|考虑|论证",
    re.IGNORECASE,
)
_ANSWERS = re.compile(
    r"answer|final|output|result|respon|json|verdict|judge?ment|sentenc|decision|ruling|solution|conclusion|box|code|function_?call|invoke|artifact|parameter|"
    r"object|content|data|root|xml|assistant|判|裁|结果|结论|答|输出|回复",
    re.IGNORECASE,
)
_LAYOUT = re.compile(
    r"p|b|i|u|s|br|hr|em|strong|div|span|pre|code|table|t[rdh]|tbody|thead|ul|ol|li|h[1-6]|html|body|head|small|sup|sub|"
    r"center|font|section|article|blockquote|a|img|mark|tt|kbd|q|label",
    re.IGNORECASE,
)
# Tokens of chat templates that open no block of reasoning.
_TEMPLATE = re.compile(
    r"im_(?:start|end|sep)|eot(?:_id)?|eom(?:_id)?|endoftext|end_?of_?text|begin_of_text|start_header_id|end_header_id|"
    r"start_of_turn|end_of_turn|bos|eos|pad|unk|system|user|assistant|human|bot|end|return|call|begin▁of▁sentence|"
    r"end▁of▁sentence|user▁?|assistant▁?|s|INST|SYS|message|start|tool_calls?|turn|eod|sep|fim_\w+",
    re.IGNORECASE,
)

_NAME = r"[^\s<>\[\]|｜/◁▷{}\"'“”:：，,。=]{1,30}(?::[A-Za-z_]{1,30})?"
_MARK = re.compile(
    rf"<(?P<bar>[|｜])(?P<slash1>/?)(?P<token>{_NAME})(?P<bar_end>[|｜]?)>"  # <|x|>, <|/x|>, <|x>
    rf"|<(?P<end_token>{_NAME})[|｜]>"  # <x|>
    rf"|<(?P<slash2>/?)(?P<tag>{_NAME})(?:\s[^<>]{{0,80}})?>"  # <x>, </x>
    rf"|[◁⟨«‹](?P<slash3>/?)(?P<odd>{_NAME})[▷⟩»›]"
    rf"|(?:\[|【|\{{\{{|\()(?P<slash4>/?)(?P<square>[A-Za-z_]{{3,30}}|[\u4e00-\u9fff]{{2,8}})(?:\]|】|\}}\}}|\))"
)
_NUMBERED = re.compile(r"unused_?\d+|reserved(?:_\w+)?_\d+|extra_id_\d+", re.IGNORECASE)
_OPENS = re.compile(r"^(?:begin|start|open)(?:_of)?_|_(?:begin|start|open|prefix)$", re.IGNORECASE)
_CLOSES = re.compile(r"^(?:end|stop|close)(?:_of)?_|_(?:end|stop|close|suffix)$", re.IGNORECASE)
_PREFIX = re.compile(
    r"^(?:begin|start|open|end|stop|close)(?:_of)?_|_(?:begin|start|open|prefix|end|stop|close|suffix)$",
    re.IGNORECASE,
)

# gpt-oss: <|channel|>analysis<|message|>...<|end|><|start|>assistant<|channel|>final<|message|>...
_CHANNEL = re.compile(
    r"<\|channel\|>\s*(?P<name>[A-Za-z]+)[^<]{0,80}(?:<\|constrain\|>[^<]{0,40})?<\|message\|>"
)
_END_OF_MESSAGE = re.compile(r"<\|(?:end|return|call|start|channel)\|>")
# The same with its marks stripped: analysis...assistantfinal...
_STRIPPED = re.compile(
    r"assistant\s{0,3}(?:commentary.{0,4000}?assistant\s{0,3})?final(?:\s{0,3}json(?=\s*\{))?", re.DOTALL
)
_STRIPPED_OPEN = re.compile(
    r"\s*(?:analysis|commentary|thought)(?=[^\s:：.,，a-z*]|[A-Z]|\n|We |The |I |Let )"
)

# Words in place of marks.
_SPOKEN = (
    (
        re.compile(r"\A\s*Thinking(?: Process)?\.{3}\n"),
        re.compile(r"\.{3}\s?done thinking\.?", re.IGNORECASE),
    ),
    (
        re.compile(r"\A\s*(?:Here is|Here's) my (?:thought process|reasoning)[:.]?", re.IGNORECASE),
        re.compile(r"(?:Here is|Here's) my (?:response|answer)[:.]?", re.IGNORECASE),
    ),
)  # fmt: skip
_ESCAPED_MARK = re.compile(r"&lt;(/?[A-Za-z_:]{1,30})&gt;")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_REASONING_FENCE = (
    r"(?m)^[ \t]*(`{3,}|~{3,})[ \t]*(?:think\w*|thought\w*|reason\w*|scratch\w*|draft|思考|推理|草稿)"
)
_FENCED = re.compile(_REASONING_FENCE + r"[^\n]*\n.*?^[ \t]*\1[ \t]*$", re.DOTALL | re.IGNORECASE)
_FENCE_LEFT_OPEN = re.compile(_REASONING_FENCE + r"[ \t]*$", re.IGNORECASE)
_ANNOUNCED = re.compile(r"(?:结果|判决|如下|结构体|json|result|answer|verdict)[:：]?[ \t]*\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Mark:
    name: str
    opens: bool
    closes: bool
    start: int
    end: int
    reasons: bool
    token: bool


def without_reasoning(text: str, words: Vocabulary) -> tuple[str, bool]:
    """The text after the reasoning, and whether reasoning is left open (so that no answer was reached)."""
    for opens, closes in _SPOKEN:
        begun = opens.match(text)
        if begun:
            ended = closes.search(text, begun.end())
            if ended is None:
                return text, opens is _SPOKEN[0][0]
            text = text[ended.end() :]
    if "<|channel|>" in text:
        final = _final_channel(text)
        if final is None:
            return "", True
        text = final
    elif "assistant" in text or _STRIPPED_OPEN.match(text):
        finals = list(_STRIPPED.finditer(text))
        if finals and (_STRIPPED_OPEN.match(text) or text[: finals[-1].start()].strip()):
            text = text[finals[-1].end() :]
        elif _STRIPPED_OPEN.match(text) and not any(m.closes and m.reasons for m in _marks(text, words)):
            return "", True
    if "&lt;" in text:
        text = _ESCAPED_MARK.sub(r"<\1>", text)
    if "<!--" in text:
        text = _COMMENT.sub("\n", text)
    if "```" in text or "~~~" in text:
        text = _FENCED.sub("\n", text)
        if _FENCE_LEFT_OPEN.search(text):
            return "", True
    return _without_blocks(text, words)


def _final_channel(text: str) -> str | None:
    """What the last message on the channel `final` says; None where there is no such message."""
    final = None
    for channel in _CHANNEL.finditer(text):
        if channel["name"].lower() == "final":
            end = _END_OF_MESSAGE.search(text, channel.end())
            final = text[channel.end() : end.start() if end else len(text)]
    return final


def _without_blocks(text: str, words: Vocabulary) -> tuple[str, bool]:
    marks = list(_marks(text, words))
    if not marks:
        return text, False
    says = _last_word(text, words)
    gone: list[tuple[int, int]] = []  # what is taken away, in order
    begun: dict[str, _Mark] = {}
    start = 0  # what stands before it was closed without being opened: reasoning, too
    for mark in marks:
        opening = begun.get(mark.name) if mark.closes else None
        if opening is None and not mark.opens:
            if mark.reasons or says >= mark.end:
                start, gone = mark.end, []
                begun.clear()
        elif opening is None:
            begun.setdefault(mark.name, mark)
        else:
            begun = {name: m for name, m in begun.items() if m.start < opening.start}
            while gone and gone[-1][0] >= opening.start:
                gone.pop()
            gone.append((opening.start, mark.end))
    if any(_is_left_open(text, start, mark) for mark in begun.values()):
        return "", True
    pieces = []
    for begin, end in gone:
        pieces.append(text[start:begin])
        start = end
    return "\n".join([*pieces, text[start:]]), False


def _last_word(text: str, words: Vocabulary) -> int:
    """Where the last sign of a verdict stands: of an object, or of one of its fields; -1 if there is none."""
    return max((m.start() for m in words.says.finditer(text)), default=-1)


def _is_left_open(text: str, start: int, mark: _Mark) -> bool:
    """Whether a mark that nothing closes opens reasoning: by its name, or as the first thing of the text."""
    before = text[start : mark.start]
    line = before[before.rfind("\n") + 1 :]
    if mark.reasons:
        return not (mark.token and _ANNOUNCED.search(line))  # 判决结果<|cot_start|>{...}: noise
    return not before.strip() and "{" in text[mark.end :]


def _marks(text: str, words: Vocabulary) -> Iterator[_Mark]:
    """The marks that may open or close reasoning, in order."""
    if not any(c in text for c in "<[◁⟨«‹【(") and "{{" not in text:
        return
    for found in _MARK.finditer(text):
        name = found["token"] or found["end_token"] or found["tag"] or found["odd"] or found["square"]
        slash = any(found[f"slash{n}"] for n in range(1, 5))
        token = bool(found["token"] or found["end_token"])
        name = name.replace("▁", "_")
        bare = _PREFIX.sub("", name) or name
        reasons = bool(_REASONS.search(name))
        if not reasons and (_is_known(name, words, token=token) or _is_known(bare, words, token=token)):
            continue
        if (
            found["square"]
            and not slash
            and f"/{name}" not in text
            and (not reasons or found[0][0] not in "[{")
        ):
            continue  # a heading
        if bare.lower() == "channel":
            if _ANSWERS.match(text[found.end() :].lstrip()):
                continue
            reasons = True
        if _NUMBERED.fullmatch(name):
            yield _Mark("numbered", True, True, found.start(), found.end(), True, True)
        elif found["end_token"] or slash or _CLOSES.search(name):
            opens, closes = False, True
        elif _OPENS.search(name) or not token:
            opens, closes = True, False
        else:
            opens, closes = True, bool(found["bar_end"])  # <|x|> may be both
        if not _NUMBERED.fullmatch(name):
            yield _Mark(bare.lower().strip("_"), opens, closes, found.start(), found.end(), reasons, token)


def _is_known(name: str, words: Vocabulary, *, token: bool) -> bool:
    """Whether a mark is known to hold the answer, to lay out a text, or to be a field of the verdict."""
    if token:
        return bool(_TEMPLATE.fullmatch(name) or _ANSWERS.search(name))
    if _LAYOUT.fullmatch(name) or _ANSWERS.search(name) or _TEMPLATE.fullmatch(name):
        return True
    return not re.search(r"[A-Za-z\u4e00-\u9fff]", name) or words.means(name) or len(name) > 24
