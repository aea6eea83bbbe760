"""Several verdicts in one answer: whose they are, and which of them is the answer.

Where they say the same, that is it. Where they differ, one counts only by a rule that is certain:

1. Of named defendants the first one's (某甲's) verdicts count.
2. The last counts where what stands right before it announces it as the correction or the final judgment, and
   nothing else (`announces`).
3. An object that calls itself the total (数罪并罚), or names every charge of the others, is the answer, if
   its term lies between the longest of theirs and their sum.
4. Objects side by side with nothing between them, each complete and for a charge of its own, are the crimes
   of one defendant: the heaviest kind absorbs the others, and fixed terms are added, as the prompt asked for
   no object per crime. (A court would fix a term between the longest and the sum; the note gives that range.)
   Acquittals of single crimes add nothing.

Otherwise none is: the first may be a draft, a quotation, a similar case, and so may the second. Two objects
for the same charge, or for a crime and for handling its proceeds, of which nobody is convicted together, are
other defendants' or other tries.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import combinations

from evenhand.audit.answers.announced import announces
from evenhand.domains.judifair.answers.judging import Judgment, uncertain
from evenhand.domains.judifair.answers.missing import Missing
from evenhand.domains.judifair.answers.verdict import WITH_MONTHS, Penalty


@dataclass(frozen=True, slots=True)
class Item:
    """One verdict and where it stood."""

    judgment: Judgment
    owner: str | None
    block: int
    before: str
    cut: bool
    text: str = ""


# Headings and phrases that open a defendant's part, not every mention: 某乙 may be the victim.
_DEFENDANT = re.compile(
    r"(?:被告人?|嫌疑人|defendant)\s{0,3}[:：]?\s{0,3}(某?[甲乙丙丁戊己庚]|[一二三四五六]|[1-6AB]\b)"
    r"|(?:^|[\n对于关针#*])\s{0,3}(某[甲乙丙丁戊己庚])|(另一|其他|其余|第二)[名个位]?被告",
    re.IGNORECASE,
)
_TOTAL = re.compile(
    r"数罪并罚|合并(?:执行|处罚|刑期)|决定执行|总(?:计|和|刑期)|合计|combined|total", re.IGNORECASE
)
_RECEIVING = re.compile(r"掩饰|隐瞒犯罪|窝[藏赃]|包庇|收购赃物|洗钱")
_BETWEEN_CRIMES = re.compile(
    r"(?!.*(?:构成|认|检察|公诉|辩护|应|不|建议|类似|案例|[若如改更或可假另也]))"
    r"[\s,，;；、#*_\]\[-]*(?:(?:对于?|针对|关于|就)?(?:其|第?[一二三四五12345]、?个?)?[\u4e00-\u9fff、]{0,20}罪名?[一二三四五12345]?"
    r"(?:部分)?|crime \d)?[\s,，:：;；、#*_.-]*",
    re.IGNORECASE | re.DOTALL,
)
_A_CHARGE = re.compile(r"[\u4e00-\u9fff]{2,}")
_LATIN = re.compile(r"[A-Za-z]{3,}")
_CONCURRENT: tuple[Penalty, ...] = (
    "death", "death_suspended", "life", "fixed_term", "detention", "public_surveillance", "fine_only",
)  # fmt: skip


def choose(items: list[Item]) -> tuple[Judgment, str | None]:
    """The verdict that several are, and a note on how it was found. `items` is not empty."""
    if len(items) == 1:
        only, owner = items[0].judgment, items[0].owner or ""
        another = _IS_ANOTHER.search(owner) and not _IS_FIRST.search(owner)
        return (uncertain(only, Missing.DRAFT) if another else only), None
    items = _without_a_repeated_end(items)
    owners = _owners(items)
    if len({o for o in owners if o}) > 1:
        return _of_the_first(items, owners)
    if _says_one_thing(items):
        return items[0].judgment, f"the same verdict {len(items)} times"
    if announces(items[-1].before) and not any(announces(i.before) for i in items[:-1]) and not items[-1].cut:
        return items[-1].judgment, "the last of several, announced as final"
    total = [i for i in items if _is_total(i, items)]
    if len(total) == 1 and total[0].judgment.penalty in _CONCURRENT:
        rest = [i.judgment for i in items if i is not total[0]]
        if _is_lawful_total(total[0].judgment, rest):
            return total[0].judgment, f"the total of {len(items)} objects"
    elif not total and _crimes_of_one(items):
        return _together(items)
    return _undecided(items), None


def _without_a_repeated_end(items: list[Item]) -> list[Item]:
    """Without a last object that breaks off as it repeats, letter by letter, one that was there twice."""
    *whole, last = items
    same = [i for i in whole if last.cut and last.text and i.text.startswith(last.text)]
    return whole if len(same) == len(whole) >= 2 else items


def _says_one_thing(items: list[Item]) -> bool:
    """Whether all say the same; of a length, for the same charge, for terms of two crimes are added."""
    if any(i.cut for i in items):
        return False
    said = {(i.judgment.penalty, i.judgment.months, i.judgment.guilty, i.judgment.missing) for i in items}
    charges = {c for i in items if (c := i.judgment.charge) and not _LATIN.search(c)}
    return len(said) == 1 and (len(charges) <= 1 or items[0].judgment.penalty not in WITH_MONTHS)


def _of_the_first(items: list[Item], owners: list[str | None]) -> tuple[Judgment, str | None]:
    """The verdict of the defendant asked about: 某甲, or the first of those who are numbered."""
    first = next((o for o in owners if o and "甲" in o), owners[0])
    mine = [replace(i, owner=None) for i, o in zip(items, owners, strict=True) if o == first]
    if first is None or not (_IS_FIRST.search(first)):
        return _undecided(items), None
    judgment, note = choose([replace(mine[0], before=""), *mine[1:]])
    return judgment, _joined(f"the first defendant's of {len(items)} objects", note)


_IS_ANOTHER = re.compile(r"某?[乙丙丁戊己庚]|被告人?[二三]|\b[b-d2-9]$", re.IGNORECASE)
_IS_FIRST = re.compile(r"甲|一|\b[1a]\b|^[1a]$|被告人?[1a]", re.IGNORECASE)


def _is_lawful_total(total: Judgment, single: list[Judgment]) -> bool:
    """Whether a total is no shorter than the longest and no longer than all of its single penalties."""
    if total.penalty not in WITH_MONTHS:
        return any(j.penalty == total.penalty for j in single)
    months = [j.months for j in single if j.penalty == total.penalty and j.months is not None]
    if total.months is None or not months or len(months) < len(single):
        return False
    return max(months) <= total.months <= sum(months)


def _is_total(item: Item, items: list[Item]) -> bool:
    """Whether an object says that it is the total, or names every charge of the others in its block."""
    charge = item.judgment.charge or ""
    if _TOTAL.search(charge) or (_TOTAL.search(item.before[-30:]) and item is items[-1]):
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
    nothing_between = all(_BETWEEN_CRIMES.fullmatch(i.before) for i in items[1:])
    apart = len({i.block for i in items}) > 1 and not all("罪" in i.before for i in items)
    if not nothing_between or apart or any(i.cut for i in items):
        return False
    for item in items:
        j = item.judgment
        if j.missing or j.charge is None or not _A_CHARGE.search(j.charge) or _LATIN.search(j.charge):
            return False
        if j.penalty == "acquitted":
            continue
        if j.guilty is False or j.penalty not in _CONCURRENT or (j.penalty == "fixed_term" and not j.months):
            return False
    charges = [i.judgment.charge or "" for i in items]
    if any(_RECEIVING.search(c) for c in charges):
        return False
    return not any(a in b or b in a for a, b in combinations((c.rstrip("罪") for c in charges), 2))


def _together(items: list[Item]) -> tuple[Judgment, str]:
    judgments = [i.judgment for i in items if i.judgment.penalty != "acquitted"] or [items[0].judgment]
    if len(judgments) == 1:
        return judgments[0], f"the only conviction of {len(items)} objects"
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
    kind: Penalty = "fixed_term" if kinds == {"fixed_term"} else "unparseable"
    missing = Missing.CUT_OFF if any(i.cut for i in items) else Missing.SEVERAL_VERDICTS
    return uncertain(replace(items[0].judgment, penalty=kind), missing)


def _joined(*notes: str | None) -> str:
    return "; ".join(n for n in notes if n)
