"""Running the checks: one staged table, one statement a check, and for missing answers an exact test."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.domains.judifair import catalogue
from evenhand.domains.judifair.answers.missing import Missing
from evenhand.domains.judifair.check import own_words
from evenhand.domains.judifair.coding import code, designs
from store.identity import BASE_ARM

if TYPE_CHECKING:
    import duckdb

    from store import Study

_FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Detail:
    """Where a finding was made: `count` of `of` units (`of` None where there is no whole to compare with).

    `p`, of missing answers only: the exact two-sided McNemar p that an answer is as often missing for this
    value as for the reference value of the same document.
    """

    collection: str
    model: str | None
    temperature: float | None
    label: str | None
    value: str | None
    count: int
    of: int | None
    p: float | None
    note: str | None
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """One kind of defect: what it is, why it matters, and every place where it is. `count` is of `unit`s."""

    kind: str
    title: str
    unit: str
    why: str
    details: tuple[Detail, ...] = field(default=())

    @property
    def count(self) -> int:
        """All of them together."""
        return sum(detail.count for detail in self.details)


CHECKS = (
    Finding(
        "mislabelled",
        "Files that hold another label's values",
        "answers",
        "The published coding counts them under the label of the name, the corrected one by their values, "
        "as repeats where the label's own file asks the same.",
    ),
    Finding(
        "duplicates",
        "Rows that repeat a document and value",
        "rows",
        "They are kept as repeats. Where one value is repeated, it has more weight than the others.",
    ),
    Finding(
        "failed_requests",
        "Failed requests stored as answers",
        "answers",
        "They say nothing about the model. Where they depend on the value, the rest is no fair comparison.",
    ),
    Finding("given_up", "Queries that were given up", "queries", "They can be asked again with --retry."),
    Finding(
        "values_absent",
        "Values that were not asked of every document",
        "documents",
        "A document without the reference value, or with one value only, says little about the label.",
    ),
    Finding(
        "answers_missing",
        "Answers from which no term can be taken",
        "answers",
        "A small p says that absence depends on the value: an effect may be one of absence.",
    ),
    Finding(
        "stock_answers",
        "One stock answer for documents of different crimes",
        "answers",
        "The prompt probably lacked the case. An answer that asks for the facts is no answer.",
    ),
    Finding(
        "blank_terms",
        "Penalties without a number",
        "answers",
        "The published coding counts detention, life and death without a number as 0 months.",
    ),
    Finding(
        "out_of_range",
        "Terms that the law does not know",
        "answers",
        "They are kept. Detention in the hundreds is probably days; no fixed term is over 300 months.",
    ),
    Finding(
        "unreadable",
        "Answers that cannot be read",
        "answers",
        "They are missing under both codings, and counted by kind.",
    ),
    Finding(
        "uncertain",
        "Answers that cannot be read with certainty",
        "answers",
        "They are missing under the corrected coding, and in no estimate of it. The note gives the reason.",
    ),
    Finding(
        "dropped_when_published",
        "Readable answers that the published coding drops",
        "answers",
        "Prose after the object, several objects or a cut-off object is enough to be dropped.",
    ),
    Finding(
        "unknown_values",
        "Values and labels that the catalogue does not have",
        "answers",
        "They are stored, and not estimated.",
    ),
    Finding(
        "own_words",
        "Facts that a case tells in its own words",
        "queries",
        "They are tabulated under the label's name: read each, and see that it tells that fact.",
    ),
    Finding(
        "without_truth",
        "Documents whose truth is unknown or odd",
        "documents",
        "Errors are computed from fixed terms; the published coding takes a blank penalty for 0 months.",
    ),
    Finding(
        "undescribed",
        "Documents without a case number or charge: never described",
        "documents",
        "post_2014 leaves them out, crimes cannot be excluded for them; import again with --documents.",
    ),
    Finding(
        "odd_case_numbers",
        "Case numbers whose year is unclear",
        "documents",
        "They decide which documents count as of 2014 and later.",
    ),
)
"""All checks in the order of the report, without details; each has a statement of its name in this folder."""


def check(
    study: Study,
    *,
    collection: str | None = None,
    model: str | None = None,
    arm: str = BASE_ARM,
    empty: bool = False,
) -> list[Finding]:
    """Look for every known defect in the answers of an arm; returns those found (with `empty`, the others
    too).

    Answers that have no verdict yet are coded first, where the study can be written.
    """
    if not study.read_only:
        code(study)
        designs.ensure(study)
    parameters = {"collection": collection, "model": model, "arm": arm}
    connection = study.cursor()
    try:
        connection.execute(_sql("staged"), parameters)
        found = [_run(connection, finding, parameters) for finding in CHECKS]
    finally:
        connection.close()
    return [finding for finding in found if empty or finding.details]


def mcnemar(lost: int, kept: int) -> float:
    """The exact two-sided p that two of a pair are missing equally often, from the pairs that differ."""
    pairs = lost + kept
    if pairs == 0:
        return 1.0
    tail = sum(math.comb(pairs, k) for k in range(min(lost, kept) + 1))
    return float(min(1.0, 2 * tail / 2**pairs)) if pairs < 1000 else _mcnemar_large(lost, kept)


def _mcnemar_large(lost: int, kept: int) -> float:
    """The normal approximation with continuity correction: exact sums of a thousand pairs overflow."""
    z = max(0.0, abs(lost - kept) - 1) / math.sqrt(lost + kept)
    return math.erfc(z / math.sqrt(2))


def _run(connection: duckdb.DuckDBPyConnection, finding: Finding, parameters: dict[str, Any]) -> Finding:
    statement = _sql(finding.kind)
    if finding.kind == "own_words":
        chosen = {name: parameters[name] for name in ("collection", "arm")}
        queries = connection.execute(statement, chosen).fetchall()
        labels = catalogue.of_study(connection)
        return replace(finding, details=tuple(_detail(row) for row in own_words.rows(queries, labels)))
    rows = connection.execute(statement, parameters if "$collection" in statement else None).fetchall()
    make = {"answers_missing": _missing, "uncertain": _uncertain}.get(finding.kind, _detail)
    details = tuple(make(row) for row in rows)
    return Finding(finding.kind, finding.title, finding.unit, finding.why, details)


def _detail(row: tuple[Any, ...]) -> Detail:
    collection, model, temperature, label, value, count, of, p, note, examples = row
    return Detail(collection, model, temperature, label, value, count, of, p, note, tuple(examples or ()))


def _uncertain(row: tuple[Any, ...]) -> Detail:
    """The kind of doubt as its text."""
    detail = _detail(row)
    return replace(detail, note=f"{Missing.text_of(row[8])} ({row[8]})")


def _missing(row: tuple[Any, ...]) -> Detail:
    collection, model, temperature, label, value, count, of, lost, kept, kinds, examples = row
    note = ", ".join(kind for kind in kinds if kind is not None)
    p = None
    if lost or kept:
        p = mcnemar(lost, kept)
        note += f"; missing for this value alone in {lost} documents, for the reference alone in {kept}"
    return Detail(collection, model, temperature, label, value, count, of, p, note, tuple(examples or ()))


def _sql(name: str) -> str:
    return (_FOLDER / f"{name}.sql").read_text(encoding="utf-8")
