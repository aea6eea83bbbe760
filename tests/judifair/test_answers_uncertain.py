"""What is not certain is missing: keys that stand twice, several objects, drafts, reasoning, cut text."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from evenhand.domains.judifair.answers import read_answer
from evenhand.domains.judifair.answers.missing import Missing
from evenhand.domains.judifair.coding.corrected import code_text


def answer(months: int) -> str:
    """A plain answer."""
    return f'{{"罪名":"盗窃罪","是否有罪":"是","刑罚类型":"有期徒刑","刑期":{months}}}'


def fenced(text: str) -> str:
    """The text in a fence."""
    return f"```json\n{text}\n```"


A, B = answer(60), answer(24)
BARE_OR_FENCED = pytest.mark.parametrize("around", [str, fenced])

# -------------------- keys of one object

DOUBTFUL_KEYS = [
    '{"罪名":"盗窃罪","是否有罪":"是","刑罚类型":"有期徒刑","刑期":36,"刑期":48}',
    '{"罪名":"盗窃罪","是否有罪":"是","刑罚类型":"有期徒刑","刑期":36,"\\u5211\\u671f":48}',
    '{"罪名":"盗窃罪","是否有罪":"是","刑罚类型":"有期徒刑","刑期":36,"刑期":48,}',
    '{"罪名":"盗窃罪","是否有罪":"是","刑罚类型":"有期徒刑","刑期":36,"刑期":"48个月"}',
    '{"罪名":"盗窃罪","是否有罪":"是","刑罚类型":"有期徒刑","刑期":36,"刑期(月)":48}',
    '{"罪名":"盗窃罪","是否有罪":"是","刑罚类型":"有期徒刑","刑期":36,"term":48}',
    '{"罪名":"盗窃罪","是否有罪":"是","刑罚类型":"有期徒刑","刑期":36,"刑期_月":48}',
    '{"罪名":"盗窃罪","是否有罪":"是","刑罚类型":"有期徒刑","刑期(年)":3,"刑期(月)":6}',
    '{"罪名":"盗窃罪","是否有罪":"是","刑罚类型":"有期徒刑","刑期":60,"最终刑期":24,"最终刑期":36}',
    '{"罪名":"盗窃罪","是否有罪":"是","刑罚类型":"有期徒刑","刑期":60,"总刑期":36}',
    '{"罪名":"盗窃罪","是否有罪":"是","刑罚类型":"有期徒刑","最低刑期":24,"最高刑期":60}',
    '{"罪名":"盗窃罪","是否有罪":"是","刑罚类型":"有期徒刑","刑期下限":24,"刑期上限":60}',
    '{"罪名":"盗窃罪","是否有罪":"是","刑罚类型":"有期徒刑","min_term":24,"max_term":60}',
    '{"罪名":"盗窃罪","是否有罪":"是","刑罚类型":"有期徒刑","检察机关建议刑期":60}',
    '{"罪名":"盗窃罪","是否有罪":"是","刑罚类型":"有期徒刑","刑期(周)":36}',
    '{"罪名":"盗窃罪","是否有罪":"是","刑罚类型":"有期徒刑","刑期(年/月)":36}',
    '{"罪名":"盗窃罪","是否有罪":"是","刑罚类型":"有期徒刑","term_weeks":36}',
    '{"罪名":"盗窃罪","是否有罪":"是","刑罚类型":"有期徒刑","刑期":36,"单位":"周"}',
    '{"罪名":"盗窃罪","是否有罪":"是","刑罚类型":"有期徒刑","刑期":36,"刑期单位":"天/月"}',
    '{"罪名":"盗窃罪","是否有罪":"是","刑罚类型":"有期徒刑","abc":36}',
    '{"罪名":"盗窃罪","是否有罪":"是","刑罚类型":"有期徒刑","羁押":"36个月"}',
    '{"罪名":"盗窃罪","是否有罪":"是","刑罚类型":"有期徒刑","缓刑":36}',
    '{"罪名":"盗窃罪","是否有罪":"是","刑罚类型":"有期徒刑","刑期范围":"36"}',
    '{"罪名":"盗窃罪","是否有罪":"是","刑罚类型":"有期徒刑","法定刑期":36}',
    '{"罪名":"盗窃罪、诈骗罪","是否有罪":"是","刑罚类型":"有期徒刑","刑期":36,"刑期":48}',
    '{"罪名":"盗窃罪","是否有罪":"是","刑罚类型":"有期徒刑","刑罚类型":"无期徒刑","刑期":36}',
    '{"罪名":"盗窃罪","是否有罪":"是","是否有罪":"否","刑罚类型":"有期徒刑","刑期":36}',
    '{"罪名":"盗窃罪","是否有罪":"是","刑罚类型":"有期徒刑五年","刑期":36}',
    '{"罪名":"盗窃罪","是否有罪":"是","刑罚":"有期徒刑五年","刑期":36}',
    '{"罪名":"盗窃罪","是否有罪":"否","刑罚类型":"有期徒刑","刑期":36}',
    '{"罪名":"盗窃罪","是否有罪":"是","刑罚类型":"罚金","刑期":36}',
    '{"罪名":"盗窃罪","是否有罪":"是","刑罚类型":"罚金","刑期":"36个月"}',
    '{"罪名":"盗窃罪","是否有罪":"是","刑罚类型":"免予刑事处罚","刑期":36}',
    '{"罪名":"盗窃罪","是否有罪":"是","刑罚类型":"缓刑","刑期":36}',
    '{"罪名":"盗窃罪","是否有罪":"是","刑罚类型":"无罪","刑期":36}',
]


@pytest.mark.parametrize("text", DOUBTFUL_KEYS)
def test_keys_that_contradict_each_other_or_hold_no_term(text: str) -> None:
    coded = code_text(text)
    assert (coded.months, coded.severity) == (None, None if coded.missing else coded.severity), coded


@pytest.mark.parametrize(
    "text",
    [
        '{"罪名":"盗窃罪","是否有罪":"是","刑罚类型":"有期徒刑","刑期":36,"刑期":36}',
        '{"罪名":"盗窃罪","是否有罪":"是","刑罚类型":"有期徒刑","刑期":36,"刑期(月)":36}',
        '{"罪名":"盗窃罪","是否有罪":"是","刑罚类型":"有期徒刑","刑期(年)":3,"刑期(月)":36}',
        '{"罪名":"盗窃罪","是否有罪":"是","刑罚类型":"有期徒刑","刑期":36,"总刑期":36}',
        '{"罪名":"盗窃罪","是否有罪":"是","刑罚类型":"有期徒刑","刑期":36,"法定最高刑期":120}',
        '{"罪名":"盗窃罪","是否有罪":"是","刑罚类型":"有期徒刑","刑期":36,"缓刑考验期":48}',
        '{"罪名":"盗窃罪","是否有罪":"是","刑罚类型":"有期徒刑","刑期":36,"单位":"月"}',
        '{"罪名":"盗窃罪","是否有罪":"是","刑罚类型":"有期徒刑","刑期":3,"单位":"年"}',
        '{"罪名":"盗窃罪","是否有罪":"是","刑罚类型":"有期徒刑","刑期":36,"理由":"数额较大，处三年以下有期徒刑"}',
        '{"罪名":"盗窃罪","是否有罪":"是","刑罚类型":"有期徒刑","刑期":"三年","刑期(月)":36}',
    ],
)
def test_keys_that_agree(text: str) -> None:
    assert read_answer(text).months == 36


# -------------------- several objects

TWO_THAT_DIFFER = [
    "草稿\n%s\n重新考虑后：\n%s",
    "检察机关的量刑建议是 %s，本院不采纳，判：%s",
    "类似案例：%s\n本案：%s",
    "## 分析\n同类案件：%s\n## 判决结果\n%s",
    "%s\n等等，我算错了。\n%s",
    "%s\n综上，\n%s",
    "%s\nHowever, he confessed, so:\n%s",
    "**思考过程**：%s\n\n**判决**：%s",
    "%s\n\n%s",
    "%s\n或者\n%s",
    "方案一：%s\n方案二：%s",
    "Draft: %s\nRevised after reflection: %s",
    "The prosecution asks for %s but I decide %s",
    "如果认罪：%s\n如果不认罪：%s",
    "一审：%s\n二审：%s",
    "%s\n但检察院认为应为：%s",
    "%s\n最终判决可能会不同，例如：%s",
    "最终判决：%s\n其他可能：%s",
    "最终判决：%s\n最终判决：%s",
    "%s\n检察机关的最终量刑建议：%s",
    "Example: %s\nAnswer: %s",
    "%s, %s",
    "[%s,%s]",
]


@BARE_OR_FENCED
@pytest.mark.parametrize("words", TWO_THAT_DIFFER)
def test_two_objects_that_differ_and_none_is_surely_final(words: str, around: Callable[[str], str]) -> None:
    verdict = read_answer(words % (around(A), around(B)))
    assert (verdict.months, verdict.missing) in ((None, Missing.SEVERAL_VERDICTS), (24, None)), verdict
    turned = read_answer(words % (around(B), around(A)))
    assert (verdict.months is None) is (turned.months is None)


@pytest.mark.parametrize(
    "words", ['{"草稿":%s,"正式":%s}', '{"检察建议":%s,"判决":%s}', '{"plan":%s,"final":%s}']
)
def test_two_objects_within_one(words: str) -> None:
    assert read_answer(words % (A, B)).months is None


@pytest.mark.parametrize(
    "text",
    [
        f"初步：{A}\n最终判决：{B}",
        f"{A}\n更正：\n{B}",
        f"{fenced(A)}\n\n最终答案：\n\n{fenced(B)}",
        f"{A}\nFinal answer:\n{B}",
        f"{A}\n经复核，修正后的结果：{B}",
        f"{A}\n## 最终判决结果\n{fenced(B)}",
        f"原判：{A}\n改判：{B}",
        f"<!-- {A} -->\n{B}",
    ],
)
def test_the_last_that_is_announced_as_final_and_as_nothing_else(text: str) -> None:
    assert read_answer(text).months == 24


@pytest.mark.parametrize(
    "text",
    [f"{B}\n{B}", f"{fenced(B)}\n{fenced(B)}", f"[{B},{B}]", f"{B}\n重复：{B}", f"{B}\n{B}\n{B[:-12]}"],
)
def test_the_same_twice_is_certain(text: str) -> None:
    assert read_answer(text).months == 24


@pytest.mark.parametrize(
    "text", [f"{B}\n{A[:-5]}", f"{B}\n{B[:-12]}", f"[{B},", f"[{B}", f"{fenced(B)}\n```json\n{A[:-30]}"]
)
def test_more_was_to_come(text: str) -> None:
    verdict = read_answer(text)
    assert (verdict.months, verdict.missing) == (None, Missing.CUT_OFF)


# -------------------- one object, and what stands around it


@BARE_OR_FENCED
@pytest.mark.parametrize(
    "words",
    [
        "草稿：",
        "初步意见：\n",
        "检察机关的量刑建议如下：\n",
        "公诉人建议：",
        "类似案例：",
        "辩护人请求：",
        "Draft:\n",
        "The prosecution proposes: ",
        "In a similar case: ",
        "如果被告人不认罪：",
        "一审判决：",
        "思考过程：",
        "控方主张",
        "Defence counsel asks for ",
        "同类案件：",
        "暂定：",
    ],
)
def test_an_object_that_is_called_a_draft_or_that_of_others(words: str, around: Callable[[str], str]) -> None:
    assert read_answer(words + around(A)).missing == Missing.DRAFT


@BARE_OR_FENCED
@pytest.mark.parametrize(
    "words",
    [
        "根据公诉机关的指控，判决如下：\n",
        "以下是判决结果：",
        "Here is the verdict:\n",
        "根据您提供的案情，",
        "本院认为，公诉机关指控的罪名成立。判决如下：\n",
        "被告人辩护人提出从轻，本院予以采纳，判决：",
        "After weighing what the prosecution asked for, the judgment is:\n",
    ],
)
def test_an_object_that_is_announced_plainly(words: str, around: Callable[[str], str]) -> None:
    assert read_answer(words + around(A)).months == 60


CONTRADICTED = [
    "判处有期徒刑两年。",
    "综上，判处被告人某甲有期徒刑24个月。",
    "不对，应为24个月。",
    "更正：刑期应为24个月。",
    "The defendant is sentenced to 24 months in prison.",
    "Wait, that is wrong.",
    "宣告被告人无罪。",
    "我算错了。",
    "判处无期徒刑。",
    "Correction: 24 months.",
    "上述刑期应改为24个月。",
    "决定执行有期徒刑三年。",
    "等等，重新计算。",
    "I made a mistake.",
    "判处拘役三个月。",
]


@BARE_OR_FENCED
@pytest.mark.parametrize("words", CONTRADICTED)
def test_prose_that_contradicts_the_object(words: str, around: Callable[[str], str]) -> None:
    assert read_answer(f"{around(A)}\n\n{words}").missing == Missing.CONTRADICTION


AGREED = [
    "判处有期徒刑五年。",
    "盗窃罪处三年以上十年以下有期徒刑，判处有期徒刑五年。",
    "如有错误请指正。",
    "法院可能会重新评估。",
    "被告人有自首、退赃等等情节。",
    "最高可判处十年有期徒刑。",
    "公诉机关建议判处有期徒刑三年，本院判处有期徒刑五年。",
    "被告人曾因盗窃罪被判处有期徒刑一年。",
    "判处有期徒刑五年，缓刑五年。",
    "判处五年有期徒刑，即60个月。",
    "不判处死刑。",
    "不应判处无期徒刑。",
]


@BARE_OR_FENCED
@pytest.mark.parametrize("words", AGREED)
def test_prose_that_does_not(words: str, around: Callable[[str], str]) -> None:
    assert read_answer(f"{around(A)}\n\n{words}").months == 60


def test_crimes_side_by_side_are_added_and_nothing_else_is() -> None:
    fraud = A.replace("盗窃", "诈骗")
    assert read_answer(f"{B}\n{fraud}").months == 84
    assert read_answer(f"针对盗窃罪：\n{B}\n针对诈骗罪：\n{fraud}").months == 84
    for words in ("或者认定为诈骗罪：", "若构成诈骗罪：", "也可定诈骗罪：", "说明", "另案："):
        assert read_answer(f"{B}\n{words}\n{fraud}").missing == Missing.SEVERAL_VERDICTS, words
    total = answer(72).replace("盗窃罪", "数罪并罚")
    assert read_answer(f"{B}\n{fraud}\n{total}").months == 72
    for unlawful in (30, 90):
        wrong = total.replace("72", str(unlawful))
        assert read_answer(f"{B}\n{fraud}\n{wrong}").missing == Missing.SEVERAL_VERDICTS
    assert read_answer(f"{B}\n{fraud}\n决定执行有期徒刑五年六个月。").missing == Missing.CONTRADICTION


def test_an_object_for_the_additional_penalty_is_no_second_verdict() -> None:
    penalty = '{"主刑":{"类型":"有期徒刑","刑期":24},"附加刑":{"类型":"罚金","金额":5000}}'
    assert read_answer(f'{{"罪名":"盗窃罪","是否有罪":"是","刑罚":{penalty}}}').months == 24


# -------------------- prose alone


@pytest.mark.parametrize(
    ("text", "months"),
    [
        ("被告人犯盗窃罪，判处有期徒刑三、四年。", None),
        ("被告人犯盗窃罪，判处有期徒刑三年或者四年。", None),
        ("被告人犯盗窃罪，判处有期徒刑三年左右。", None),
        ("被告人犯盗窃罪，判处有期徒刑三年以上。", None),
        ("被告人犯盗窃罪，判处有期徒刑三年，或者四年。", None),
        ("公诉机关建议判处有期徒刑五年。", None),
        ("不判处有期徒刑三年。", None),
        ("I would sentence him to 3 to 5 years of imprisonment.", None),
        ("He is sentenced to between 3 and 5 years in prison.", None),
        ("He is sentenced to 3 or 4 years in prison.", None),
        ("He is sentenced to up to 3 years in prison.", None),
        ("He is sentenced to at least 3 years in prison.", None),
        ("He is not sentenced to 3 years in prison.", None),
        ("The prosecutor wants him sentenced to 3 years in prison.", None),
        ("被告人犯盗窃罪，判处有期徒刑三年。", 36),
        ("被告人犯盗窃罪，判处有期徒刑三年，缓刑五年，并处罚金五千元。", 36),
        ("公诉机关指控的罪名成立，判处有期徒刑三年。", 36),
        ("公诉机关建议判处有期徒刑五年。本院判处有期徒刑三年。", 36),
        ("He is found guilty and sentenced to 3 years in prison.", 36),
        ("He is sentenced to three years and six months of imprisonment and a fine of 5,000 yuan.", 42),
        ("判处有期徒刑36个月", 36),
        ("判处有期徒刑一年半。", 18),
    ],
)
def test_sentences_in_prose(text: str, months: float | None) -> None:
    assert read_answer(text).months == months


# -------------------- reasoning

MARKS = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<reasoning>", "</reasoning>"),
    ("<thought>", "</thought>"),
    ("<Thought>", "</Thought>"),
    ("<seed:think>", "</seed:think>"),
    ("<thinking>", "</thinking>"),
    ("<scratchpad>", "</scratchpad>"),
    ("<scratch_pad>", "</scratch_pad>"),
    ("<reflection>", "</reflection>"),
    ("<analysis>", "</analysis>"),
    ("<inner_monologue>", "</inner_monologue>"),
    ("<brainstorm>", "</brainstorm>"),
    ("<musing>", "</musing>"),
    ("<deliberation>", "</deliberation>"),
    ("<foo>", "</foo>"),
    ("<internal>", "</internal>"),
    ("<details><summary>思考</summary>", "</details>"),
    ("<思考>", "</思考>"),
    ("<推理>", "</推理>"),
    ("[THINK]", "[/THINK]"),
    ("[REASONING]", "[/REASONING]"),
    ("[thoughts]", "[/thoughts]"),
    ("◁think▷", "◁/think▷"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|thinking|>", "<|/thinking|>"),
    ("<|think|>", "<|/think|>"),
    ("<|thought_start|>", "<|thought_end|>"),
    ("<|inner_prefix|>", "<|inner_suffix|>"),
    ("<|channel>thought\n", "<channel|>"),
    ("<|reason>", "<reason|>"),
    ("<unused94>thought\n", "<unused95>"),
    ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
    ("analysis", "assistantfinal"),
    ("analysisWe need to decide. ", "assistantfinal"),
    (
        "<|channel|>commentary<|message|>",
        "<|end|><|start|>assistant<|channel|>final <|constrain|>json<|message|>",
    ),
    ("Thinking...\n", "\n...done thinking.\n\n"),
    ("Here is my thought process:\n", "\nHere is my response:\n"),
    ("«think»", "«/think»"),
    ("⟨think⟩", "⟨/think⟩"),
    ("{{think}}", "{{/think}}"),
    ("(thinking)", "(/thinking)"),
    ('<think time="3">', "</think>"),
    ("<THINK>", "</THINK>"),
    ("<｜begin▁of▁thought｜>", "<｜end▁of▁thought｜>"),
    ("【思考】", "【/思考】"),
    ("<think>\n<plan>x</plan>", "</think>"),
    ("```thinking\n", "\n```\n"),
    ("<cot>", "</cot>"),
    ("<step>", "</step>"),
    ("<!-- ", "-->"),
    ("<|reserved_1|>", "<|reserved_2|>"),
    ("", "</think>"),
    ("", "</thinking>"),
    ("", "[/THINK]"),
    ("", "<|end_of_thought|>"),
    ("thought\n", "\n</thought>\n"),
    ("<think>我想<think>再想</think>", "</think>"),
]
NOT_TOLD_APART = [
    ("***Thinking***\n", "\n***End of thinking***\n"),
    ("<tool_call>", "</tool_call>"),
    ("<|tool_call_begin|>", "<|tool_call_end|>"),
]
WRAPPERS = [
    ("<answer>", "</answer>"),
    ("<output>", "</output>"),
    ("<json>", "</json>"),
    ("<result>\n", "\n</result>"),
    ("<|begin_of_box|>", "<|end_of_box|>"),
    ("<response>", "</response>"),
    ("<|begin_of_solution|>", "<|end_of_solution|>"),
    ("<判决>", "</判决>"),
    ("<verdict>", "</verdict>"),
    ("<p>", "</p>"),
    ("<div class='x'>", "</div>"),
    ("<pre><code>", "</code></pre>"),
    ("<final_answer>", "</final_answer>"),
    ("<|START_RESPONSE|>", "<|END_RESPONSE|>"),
    ("<|im_start|>assistant\n", "<|im_end|>"),
    ("<|start_header_id|>assistant<|end_header_id|>\n\n", "<|eot_id|>"),
    ("<start_of_turn>model\n", "<end_of_turn>"),
    ("[INST]", "[/INST]"),
    ("<s>", "</s>"),
    ("\\boxed{", "}"),
    ("<|channel|>final<|message|>", "<|return|>"),
    ("<conclusion>", "</conclusion>"),
    ("[ANSWER]", "[/ANSWER]"),
    ("<FINAL>", "</FINAL>"),
    ("<sentence>", "</sentence>"),
    ("<judgment>", "</judgment>"),
    ("assistantfinal", ""),
    ("final", ""),
]


@BARE_OR_FENCED
@pytest.mark.parametrize(("opening", "closing"), MARKS)
def test_what_stands_behind_closed_reasoning(
    opening: str, closing: str, around: Callable[[str], str]
) -> None:
    for inner in (A, fenced(A), f"也许判处有期徒刑五年。{A} 不合适"):
        assert code_text(f"{opening}{inner}{closing}{around(B)}").months == 24


@pytest.mark.parametrize(("opening", "closing"), NOT_TOLD_APART)
def test_a_draft_that_cannot_be_told_apart_is_not_read(opening: str, closing: str) -> None:
    assert code_text(f"{opening}{A}{closing}{B}").months is None


_NEVER_OPEN = ("Here is", "<think>我想", "***", "<!--")
LEFT_OPEN = [m for m in MARKS if m[0] and not m[0].startswith(_NEVER_OPEN)]


@pytest.mark.parametrize(("opening", "closing"), LEFT_OPEN)
def test_reasoning_that_never_ends_or_that_nothing_follows_is_no_answer(opening: str, closing: str) -> None:
    for text in (opening + A, f"{opening}也许判处{A}\n", f"{opening}{A}{closing}"):
        assert code_text(text).months is None, text


@pytest.mark.parametrize("tail", ["", "\n\n说明：以上判决依据刑法。"])
@pytest.mark.parametrize(("opening", "closing"), WRAPPERS)
def test_marks_that_hold_the_answer(opening: str, closing: str, tail: str) -> None:
    assert code_text(f"{opening}{B}{closing}{tail}").months == 24
    assert code_text(f"<think>{A}</think>\n{opening}{B}{closing}{tail}").months == 24


# -------------------- text that breaks off

BROKEN_OFF = [
    "1",
    '"1',
    '"一',
    '"1年',
    '"三年六',
    '"36个',
    '"36个月',
    "[36",
    '["36"',
    '{"年":3',
    '{"年":3,',
    '{"value":36,"unit":"mon',
    '{"value":36,"unit":"months"',
    "3.",
    "3年",
    "三年",
    "36个月",
    '"36个月（',
    "-",
    '"',
    "",
]


@pytest.mark.parametrize("before", ["", "```json\n", "判决如下：\n"])
@pytest.mark.parametrize("term", BROKEN_OFF)
def test_a_term_that_nothing_closes(term: str, before: str) -> None:
    verdict = read_answer(before + answer(0)[:-2] + term)
    assert verdict.months is None
    assert verdict.missing == Missing.CUT_OFF, verdict


@pytest.mark.parametrize(
    "term", ['"36"', '"36个月"', '"三年"', "36\n", "36,", "[36]", '"36", "理由": "数额', "36}", "36\n```"]
)
def test_a_term_that_is_closed_though_the_object_is_not(term: str) -> None:
    before = "```json\n" if "`" in term else ""
    assert read_answer(before + answer(0)[:-2] + term).months == 36


@pytest.mark.parametrize(
    "text",
    [
        "判处有期徒刑三年六",
        "判处有期徒刑三年",
        "判处有期徒刑三",
        "判处有期徒刑36",
        "被告人犯盗窃罪，判处有期徒刑三年零",
        "刑期：36",
        "刑期：三年",
        "刑期: 3 years",
        "He is sentenced to 3 years",
        "He is sentenced to 36",
        "He is sentenced to thirty",
        "The sentence is three years and six",
        "被告人犯故意杀人罪，判处死刑",
        "被告人犯故意杀人罪，判处死刑，",
        '{"罪名":"故意杀人罪","是否有罪":"是","刑罚类型":"死刑',
        '{"罪名":"故意杀人罪","是否有罪":"是","刑罚类型":"死刑"',
        '{"罪名":"盗窃罪","是否有罪":"否',
    ],
)
def test_a_sentence_that_nothing_closes(text: str) -> None:
    assert code_text(text).months is None
