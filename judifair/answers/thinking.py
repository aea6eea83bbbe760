"""The reasoning that some models write before their answer: taken away, because drafts are no verdicts."""

from __future__ import annotations

import re

_NAMES = r"(?:think(?:ing)?|thoughts?|reason(?:ing)?|reflection|scratchpad|analysis)"
_OPEN = re.compile(rf"<{_NAMES}>|◁think▷|\[THINK\]", re.IGNORECASE)
_CLOSE = re.compile(rf"</{_NAMES}>|◁/think▷|\[/THINK\]", re.IGNORECASE)
_ENDS_WITH_AN_OBJECT = re.compile(r"\}[\s`]{0,12}\Z")


def without_thinking(text: str) -> tuple[str, bool]:
    """The text after the reasoning, and whether the reasoning never ended (and so no answer was reached).

    Some chat templates swallow the opening tag, so that whatever stands before a closing tag is reasoning.
    Reasoning that is never closed counts as an answer only if the text ends with an object.
    """
    if "<" not in text and "◁" not in text and "[" not in text:
        return text, False
    closed = list(_CLOSE.finditer(text))
    if closed:
        answer = text[closed[-1].end() :]
        again = _OPEN.search(answer)
        return (answer, False) if not again else without_thinking(answer)
    opened = _OPEN.search(text)
    if not opened:
        return text, False
    before = text[: opened.start()]
    if _ENDS_WITH_AN_OBJECT.search(text):
        return before + "\n" + text[text.rfind("{") :], False
    return before, True
