"""Several verdicts in one answer: whose they are, and which of them is the answer.

In this order:

1. Of named defendants the first one's (某甲's) verdicts count.
2. A later object announced as the correction or the final answer replaces those before it.
3. An object that calls itself the total (数罪并罚) is the answer.
4. Objects side by side in one block, each complete, guilty, and for a charge of its own, are the crimes of
   one defendant: the heaviest kind absorbs the others, and fixed terms are added, as the prompt asked for
   no object per crime. (A court would fix a term between the longest and the sum; the note gives that
   range.)
5. Otherwise the first is the answer. A fence of its own is an answer of its own, and so are two objects for
   the same charge, or for a crime and for handling its proceeds, which nobody is convicted of together:
   other defendants'.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import combinations

from judifair.answers.judging import Judgment
from judifair.answers.verdict import Penalty


@dataclass(frozen=True, slots=True)
class Item:
    """One verdict and where it stood."""

    judgment: Judgment
    owner: str | None
    block: int
    before: str
    cut: bool


_CORRECTS = re.compile(
    r"更正|修正|纠正|修改后|改为|正确的(?:答案|判决|结果|json)|最终(?:的)?(?:答案|判决|结果|输出|版本)|"
    r"final (?:answer|verdict|output)|corrected|revised",
    re.IGNORECASE,
)
# Headings and phrases that open a defendant's part, not every mention: 某乙 may be the victim.
_DEFENDANT = re.compile(
    r"(?:被告人?|嫌疑人|defendant)\s{0,3}[:：]?\s{0,3}(某?[甲乙丙丁戊己庚]|[一二三四五六]|[1-6AB]\b)"
    r"|(?:^|[\n对于关针#*])\s{0,3}(某[甲乙丙丁戊己庚])|(另一|其他|其余|第二)[名个位]?被告",
    re.IGNORECASE,
)
_ALTERNATIVE = re.compile(
    r"^[\s,，。.]*(?:或者?|或是|or|alternatively)[\s,，:：]*$|方案[二2]|另一种(?:可能|判决|方案)",
    re.IGNORECASE,
)
_TOTAL = re.compile(
    r"数罪并罚|合并(?:执行|处罚|刑期)|决定执行|总(?:计|和|刑期)|合计|combined|total", re.IGNORECASE
)
_RECEIVING = re.compile(r"掩饰|隐瞒犯罪|窝[藏赃]|包庇|收购赃物|洗钱")
_ANOTHER_CRIME = re.compile(
    r"(?:对于?|针对|关于|就)[^。\n]{0,24}罪|第[二三四五]个?(?:罪|项)|罪名?[二三四五2345]|\bcrime \d",
    re.IGNORECASE,
)
_A_CHARGE = re.compile(r"[\u4e00-\u9fff]{2,}")
_LATIN = re.compile(r"[A-Za-z]{3,}")
_CONCURRENT: tuple[Penalty, ...] = (
    "death", "death_suspended", "life", "fixed_term", "detention", "public_surveillance", "fine_only",
)  # fmt: skip


def choose(items: list[Item]) -> tuple[Judgment, str | None]:
    """The verdict that several are, and a note on how it was found. `items` is not empty."""
    if len(items) == 1:
        return items[0].judgment, None
    owners = _owners(items)
    if len({o for o in owners if o}) > 1:
        first = next((o for o in owners if o and "甲" in o), owners[0])
        mine = [replace(i, owner=None) for i, o in zip(items, owners, strict=True) if o == first]
        judgment, note = choose([replace(mine[0], before=""), *mine[1:]])
        return judgment, _joined(f"the first defendant's of {len(items)} objects", note)
    for i in range(len(items) - 1, 0, -1):
        if _CORRECTS.search(items[i].before) and not _CORRECTS.search(items[0].before):
            judgment, note = choose([replace(items[i], before=""), *items[i + 1 :]])
            return judgment, _joined("the last of several, announced as final", note)
    said = {(i.judgment.penalty, i.judgment.months, i.judgment.guilty, i.judgment.charge) for i in items}
    if len(said) == 1:
        return items[0].judgment, f"the same verdict {len(items)} times"
    if any(_ALTERNATIVE.search(i.before) for i in items[1:]):
        if len({(i.judgment.penalty, i.judgment.months) for i in items}) == 1:
            return items[0].judgment, "alternatives that agree"
        return _undecided(items), "alternatives, and the answer decides for none"
    total = [i for i in items if _is_total(i, items)]
    if len(total) == 1 and total[0].judgment.penalty in _CONCURRENT:
        return total[0].judgment, f"the total of {len(items)} objects"
    if _crimes_of_one(items):
        return _together(items)
    legible = [i for i in items if i.judgment.penalty not in ("none", "unparseable")]
    return (legible or items)[0].judgment, f"the first of {len(items)} objects"


def _is_total(item: Item, items: list[Item]) -> bool:
    """Whether an object says that it is the total, or names every charge of the others in its block."""
    charge = item.judgment.charge or ""
    if _TOTAL.search(charge) or (_TOTAL.search(item.before) and item is items[-1]):
        return True
    others = [i for i in items if i is not item and i.block == item.block]
    return len(others) >= 2 and all((o.judgment.charge or "?") in charge for o in others)


def _owners(items: list[Item]) -> list[str | None]:
    """Whose each object is, by itself or by the prose before it; an unnamed one is of the last named."""
    owners: list[str | None] = []
    last: str | None = None
    for item in items:
        said = item.owner
        if not said:
            found = list(_DEFENDANT.finditer(item.before[-400:]))
            said = next((g for g in found[-1].groups() if g), None) if found else None
        last = said or last
        owners.append(last)
    return owners


def _crimes_of_one(items: list[Item]) -> bool:
    one_answer = len({i.block for i in items}) == 1 or all(_ANOTHER_CRIME.search(i.before) for i in items[1:])
    if not one_answer or any(i.cut for i in items):
        return False
    for item in items:
        j = item.judgment
        if j.guilty is False or j.penalty not in _CONCURRENT or j.charge is None:
            return False
        if j.penalty == "fixed_term" and not j.months:
            return False
        if not _A_CHARGE.search(j.charge) or _LATIN.search(j.charge):
            return False
    charges = [i.judgment.charge or "" for i in items]
    if any(_RECEIVING.search(c) for c in charges):
        return False
    return not any(a in b or b in a for a, b in combinations((c.rstrip("罪") for c in charges), 2))


def _together(items: list[Item]) -> tuple[Judgment, str]:
    judgments = [i.judgment for i in items]
    heaviest = min((j.penalty for j in judgments), key=_CONCURRENT.index)
    charge = "、".join(j.charge for j in judgments if j.charge)
    notes = tuple(dict.fromkeys(n for j in judgments for n in j.notes))
    same = [j.months for j in judgments if j.penalty == heaviest and j.months is not None]
    if heaviest != "fixed_term":
        months = sum(same) if same else None
        note = f"{len(items)} crimes; the heaviest penalty absorbs the others"
        return Judgment(charge, True, heaviest, months, notes), note
    total = sum(same)
    longest = max(same)
    # Article 69: at most 20 years, or 25 where the terms add up to 35 years and more.
    most = max(longest, min(total, 240 if total < 420 else 300))
    lawful = f"the lawful total lies between {longest:g} and {most:g}"
    note = f"the sum of the terms of {len(items)} crimes; {lawful}"
    return Judgment(charge, True, "fixed_term", total, notes), note


def _undecided(items: list[Item]) -> Judgment:
    kinds = {i.judgment.penalty for i in items}
    if kinds == {"fixed_term"}:
        return replace(items[0].judgment, months=None)
    return Judgment(items[0].judgment.charge, None, "unparseable", None)


def _joined(*notes: str | None) -> str:
    return "; ".join(n for n in notes if n)
