"""What the prose around an object says of the term: whether years were meant, and the term itself if left
blank.

Only statements of *this* sentence count: a length near a word of sentencing that is no bound, no range of a
statute, no suspension period, no date. Prose is full of decoys (法定刑为三年以上十年以下, 最高可判十五年).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from functools import cached_property

from judifair.answers.lengths import Length, is_bound, lengths, without_other_lengths
from judifair.answers.writing import tight

LONGEST_IN_YEARS = 25
"""No fixed term is longer, so that a larger bare number can only be months."""

_LONGEST = 40_000
_OF_A_SENTENCE = re.compile(
    r"判|刑|处|徒|监禁|量|转[换換]|換算|换算|转为|sentenc|imprison|prison|term|penalt|punish|convert|jail"
)
_NOT_OF_IT = re.compile(
    r"^(?:以?前|之前|以?后|之后|以?来|之久|间(?!有期)|里|内|期间|ago\b| later\b|级|代|版|度)"
)
_FACTOR = re.compile(r"[×x*/÷] ?$")
_PRONOUNCED = re.compile(
    r"(?:判处?|判决|判刑|处以|执行|刑期|徒刑|监禁|sentence[d]?(?: is| of| to| him to| her to)?|"
    r"imprisonment(?: of| for)?|imposed)"
    r"[^。;；\n]{0,16}$"
)
_TO_BE_EXECUTED = re.compile(r"(?:决定|合并|实际|最终|应)执行[^。;；\n]{0,14}$|combined sentence of $")
_HYPOTHETICAL = re.compile(
    r"(?:可能|可以|一般|通常|如果|若|假如|法定|规定|对于.{0,12}罪(?:通常|一般)|应处|\bmay\b|\bmight\b|"
    r"\bcould\b|\bcan\b|\bif\b|"
    r"typically|usually|generally|carries)[^。;；\n]{0,24}$"
)


class Prose:
    """The prose of one answer; everything is computed only when asked for."""

    def __init__(self, text: str) -> None:
        self._text = text[:_LONGEST]

    @cached_property
    def _tight(self) -> str:
        return without_other_lengths(tight(self._text.replace("*", "")))

    @cached_property
    def _stated(self) -> list[Length]:
        return list(_of_this_sentence(self._tight))

    def means_years(self, number: float, others: Iterable[str] = ()) -> bool:
        """Whether a bare `number` is said to be years: the prose states it in years and never in months.

        `others` are further texts that belong to the answer: reasons inside the object, its penalty field.
        """
        if number > LONGEST_IN_YEARS:
            return False
        stated = list(self._stated)
        for text in others:
            stated.extend(_of_this_sentence(without_other_lengths(tight(text[:2000])), short=True))
        years = any(s.unit == "year" and math.isclose(s.months, number * 12) for s in stated)
        months = any(s.unit == "month" and math.isclose(s.months, number) for s in stated)
        return years and not months

    def sentence_months(self, others: Iterable[str] = ()) -> float | None:
        """The term that the prose pronounces, in months: the one to be executed, or the only one there is."""
        pronounced: set[float] = set()
        for text in (self._tight, *(without_other_lengths(tight(o[:2000])) for o in others)):
            executed = []
            for length in _of_this_sentence(text):
                before = text[max(0, length.start - 40) : length.start]
                if _TO_BE_EXECUTED.search(before):
                    executed.append(length.months)
                if _PRONOUNCED.search(before) and not _HYPOTHETICAL.search(before):
                    pronounced.add(round(length.months, 6))
            if len(set(executed)) == 1:
                return round(executed[0], 6)
        return pronounced.pop() if len(pronounced) == 1 else None


def _of_this_sentence(text: str, *, short: bool = False) -> Iterator[Length]:
    for length in lengths(text):
        before = text[max(0, length.start - 28) : length.start]
        after = text[length.end : length.end + 28]
        if is_bound(text, length) or _FACTOR.search(before) or _NOT_OF_IT.match(after):
            continue
        if short or _OF_A_SENTENCE.search(before) or _OF_A_SENTENCE.search(after):
            yield length
