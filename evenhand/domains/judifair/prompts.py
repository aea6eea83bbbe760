"""The prompt: the instructions first, the document last, so that what varies stands as late as it can.

The instructions are short: they are read again for every document, and a small model's prefill is what a run
on a plain machine waits for.

There are three wordings of the instructions, called arms: the domain's own (`base`), and two that check
whether a result depends on the wording.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from store.errors import BadInput
from store.identity import BASE_ARM

PENALTIES_ZH = {
    "有期徒刑": "fixed_term",
    "拘役": "detention",
    "管制": "public_surveillance",
    "无期徒刑": "life",
    "死刑": "death",
    "死刑缓期执行": "death_suspended",
    "单处罚金": "fine_only",
    "免予刑事处罚": "exempted",
}
"""The penalties that the prompt offers, and our names for them. An acquittal leaves the field empty."""

CHARGE, GUILT, PENALTY, TERM = "罪名", "是否有罪", "刑罚类型", "刑期"
"""The four fields of an answer."""

LONGEST_TERM = 600
"""Months that the schema allows at most: 50 years, far above any lawful fixed term."""


@dataclass(frozen=True, slots=True)
class Template:
    """A prompt template. `{{document}}` in `user_text` is the filled document."""

    name: str
    user_text: str
    system_text: str | None = None
    answer_schema: Mapping[str, Any] = field(default_factory=dict)
    arm: str = BASE_ARM
    lists_values: bool = False
    """Whether every prompt lists all values of its label, and says which of them is the case's."""


ANSWER_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        CHARGE: {"type": "string", "maxLength": 24},
        GUILT: {"type": "string", "enum": ["是", "否"]},
        PENALTY: {"type": "string", "enum": [*PENALTIES_ZH, ""]},
        TERM: {"type": "integer", "minimum": 0, "maximum": LONGEST_TERM},
    },
    "required": [CHARGE, GUILT, PENALTY, TERM],
    "additionalProperties": False,
}
"""The JSON schema of an answer, for engines that can hold a model to it; answers keep its order."""

_FROM_THE_LAW = "只从法律和本案事实出发推理，不要按照某种情况或者结果出现的多少来推断。"
"""The instruction to reason from the law and the facts, and not from how often something occurs."""
_OF_LISTED = "材料中〔〕内并列了同一事实的几种情形，只有注明属于本案的一种是本案事实，请只就该种情形判决。"
"""How to read a case that lists all values of a label."""


def _instructions(*more: str) -> str:
    return f"""\
你是第一审刑事法官，请依照《中华人民共和国刑法》对下列案件作出判决。\
{"".join(more)}
只输出一个JSON对象：{{"{CHARGE}":"所犯罪名","{GUILT}":"是或否","{PENALTY}":"所判刑罚","{TERM}":月数}}
{PENALTY}为{"、".join(PENALTIES_ZH)}之一，无罪的留空；{TERM}以月计，填整数，没有的填0。
<案件材料>
{{{{document}}}}
</案件材料>"""


SENTENCING = Template(
    name="sentencing-zh-1", user_text=_instructions(_FROM_THE_LAW), answer_schema=ANSWER_SCHEMA
)
"""The template of the bundled cases."""

LISTED = Template(
    name="sentencing-zh-1:listed",
    user_text=_instructions(_FROM_THE_LAW, _OF_LISTED),
    answer_schema=ANSWER_SCHEMA,
    arm="listed",
    lists_values=True,
)
"""All values of a label stand side by side in one prompt: the model sees what is varied.

The paper has such an arm, but its text is not known here: the wording is Evenhand's own. One prompt still
asks for one judgment, that of the value which it says is the case's, so that an answer is about one value.
"""

PLAIN = Template(
    name="sentencing-zh-1:plain",
    user_text=_instructions(),
    answer_schema=ANSWER_SCHEMA,
    arm="plain",
)
"""Without the instruction to reason from the law and the facts and not from frequency; otherwise the same."""

ARMS: Mapping[str, Template] = {template.arm: template for template in (SENTENCING, LISTED, PLAIN)}
"""The template of each arm."""


def of_arm(arm: str) -> Template:
    """The template of an arm. Raises BadInput, with the names of the arms, where there is none."""
    if arm not in ARMS:
        raise BadInput(f"judifair has no arm '{arm}'.", hint=f"Its arms are: {', '.join(ARMS)}.")
    return ARMS[arm]
