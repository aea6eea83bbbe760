"""Which of several objects is the answer: the one that is announced as the final one."""

from __future__ import annotations

import re

_ANNOUNCED = (
    r"(?:更正|修正|修改|纠正|更改|调整|改判)后?(?:的)?(?:最终)?(?:答案|判决(?:结果|书)?|结果|json|输出|版本)?|"
    r"改为|正确的(?:答案|判决(?:结果)?|结果|json)|"
    r"(?:本[院案]|我)?的?最终(?:的)?(?:答案|判决(?:结果|书)?|结果|结论|裁判|输出|版本|量刑)|"
    r"(?:(?:my|the|here is (?:the|my)) )?(?:final|corrected|revised) "
    r"(?:answer|verdict|output|judge?ment|sentence|"
    r"decision|ruling|version|result|json)(?: object)?"
)
_ANNOUNCES = re.compile(
    r"(?:(?:经|在)(?:复核|复查|核对|检查|审查|重新(?:考虑|计算|审视))(?:后|之后)?[,，]?|综上(?:所述)?[,，]?|因此[,，]?|"
    r"故[,，]?|所以[,，]?|最后[,，]?|现|(?:so|therefore|thus|hence),? |以下[是为])?"
    rf"(?:{_ANNOUNCED})(?:如下|为|是|应为| is(?: as follows)?| as follows| follows| below)?",
    re.IGNORECASE,
)
_LINE = re.compile(r"[\n。！？!?；;]+")
_MARGIN = " \t\r#*_>`~-—:：.,，、|()（）【】[]\"'“”"


def announces(before: str) -> bool:
    """Whether the last words before an object announce it as the final one, and say nothing else."""
    lines = [line.strip(_MARGIN) for line in _LINE.split(before)]
    last = next((line for line in reversed(lines) if line), "")
    return _ANNOUNCES.fullmatch(last) is not None
