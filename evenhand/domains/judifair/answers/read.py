"""From raw text to a verdict: the order in which the parser's parts are asked.

Most answers are one sound object with the four keys asked for; these take a short way (`_exact`) that
agrees with the long one by test. Everything else goes: message of a failed request, content block, nothing
at all; then, with reasoning and special tokens taken away, whether the answer asks for the case; then its
objects, its labelled lines, its sentences.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import orjson

from evenhand.audit.answers import refusals
from evenhand.audit.answers.labelled import labelled
from evenhand.audit.answers.objects import Found, Objects, find_objects
from evenhand.audit.answers.reasoning import without_reasoning
from evenhand.audit.answers.shapes import CUT_OFF
from evenhand.audit.answers.writing import visible
from evenhand.domains.judifair.answers.attribution import disowns, is_of_others
from evenhand.domains.judifair.answers.judging import LONGEST_FIXED_TERM, Judgment, judge, uncertain
from evenhand.domains.judifair.answers.missing import Missing
from evenhand.domains.judifair.answers.pronounced import ends_in_years
from evenhand.domains.judifair.answers.prose import Prose
from evenhand.domains.judifair.answers.records import Record, is_verdict, merged, records
from evenhand.domains.judifair.answers.sentences import read_sentences
from evenhand.domains.judifair.answers.several import Item, choose
from evenhand.domains.judifair.answers.verdict import WITH_MONTHS, Penalty, ReadAs, Verdict
from evenhand.domains.judifair.answers.vocabulary import VOCABULARY

_ASKED = {"罪名", "是否有罪", "刑罚类型", "刑期"}
_LONGEST_SHORT = 1000
_PLAIN: dict[str, Penalty] = {
    "有期徒刑": "fixed_term",
    "拘役": "detention",
    "管制": "public_surveillance",
    "无期徒刑": "life",
    "死刑": "death",
}
_PLAIN_CHARGE = re.compile(
    r"(?!.*(?:无罪|案|例|提供|具体|某|填|相[应关]|待|罪名))"
    r"[\u4e00-\u9fff（）()、，,；; ]{0,80}"
)


def read_answer(text: str) -> Verdict:
    """The verdict in a model's answer. Never raises, never guesses: what cannot be read is `unparseable`."""
    return _short_way(text) or _long_way(text)


def read_object(obj: Mapping[str, Any]) -> Verdict:
    """The verdict of an answer that is already stored as an object."""
    found = [r for r in merged(records(dict(obj))) if is_verdict(r) and not r.is_template()]
    if not found:
        unreadable: ReadAs = "exact" if obj else "empty"
        return Verdict(None, None, "unparseable", None, unreadable, "no field of a verdict", 0)
    text = "\n".join(str(v) for v in list(obj.values())[:60] if isinstance(v, str))
    if refusals.asks_for_facts(text):
        return _no_verdict("asks_for_facts", "asks for the case, or calls itself a placeholder", len(found))
    judgments = [(r, judge(r, Prose(""))) for r in found]
    judgment, note = choose([Item(j, r.owner, 0, "", cut=False) for r, j in judgments])
    read_as: ReadAs = "several_objects" if len(found) > 1 else "exact" if found[0].asked else "repaired"
    return _verdict(judgment, read_as, note, len(found))


def _short_way(text: str) -> Verdict | None:
    """The verdict of an answer that is regular but for escaped quotes; None for all others."""
    if len(text) > _LONGEST_SHORT:
        return None
    verdict = _exact(text)
    if verdict is None and '\\"' in text:
        verdict = _exact(text.replace('\\"', '"'))
        return verdict and replace(verdict, read_as="repaired")
    return verdict


def _exact(text: str) -> Verdict | None:
    text = text.strip()
    if text.startswith("```"):
        if not text.endswith("```"):
            return None
        text = text[7:-3] if text.startswith("```json") else text[3:-3]
    try:
        obj = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    # As many colons as keys: no key stands twice, under whatever escapes.
    if type(obj) is not dict or obj.keys() != _ASKED or text.count("刑期") != 1 or text.count(":") != 4:
        return None
    kind, months, charge = obj["刑罚类型"], obj["刑期"], obj["罪名"]
    penalty = _PLAIN.get(kind) if type(kind) is str else None
    if penalty is None or obj["是否有罪"] != "是" or type(charge) is not str or not _is_plain(charge):
        return None
    if penalty in WITH_MONTHS:
        longest = 12 if penalty == "detention" else LONGEST_FIXED_TERM
        if type(months) is not int or not 0 < months <= longest:
            return None
        return Verdict(charge.strip() or None, True, penalty, float(months), "exact", None, 1)
    if months is not None and months != "":
        return None
    return Verdict(charge.strip() or None, True, penalty, None, "exact", None, 1)


@lru_cache(maxsize=8192)
def _is_plain(charge: str) -> bool:
    """Whether a charge holds nothing that the long way would look at twice (placeholders, 无罪, 案情)."""
    return _PLAIN_CHARGE.fullmatch(charge) is not None


def _long_way(text: str) -> Verdict:
    if refusals.empty(text):
        return _no_verdict("empty", None, 0)
    if refusals.failed_request(text):
        return _no_verdict("request_failed", None, 0)
    if refusals.blocked(text):
        return _no_verdict("refused", "a content block", 0)
    answer, endless = without_reasoning(text, VOCABULARY)
    answer = visible(answer)
    if endless or refusals.empty(answer):
        read_as: ReadAs = "truncated" if endless else "empty"
        return _no_verdict(read_as, None, 0, Missing.REASONING)
    objects = find_objects(answer, VOCABULARY)
    items, found = _items(objects)
    if refusals.asks_for_facts(answer) or (not items and any(r.is_template() for r in found)):
        return _no_verdict("asks_for_facts", "asks for the case, or calls itself a placeholder", len(found))
    if items:
        return _of_objects(objects, items, found)
    return _of_prose(answer, objects)


