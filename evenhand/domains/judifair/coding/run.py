"""Coding a study: every answer without a verdict gets one under each coding, in batches of bounded memory."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from evenhand.domains.judifair.coding import corrected, designs, published
from evenhand.domains.judifair.coding.verdict import CodedVerdict
from store.errors import BadInput
from store.sql import transaction

if TYPE_CHECKING:
    import duckdb

    from store import Study

CODINGS = ("corrected", "published")
"""The names of the codings; the first is the one to believe."""

BATCH_ROWS = 20_000
CACHED_TEXTS = 50_000
"""Answers repeat: what was read once is not read again while it is remembered."""

_TO_CODE = (Path(__file__).parent / "to_code.sql").read_text(encoding="utf-8")
_READERS: Mapping[str, Callable[[str], CodedVerdict]] = {
    "corrected": corrected.code_text,
    "published": published.code_text,
}
_FIELDS = {
    "charge": pa.string(),
    "guilty": pa.bool_(),
    "penalty": pa.string(),
    "months": pa.float64(),
    "severity": pa.int32(),
    "read_as": pa.string(),
    "note": pa.string(),
    "penalty_text": pa.string(),
    "full_months": pa.float64(),
    "missing": pa.string(),
}
_VERSIONS = {"corrected": corrected.VERSION, "published": published.VERSION}


@dataclass(frozen=True, slots=True)
class Coded:
    """What a coding run did: verdicts written by coding, and the seconds that it took."""

    verdicts: Mapping[str, int]
    seconds: float


def code(
    study: Study,
    codings: Sequence[str] = CODINGS,
    *,
    rebuild: bool = False,
    on_batch: Callable[[str, int], None] | None = None,
) -> Coded:
    """Read every answer that has no verdict yet under the codings; with `rebuild`, all of them anew.

    Verdicts of an older version of a coding are always made anew. Each batch is committed, so a run that was
    stopped goes on where it was; what is made anew is committed together, and the old verdicts stay until
    then. After each batch, `on_batch(coding, rows so far)` is called. Raises `BadInput` for an unknown
    coding.
    """
    for coding in codings:
        if coding not in _READERS:
            raise BadInput(
                f"There is no coding {coding!r}.", hint=f"The codings are {' and '.join(CODINGS)}."
            )
    started = time.perf_counter()
    designs.ensure(study)
    written = {}
    for coding in dict.fromkeys(codings):
        written[coding] = _code_one(study, coding, rebuild=rebuild, on_batch=on_batch)
    return Coded(written, time.perf_counter() - started)


def _code_one(
    study: Study, coding: str, *, rebuild: bool, on_batch: Callable[[str, int], None] | None
) -> int:
    reader, writer = study.cursor(), study.cursor()
    try:
        anew = rebuild or _is_outdated(reader, coding)
        with transaction(writer) if anew else nullcontext():
            if anew:
                writer.execute("DELETE FROM judifair.verdicts WHERE coding = ?", [coding])
            writer.execute(
                "INSERT OR REPLACE INTO judifair.coding_versions VALUES (?, ?)", [coding, _VERSIONS[coding]]
            )
            read = _Remembering(_READERS[coding])
            done = 0
            unread = reader.sql(_TO_CODE, params=[None if anew else coding])
            batches: pa.RecordBatchReader = unread.to_arrow_reader(BATCH_ROWS)
            for batch in batches:
                _write(writer, coding, batch, read)
                done += batch.num_rows
                if on_batch is not None:
                    on_batch(coding, done)
        return done
    finally:
        reader.close()
        writer.close()


def outdated(study: Study) -> list[str]:
    """The codings whose verdicts in the study were made by another version of them."""
    connection = study.cursor()
    try:
        return [coding for coding in CODINGS if _is_outdated(connection, coding)]
    finally:
        connection.close()


def _is_outdated(connection: duckdb.DuckDBPyConnection, coding: str) -> bool:
    """Whether there are verdicts of another version. Where no version is noted, it is 1."""
    row = connection.execute(
        "SELECT coalesce((SELECT version FROM judifair.coding_versions WHERE coding = $coding), 1) "
        "<> $version AND EXISTS (SELECT 1 FROM judifair.verdicts WHERE coding = $coding)",
        {"coding": coding, "version": _VERSIONS[coding]},
    ).fetchall()
    return bool(row[0][0])


class _Remembering:
    """A coding's reader with a bounded memory of the texts it has read."""

    def __init__(self, read: Callable[[str], CodedVerdict]) -> None:
        self._read = read
        self._known: dict[tuple[str, str], CodedVerdict] = {}

    def __call__(self, outcome: str, text: str) -> CodedVerdict:
        key = (outcome, text)
        verdict = self._known.get(key)
        if verdict is None:
            if len(self._known) >= CACHED_TEXTS:
                self._known.clear()
            verdict = self._known[key] = self._fresh(outcome, text)
        return verdict

    def _fresh(self, outcome: str, text: str) -> CodedVerdict:
        if outcome in ("refused", "empty"):
            note = None if outcome == "empty" else "the provider withheld the answer"
            return CodedVerdict(None, None, "unparseable", None, None, outcome, note)
        return self._read(text)


def _write(writer: duckdb.DuckDBPyConnection, coding: str, batch: pa.RecordBatch, read: _Remembering) -> None:
    outcomes, texts = batch.column("outcome").to_pylist(), batch.column("text").to_pylist()
    verdicts = [read(outcome, text) for outcome, text in zip(outcomes, texts, strict=True)]
    columns: dict[str, Any] = {"prediction_id": batch.column("prediction_id")}
    for name, kind in _FIELDS.items():
        columns[name] = _array([getattr(verdict, name) for verdict in verdicts], kind)
    writer.register("coded_batch", pa.table(columns))
    try:
        writer.execute(
            f"INSERT INTO judifair.verdicts (prediction_id, coding, {', '.join(_FIELDS)}) "
            f"SELECT prediction_id, ?, {', '.join(_FIELDS)} FROM coded_batch",
            [coding],
        )
    finally:
        writer.unregister("coded_batch")


def _array(values: list[Any], kind: pa.DataType) -> pa.Array:
    try:
        return pa.array(values, kind)
    except UnicodeEncodeError:
        # Half of a surrogate pair ("\ud83d") is valid JSON and no valid text.
        whole = [v.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if v else v for v in values]
        return pa.array(whole, kind)
