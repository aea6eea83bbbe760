"""The layouts of a published record, made one: the answer, its document and value, and the truth.

A response comes as `[text, flag]`, as an object (with or without `truncation`), as plain text, or as the
whole text beside an extract of it (`response_full`, whose name is swapped in meaning). An object is kept as
its JSON. The flag or `truncation` of 1 does not mean that the answer is cut; it is kept as the finish
reason.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_AGE = re.compile(r"\d+\.0*")
_REQUIRED = ("ID", "label_value")


class BadRecord(ValueError):
    """A record that names no document or value, or has no response."""


@dataclass(frozen=True, slots=True)
class Truth:
    """The true judgment as a record states it. `months` as its source has it."""

    charge: str
    guilty: str
    penalty: str
    months: float | None


@dataclass(slots=True)
class Record:
    """One published answer. `shape` is how its response was stored; `truth` is None where it has none."""

    doc_id: str
    value: str
    changed_label: str
    text: str
    flag: str | None
    shape: str
    truth: Truth | None


def is_prediction(record: Any) -> bool:
    """Whether an element of a file is a published prediction at all."""
    return (
        isinstance(record, dict)
        and all(key in record for key in _REQUIRED)
        and ("response" in record or "response_full" in record)
    )


class Reader:
    """Reads the elements of one file; remembers the last truth, which a document's rows have in common."""

    def __init__(self) -> None:
        self._answer: Any = None
        self._truth: Truth | None = None

    def __call__(self, record: Any) -> Record:
        """One element in any of the layouts; raises `BadRecord` with the reason."""
        if not isinstance(record, dict):
            raise BadRecord("is no object")
        doc_id, value = record.get("ID"), record.get("label_value")
        if doc_id is None or value is None:
            missing = [key for key in _REQUIRED if record.get(key) is None]
            raise BadRecord(f"has no {' and no '.join(missing)}")
        text, flag, shape = _response(record)
        answer = record.get("true_answer")
        if answer != self._answer:
            self._answer, self._truth = answer, _truth(answer)
        return Record(
            doc_id=_document(doc_id),
            value=normal_value(value),
            changed_label=str(record.get("changed_label") or ""),
            text=text,
            flag=None if flag is None else str(flag),
            shape=shape,
            truth=self._truth,
        )


def normal_value(value: Any) -> str:
    """A label value as we write it: without blanks around it, an age as a plain number ("54.0" is "54")."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    text = value.strip() if isinstance(value, str) else str(value)
    return text.partition(".")[0] if _AGE.fullmatch(text) else text


def _document(value: Any) -> str:
    if type(value) is int:
        return str(value)
    if isinstance(value, bool) or not isinstance(value, float | str):
        raise BadRecord(f"has the ID {value!r}")
    if isinstance(value, float):
        if not math.isfinite(value):
            raise BadRecord(f"has the ID {value!r}")
        return str(int(value)) if value.is_integer() else str(value)
    text = str(value).strip()
    if not text:
        raise BadRecord("has an empty ID")
    return text


def _response(record: Mapping[str, Any]) -> tuple[str, Any, str]:
    """The text, the flag and the shape of a record's response."""
    flag = record.get("truncation")
    response = record.get("response")
    if isinstance(response, list) and len(response) == 2 and isinstance(response[0], str) and flag is None:
        return response[0], response[1], "pair"
    if "response" not in record:
        if "response_full" not in record:
            raise BadRecord("has no response")
        return _plain(record["response_full"]), flag, "text"
    if isinstance(response, list):
        if not response:
            return "", flag, "pair"
        if len(response) > 1 and not isinstance(response[1], dict | list):
            flag = response[1] if flag is None else flag
        if isinstance(response[0], dict):
            return _plain(response[0]), flag, "object"
        return _plain(response[0]), flag, "pair"
    if isinstance(response, dict):
        inside = dict(response)
        within = inside.pop("truncation", None)
        return _plain(inside), within if flag is None else flag, "object"
    return _plain(response), flag, "text with extract" if "response_full" in record else "text"


def _plain(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def _truth(answer: Any) -> Truth | None:
    if not isinstance(answer, dict):
        return None
    term = answer.get("刑期")
    months: float | None = None
    if isinstance(term, str):
        text = term.strip()
        try:
            months = float(text) if text else 0.0
        except ValueError:
            months = None
    elif isinstance(term, int | float) and not isinstance(term, bool):
        months = float(term)
    if months is not None and not math.isfinite(months):
        months = None
    return Truth(
        charge=str(answer.get("罪名") or ""),
        guilty=str(answer.get("是否有罪") or ""),
        penalty=str(answer.get("刑罚类型") or ""),
        months=months,
    )
