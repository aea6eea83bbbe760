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

from evenhand.audit.answers.writing import tight
from evenhand.domains.judifair.answers.attribution import is_of_another, is_supposed
from evenhand.domains.judifair.answers.lengths import Length, is_bound, lengths, without_other_lengths
from evenhand.domains.judifair.answers.pronounced import Statement, statements

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
# A sentence of the other kind, said of this case: 宣告无罪.
_ACQUITTED = re.compile(r"宣告(?:被告人?)?(?:某甲)?无罪|\bis (?:hereby )?acquitted\b")
# Behind an object: that it was wrong. 等等 counts only where a sentence begins: it also means "and so on".
_RETRACTS = re.compile(
    r"[算写弄搞判看记]错了?|(?<![如若])有误[,，。]|更正|纠正(?:如下|为|[前上])|撤回(?:[前上]|以上)|"
    r"(?:^|[\n。!?！？;；])\s{0,3}(?:等等|等一下|不对|不[,，]|(?:让我|我|现)?重新(?:考虑|计算|审视|评估|判断|思考|量刑))|"
    r"应当?(?:改|更改|调整|修正)为|"
    r"(?:^|[\n.!?])\s{0,3}(?:wait\b|hold on\b|correction:|no, )|"
    r"\b(?:scratch that|on second thoughts?|let me (?:reconsider|recalculate|correct|redo|rethink)|"
    r"i made (?:a|an) (?:mistake|error)|my mistake|that(?:'s| is) wrong|"
    r"should (?:actually|instead|rather) be)\b",
    re.IGNORECASE,
)


# A length that is said to be the right one, without a word of pronouncing.
_CORRECTS_BEFORE = re.compile(
    r"(?:其实|实际上?|正确的?|应当?|应该)(?:[为是判处应]{1,3})(?:有期徒刑)?$|"
    r"\bi meant $|\bshould (?:actually |instead )?(?:be|have been) $|\b(?:actually|instead|"
    r"rather),? (?:it is |it's )?$"
)
_CORRECTS_AFTER = re.compile(
    r"^ ?(?:of imprisonment |in prison )?(?:is|would be|seems|is the) (?:more |most )?"
    r"(?:appropriate|fitting|suitable|better|correct|right|fair)|"
    r"^(?:的?有期徒刑)?(?:更|较|最)?为?(?:合适|适当|妥当|恰当|适宜|准确|正确)"
)
_OF_THE_RANGE = re.compile(
    r"起点|基准|最[高低]|上限|下限|减少|增加|\b(?:maximum|minimum|starting|reduc\w+)\b"
)
# 刑期以年为单位: the unit of the bare number, where it is not months
_OTHER_UNIT = re.compile(
    r"(?:刑期|期限)[^,，。;；\n]{0,6}?(?:单位[为是:：]?|[以按]) ?[\"“「]?(?:年(?![龄限])|周|星期|天|"
    r"日(?![常期起])|小时|季)(?!.{0,8}[换转])|"
    r"[(（] ?单位[:：]? ?(?:年|周|星期|天|日|小时|季)|"
    r"\b(?:terms?|sentences?|durations?|units?) (?:is|are) (?:given |expressed |stated |"
    r"measured )?(?:in )?(?:years|weeks|days)\b",
    re.IGNORECASE,
)


class Prose:
    """The prose of one answer; everything is computed only when asked for."""

    def __init__(self, text: str, behind: str = "") -> None:
        """`behind` is what of the text stands behind the last object."""
        self._text = text[:_LONGEST]
        self._behind = behind[:_LONGEST]

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
        spoken = [s for text in (self._text, *others) for s in _spoken(text)]
        found = [s for s in spoken if s.penalty == "fixed_term"]
        found = [s for s in found if s.executed] or found
        if any(s.missing or not s.sure for s in found):
            return None
        said = {round(s.months, 6) for s in found if s.months is not None}
        return said.pop() if len(said) == 1 else None

    def states_other_unit(self, others: Iterable[str] = ()) -> bool:
        """Whether the text, or one of `others` in the object, says that the term's unit is not the month."""
        return any(_OTHER_UNIT.search(text) for text in (self._text, *others))

    def contradicts(self, penalty: str, months: float | None) -> bool:
        """Whether the prose pronounces another sentence than an object's, or takes the object back."""
        if _RETRACTS.search(self._behind) or (months is not None and _is_corrected(self._behind, months)):
            return True
        if penalty in ("none", "unparseable"):
            return False
        if penalty != "acquitted" and _ACQUITTED.search(self._tight):
            return True
        found = [s for s in _spoken(self._text) if s.missing is None]
        found = [s for s in found if s.executed] or found
        kinds = {s.penalty for s in found}
        if len(kinds) == 1 and kinds.isdisjoint({penalty, "fine_only"}):
            return True
        if months is None or not kinds <= {penalty}:
            return False
        said = [s.months for s in found if s.months is not None]
        if not said or any(math.isclose(s, months, abs_tol=0.51) for s in said):
            return False
        return len(set(said)) == 1 or not max(said) <= months <= sum(said)


def _is_corrected(behind: str, months: float) -> bool:
    """Whether behind an object another length is said to be the right one."""
    for part in re.split(r"[。!?！？\n;；]|\. ", behind):
        clause = tight(part)
        if is_supposed(clause) or is_of_another(clause, 0, len(clause)) or _OF_THE_RANGE.search(clause):
            continue
        for length in lengths(clause):
            right = _CORRECTS_BEFORE.search(clause[: length.start]) or _CORRECTS_AFTER.match(
                clause[length.end :]
            )
            if right and not math.isclose(length.months, months, abs_tol=0.51):
                return True
    return False


def _spoken(text: str) -> list[Statement]:
    return statements(text.replace("*", "")[:_LONGEST])


def _of_this_sentence(text: str, *, short: bool = False) -> Iterator[Length]:
    for length in lengths(text):
        before = text[max(0, length.start - 28) : length.start]
        after = text[length.end : length.end + 28]
        if is_bound(text, length) or _FACTOR.search(before) or _NOT_OF_IT.match(after):
            continue
        if short or _OF_A_SENTENCE.search(before) or _OF_A_SENTENCE.search(after):
            yield length
