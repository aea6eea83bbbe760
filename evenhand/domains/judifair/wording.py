"""Whether a case's own words for a value tell the same fact as the label's.

Results are tabulated under the label's name. A case that tells 女 as 戴眼镜 varies glasses, and the table
would call them sex. So words are compared with the value's own; those that are not surely the same fact
are refused, unless the case says why they are (`same_fact`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from evenhand.audit.answers.numerals import number
from evenhand.domains.judifair import triggers
from evenhand.domains.judifair.case import Override
from evenhand.domains.judifair.catalogue import Label, Value

_NEUTRAL = re.compile("[性人者的士子员族教徒信众仰奉籍国公民地区周岁满名位一个]*")
"""What may stand beside a value's name and add no fact: 女性, 佛教信徒, 中国国籍, 农村地区."""
_NEGATION = re.compile("[不非未无没否莫勿]")
_PLACEHOLDER = re.compile(r"\{[a-z]*\}")


def own(label: Label, value: Value) -> str:
    """The words that every case has for a value unless it brings its own."""
    return triggers.usual(label).values.get(value.zh, value.zh)


def same_fact(label: Label, value: Value, wording: str) -> bool:
    """Whether the words surely tell this value: its own words or name, at most with what adds no fact."""
    names = [own(label, value)]
    if len(value.zh) > 1 or value.zh not in "是否":  # 是 of what, the sentence says
        names.append(value.zh)
    text = wording.strip()
    for name in names:
        before, found, after = text.partition(name)
        if found and _NEUTRAL.fullmatch(before) and _NEUTRAL.fullmatch(after):
            return True
    if label.treatment == "log_age":
        years = number(re.sub("[周岁整]+$", "", text))
        return years is not None and years == float(value.zh)
    return False


def problems(label: Label, override: Override) -> Iterator[tuple[str, str, str]]:
    """(key below the trigger, what is wrong, what to do) of a case's own words; nothing if they are the
    same fact.

    `same_fact` excuses all but what is another value, or no difference at all.
    """
    words = {value.zh: override.values.get(value.zh, own(label, value)) for value in label.values}
    for value in label.values:
        wording = override.values.get(value.zh)
        if wording is None or same_fact(label, value, wording):
            continue
        key = f"values.{value.zh}"
        stated = f"'{wording}' is not {label.key} = {value.zh} ({value.en})"
        other = next((v for v in label.values if v is not value and same_fact(label, v, wording)), None)
        if other is not None:
            yield key, f"{stated} but {other.zh}", f"Write '{own(label, value)}', or leave the value out."
        elif override.same_fact is None:
            yield (
                key,
                f"{stated}, as far as its words tell, and the results would be tabulated under that name",
                f"Write '{own(label, value)}', or say in `same_fact` why it is the same fact.",
            )
    for zh, wording in words.items():
        twin = next((other for other in words if other != zh and words[other] == wording), None)
        if twin is not None and zh in override.values:
            yield f"values.{zh}", f"'{wording}' is what {twin} reads too", "Values must read differently."
    if override.same_fact is None:
        yield from _sentences(label, override, words)


def _sentences(label: Label, override: Override, words: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    shared = triggers.usual(label)
    fix = "Reword it, or say in `same_fact` why it tells the same fact."
    for key, sentence, usual in (
        ("frame", override.frame, shared.frame),
        ("placebo", override.placebo, shared.placebo),
    ):
        if sentence is None:
            continue
        rest = _PLACEHOLDER.sub("", sentence)
        negations = [one for one in _NEGATION.findall(rest) if one not in usual]
        if negations and key == "frame":
            yield key, f"'{sentence}' denies something ({'、'.join(negations)})", fix
        told = [zh for zh in words if zh not in "是否" and zh in rest]
        if told and key == "frame":
            yield key, f"'{sentence}' says {'、'.join(told)} whatever the value is", fix
        reference = label.reference
        if key == "placebo" and not (
            "{value}" in sentence
            or any(name in rest for name in (own(label, reference), shared.placebo_value) if name)
            or same_fact(label, reference, rest)
        ):
            yield (
                key,
                f"'{sentence}' does not say {reference.zh}, the reference value",
                f"Put {{value}} in. {fix}",
            )


def changed(label: Label, override: Override) -> list[str]:
    """What a case tells in its own words, for a warning: the words of values, and the sentence itself."""
    usual = {value.zh: own(label, value) for value in label.values}
    told = [f"{zh} as '{words}'" for zh, words in override.values.items() if words != usual[zh]]
    told += [f"in the sentence '{override.frame}'"] if override.frame is not None else []
    return told
