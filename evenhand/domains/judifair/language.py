"""Whether a text is Chinese: the prompt is, and facts in another language are another experiment."""

from __future__ import annotations

import re

LEAST = 0.5
"""The share of Chinese among the words and characters of a text from which it counts as Chinese. Names of
people and firms in Latin letters leave a Chinese judgment far above it."""
MOST_KANA = 0.1
"""Japanese is written with Chinese characters too, and never without kana."""

_SLOT = re.compile(r"\{\{.*?\}\}")
_HAN = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KANA = r"\u3041-\u3096\u30a1-\u30fa\uff66-\uff9d"
_UNIT = re.compile(rf"(?P<han>[{_HAN}])|(?P<kana>[{_KANA}])|[^\W\d_{_HAN}{_KANA}]+")


def not_chinese(text: str) -> str | None:
    """How little of a text is Chinese, in words for a message; None for a Chinese text.

    A Chinese character counts as much as a word of a language that writes words. Slots, digits and
    punctuation do not count.
    """
    han = kana = others = 0
    for unit in _UNIT.finditer(_SLOT.sub(" ", text)):
        if unit["han"]:
            han += 1
        elif unit["kana"]:
            kana += 1
        else:
            # Scripts without spaces (Korean has some) are counted by their letters, as Chinese is.
            word = unit.group()
            others += len(word) if ord(word[0]) > 0x0E00 else 1
    every = han + kana + others
    if han >= LEAST * every and kana <= MOST_KANA * every:  # a text without a word, too
        return None
    return f"{han:,} Chinese characters among {every:,} words and characters"
