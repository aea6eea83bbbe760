"""Answers written as labelled lines: lists, tables, YAML, XML, and objects too broken for any JSON reader.

    **罪名**：盗窃罪 / - 刑期: 36 / | 刑期 | 36 | / <刑期>36</刑期> / 罪名=盗窃罪；刑期=36

A label is whatever stands before a colon (or its like) and is understood by the vocabulary; its value
runs to the end of the line or to the next label. A label that comes again opens the next answer.
"""

from __future__ import annotations

import re

from evenhand.audit.answers.vocabulary import Vocabulary

_LABEL = re.compile(
    r"(?P<key>[^\s:：=|,，。；;{}\[\]<>\"'“”「」*`#\\/]{1,20}(?:(?<!\.) [A-Za-z]{2,12}){0,2})"
    r"[\s\"'”」*`\\)）]{0,8}(?P<mark>[:：=|>])[ \t\"'“「*`\\:：|]{0,10}"
)
_ENDS_A_VALUE = re.compile(r"\r?\n|</|\\n")
_OPENING_TAG = re.compile(r"<[^</>]{0,20}$")
_FIRST_CELL = re.compile(r"(?:^|\n)[ \t]*\|?[ \t*_`]*$")
_RULE = re.compile(r"[\s|:+-]*")
_MARGIN = " \t\r\n\"'“”「」*`|,，;；\\{}<>"

_LONGEST = 40_000
_MOST_LABELS = 400
_LONGEST_VALUE = 400
_LONGEST_NEXT_LINE = 30


def labelled(text: str, words: Vocabulary) -> list[dict[str, object]]:
    """The labelled values of a text as objects, in order; labels that are not understood are left out."""
    text = text[:_LONGEST]
    table = _rows(text, words) if "|" in text else []
    if table:
        return table
    labels = []
    for i, match in enumerate(_LABEL.finditer(text)):
        if i >= _MOST_LABELS:
            break
        if words.holds(match["key"]) and _is_a_label(text, match):
            labels.append(match)
    objects: list[dict[str, object]] = []
    current: dict[str, object] = {}
    for i, match in enumerate(labels):
        stop = labels[i + 1].start() if i + 1 < len(labels) else len(text)
        value = _value(text[match.end() : min(stop, match.end() + _LONGEST_VALUE)])
        if match["key"] in current:
            objects.append(current)
            current = {}
        current[match["key"]] = value
    if current:
        objects.append(current)
    return objects


def _rows(text: str, words: Vocabulary) -> list[dict[str, object]]:
    """The rows of a table whose head names fields of the answer."""
    head: list[str] = []
    rows: list[dict[str, object]] = []
    for line in text.split("\n", _MOST_LABELS)[:_MOST_LABELS]:
        cells = [c.strip(_MARGIN) for c in line.strip().strip("|").split("|")] if "|" in line else []
        if not head and sum(words.heads(c) for c in cells[:20]) >= words.table_columns:
            head = cells
        elif head and len(cells) == len(head) and not _RULE.fullmatch(line):
            rows.append(dict(zip(head, cells, strict=True)))
    return rows


def _is_a_label(text: str, match: re.Match[str]) -> bool:
    """Closing tags are none, and of the cells of a table only the first is one."""
    before = text[max(0, match.start() - 30) : match.start()]
    if match["mark"] == ">":
        return bool(_OPENING_TAG.search(before))
    return match["mark"] != "|" or bool(_FIRST_CELL.search(before))


def _value(text: str) -> str:
    """The rest of the label's line; if nothing is there, a short next line."""
    lines = _ENDS_A_VALUE.split(text, maxsplit=2)
    first = lines[0].strip(_MARGIN)
    if first or len(lines) < 2 or "```" in lines[1]:
        return first
    following = lines[1].strip(_MARGIN)
    return following if len(following) <= _LONGEST_NEXT_LINE else ""