def _items(objects: Objects) -> tuple[list[Item], list[Record]]:
    """The verdicts of the objects, templates left out, and all records with them."""
    prose = Prose(objects.prose, objects.behind)
    items: list[Item] = []
    every: list[Record] = []
    of_record: list[tuple[Record, Found]] = []
    for found in objects.found:
        of_record.extend((r, found) for r in records(found.data))
    pieces = merged([r for r, _ in of_record])
    if len(pieces) < len(of_record):
        of_record = [(r, objects.found[0]) for r in pieces]
    for record, found in of_record:
        every.append(record)
        if not record.is_template() and is_verdict(record):
            judgment = judge(replace(record, cut=found.cut), prose)
            items.append(Item(judgment, record.owner, found.block, found.before, found.cut, found.text))
    return items, every


def _of_objects(objects: Objects, items: list[Item], found: list[Record]) -> Verdict:
    judgment, note = choose(items)
    cut = items[-1].cut
    if judgment.missing is None:
        judgment = _checked(judgment, objects, items, cut=cut)
    if len(items) > 1:
        read_as: ReadAs = "several_objects"
    elif cut:
        read_as = "truncated"
        if judgment.penalty == "none" and _breaks_off_early(found[-1]):
            judgment = replace(judgment, penalty="unparseable", missing=Missing.CUT_OFF)
    elif not all(f.sound for f in objects.found) or not found[0].asked:
        read_as = "repaired"
    elif objects.prose:
        read_as = "prose"
    else:
        read_as = "exact"
    return _verdict(judgment, read_as, note, len(items))


def _checked(judgment: Judgment, objects: Objects, items: list[Item], *, cut: bool) -> Judgment:
    """The judgment after what stands around its objects had its say: whether it is this judgment's at all."""
    if objects.more or (objects.found[-1].cut and not cut):
        return uncertain(judgment, Missing.CUT_OFF)
    if len(items) > 1 and objects.behind.strip() and not _CLOSED.search(objects.behind):
        return uncertain(judgment, Missing.CUT_OFF)  # of several crimes, the total may be to come
    if len(items) == 1 and is_of_others(items[0].before):
        return uncertain(judgment, Missing.DRAFT)
    prose = Prose(objects.prose, objects.behind)
    if objects.prose and prose.contradicts(judgment.penalty, judgment.months):
        return uncertain(judgment, Missing.CONTRADICTION)
    return uncertain(judgment, Missing.DRAFT) if disowns(objects.behind) else judgment


_CLOSED = re.compile(r"[。.!！?？)）\]}>*`\"”…-]\s*\Z")


def _breaks_off_early(record: Record) -> bool:
    """Whether a cut object ends before its penalty: what it would have said is not known."""
    return record.penalty in (None, "", CUT_OFF) and record.term in (None, "", CUT_OFF)


_LATEX = re.compile(r"\\(?:text|boxed|mathrm|textbf|mathbf|quad|\(|\[|\)|\])[ ]?\{?|\$")


def _of_prose(answer: str, objects: Objects) -> Verdict:
    braces = objects.braces and answer.count("{") > answer.count("}")
    if "\\" in answer or "$" in answer:
        answer = _LATEX.sub("", answer).replace("}", "")
    prose = Prose(answer)
    lines = [r for data in labelled(answer, VOCABULARY) for r in records(data) if not r.is_template()]
    lines = [r for r in lines if r.known >= 2 or (r.known and len(answer) < 80)]
    if lines and not answer.endswith(("\n", "|", ".", "。", ">")):
        missing = Missing.CUT_OFF if ends_in_years(answer) else lines[-1].missing
        lines[-1] = replace(lines[-1], missing=missing, cut=True)
    if lines:
        items = [Item(judge(r, prose), r.owner, 0, "", cut=False) for r in lines]
        if any(i.judgment.penalty not in ("none", "unparseable") for i in items):
            judgment, note = choose(items)
            read_as: ReadAs = "several_objects" if len(items) > 1 else "prose"
            return _verdict(judgment, read_as, note, len(items) if len(items) > 1 else 0)
    judgment_in_prose = read_sentences(answer)
    if judgment_in_prose is not None:
        return _verdict(judgment_in_prose, "prose", "no object", 0)
    if refusals.refuses(answer):
        return _no_verdict("refused", None, 0)
    if braces:
        return _no_verdict("truncated", "breaks off before the penalty", 0, Missing.CUT_OFF)
    return _no_verdict("prose", "no verdict can be read", 0)


def _verdict(judgment: Judgment, read_as: ReadAs, note: str | None, objects: int) -> Verdict:
    why = judgment.missing.text if judgment.missing else None
    notes = "; ".join(dict.fromkeys(n for n in (why, *judgment.notes, note) if n)) or None
    return Verdict(
        judgment.charge,
        judgment.guilty,
        judgment.penalty,
        judgment.months,
        read_as,
        notes,
        objects,
        judgment.missing,
    )


def _no_verdict(read_as: ReadAs, note: str | None, objects: int, missing: Missing | None = None) -> Verdict:
    note = note or (missing.text if missing else None)
    return Verdict(None, None, "unparseable", None, read_as, note, objects, missing)
