"""What is still to be asked: a query of the selection without a terminal row, for each repeat.

There is no other state. The plan (ids only) is made once, when asked for; prompts are rendered a page at a
time, so that 177,100 queries of 6 KB stay a few MB, and no transaction is held open between pages.
"""

from __future__ import annotations

import difflib
import json
import random
import uuid
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import duckdb
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from store.columns import INT, TEXT, column, table
from store.errors import BadInput
from store.prompt import Slotted
from store.rows import FAILURE_OUTCOMES, PREDICTION_OUTCOMES
from store.sql import registered, statement
from store.study import Study

PAGE = 1_000
"""Queries rendered at a time. Prompts of a page exist one by one; its documents' texts (a few) together."""


RETRIABLE = (*FAILURE_OUTCOMES, *(outcome for outcome in PREDICTION_OUTCOMES if outcome != "answered"))
"""Outcomes whose queries may be asked again."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which queries. Everything left None selects all; retired and imported queries are never selected."""

    collection: str | None = None
    labels: Sequence[str] | None = None
    documents: Sequence[str] | None = None
    arms: Sequence[str] | None = None
    limit: int | None = None
    """At most so many queries (each asked once a repeat), in whole document x label sets unless the first set
    alone is larger. The same limit selects the same queries again, so a finished run has nothing pending."""
    shard: tuple[int, int] | None = None
    """(i, n): the i-th (from 1) of n parts, by document: all queries of a document are in one part. A limit
    counts within the part."""


@dataclass(slots=True)
class PendingQuery:
    """One question ready to be sent. (Not frozen: that doubles what it costs to make one.)

    Its prompt is put together when it is asked for: a query that waits holds no long text of its own.
    """

    query_id: uuid.UUID
    repeat: int
    collection: str
    doc_id: str
    label: str | None
    value: str | None
    arm: str
    system_text: str | None
    prompt: Slotted
    """The template around the document, for all queries of both."""
    fills: Mapping[str, str]
    answer_schema: dict[str, Any] | None
    ordinal: int

    @property
    def user_text(self) -> str:
        """The user message."""
        return self.prompt.fill(self.fills)

    @property
    def user_json(self) -> bytes:
        """The user message as it stands between the quotes of a JSON string, in UTF-8."""
        return self.prompt.fill_json(self.fills)

    @property
    def chars(self) -> int:
        """Of the system and user messages together."""
        system = self.system_text
        return self.prompt.chars(self.fills) + (len(system) if system else 0)


class PendingQueries(Iterator[PendingQuery]):
    """The pending questions in the order of asking; see `pending`."""

    total: int
    """How many there were at the start."""
    selected: int
    """How many the selection has, answered ones included (queries x repeats)."""
    in_batches: int
    """How many are not pending because an open batch at a provider asks them."""
    beyond: int
    """How many more are pending beyond the selection's limit."""

    def __init__(self, study: Study, plan: pa.Table, repeats: int, whole: int | None = None) -> None:
        self.selected = plan.num_rows * repeats
        self.in_batches = int(pc.sum(plan["in_batches"]).as_py() or 0)
        self.total = self.selected - int(pc.sum(plan["settled"]).as_py() or 0) - self.in_batches
        self.beyond = 0 if whole is None else whole - self.total
        self._plan = plan.filter(plan["is_open"]).select(["query_id", "done"])
        self._repeats = repeats
        self._cursor = study.cursor()
        self._templates = _templates(self._cursor)
        self._queries = self._iterate()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> PendingQuery:
        return next(self._queries)

    def close(self) -> None:
        """Give the cursor back before the end is reached."""
        self._queries.close()
        self._cursor.close()

    def sample(self, count: int) -> list[PendingQuery]:
        """So many of the pending queries (each once, whatever the repeats), spread over the order of asking.

        One at random out of each of `count` equal stretches, and always the same ones. None of the others is
        rendered, and the iteration is not advanced. Not after `close` or the end.
        """
        rows = self._plan.num_rows
        count = min(count, rows)
        chance = random.Random(0)
        places = [chance.randrange(n * rows // count, (n + 1) * rows // count) for n in range(count)]
        found: dict[uuid.UUID, PendingQuery] = {}
        for start in range(0, count, PAGE):
            for query in self._page(self._plan.take(column(places[start : start + PAGE], INT))):
                found.setdefault(query.query_id, query)
        return list(found.values())

    def _iterate(self) -> Generator[PendingQuery]:
        for start in range(0, self._plan.num_rows, PAGE):
            yield from self._page(self._plan.slice(start, PAGE))
        self._cursor.close()

    def _page(self, ids: pa.Table) -> Iterator[PendingQuery]:
        page = ids.append_column("place", column(range(ids.num_rows), INT))
        with registered(self._cursor, page=page):
            rows = self._cursor.execute(statement("page_pending")).fetchall()
        wanted = list({(collection, doc_id) for _, collection, doc_id, *_ in rows})
        keys = table(collection=([key[0] for key in wanted], TEXT), doc_id=([key[1] for key in wanted], TEXT))
        with registered(self._cursor, wanted=keys):
            found = self._cursor.execute(statement("page_documents")).fetchall()
        texts = {(collection, doc_id): Slotted(text) for collection, doc_id, text in found}
        prompts: dict[tuple[str, str, str], Slotted] = {}
        for raw_id, collection, doc_id, label, value, arm, template_hash, fills, ordinal, done in rows:
            system_text, template, schema = self._templates[template_hash]
            prompt = prompts.get(key := (template_hash, collection, doc_id))
            if prompt is None:
                prompt = prompts[key] = template.around(texts[collection, doc_id])
            filled = orjson.loads(fills) if fills else {}
            query_id = uuid.UUID(bytes=raw_id)
            for repeat in range(self._repeats):
                if done is None or done[repeat] == "0":
                    yield PendingQuery(
                        query_id,
                        repeat,
                        collection,
                        doc_id,
                        label,
                        value,
                        arm,
                        system_text,
                        prompt,
                        filled,
                        schema,
                        ordinal,
                    )


def pending(
    study: Study,
    model_key: str,
    repeats: int = 1,
    selection: Selection | None = None,
    retry_outcomes: Sequence[str] = (),
) -> PendingQueries:
    """The questions of the selection that `model_key` has not settled, in order of asking, then of repeat.

    Lazy and of bounded memory. It is a snapshot: what is answered while it is read is not seen. It may be
    advanced from any thread, by one at a time.

    Args:
        study: an open study.
        model_key: of the model at its settings.
        repeats: how often each query is to be answered; repeats count from 0.
        selection: which queries; all by default.
        retry_outcomes: outcomes whose queries are asked again, such as ("failed", "empty"). The newer row
            will supersede the older; so "answered" is not among them.

    Raises:
        BadInput: an outcome that is unknown or not asked again, an unknown label, document or collection, a
            limit or a shard that makes no sense.
    """
    if repeats < 1:
        raise BadInput(f"each query must be asked at least once, not {repeats} times")
    _check_retry(retry_outcomes)
    cursor = study.cursor()
    try:
        chosen = _checked(cursor, selection or Selection())
        params = {**chosen, "model_key": model_key, "last": repeats - 1, "retry": list(retry_outcomes)}
        plan = cursor.sql(statement("plan_pending"), params=params).to_arrow_table()
        whole = None if chosen["limit"] is None else _count(cursor, {**params, "limit": None})
    finally:
        cursor.close()
    return PendingQueries(study, plan, repeats, whole)


def count_pending(
    study: Study,
    model_key: str,
    repeats: int = 1,
    selection: Selection | None = None,
    retry_outcomes: Sequence[str] = (),
) -> int:
    """How many questions `pending` would give."""
    queries = pending(study, model_key, repeats, selection, retry_outcomes)
    queries.close()
    return queries.total


def _check_retry(outcomes: Sequence[str]) -> None:
    """A new answer supersedes the older one, so nothing that is answered may be asked again that way."""
    for outcome in outcomes:
        if outcome == "answered":
            raise BadInput(
                "'answered' cannot be retried: the new answer, be it a failure, would count instead of the "
                "good one",
                hint="`--repeat 2` asks again and keeps both answers.",
            )
        if outcome not in RETRIABLE:
            raise BadInput(
                f"there is no outcome '{outcome}' to retry", hint=f"Outcomes are {', '.join(RETRIABLE)}."
            )


def _count(cursor: duckdb.DuckDBPyConnection, params: dict[str, Any]) -> int:
    """How many questions a plan with these parameters has pending."""
    plan = statement("plan_pending").rstrip().removesuffix(";")
    rows = cursor.execute(
        f"SELECT coalesce(sum($last + 1 - settled - in_batches), 0) FROM ({plan})", params
    ).fetchall()
    return int(rows[0][0])


def _checked(cursor: duckdb.DuckDBPyConnection, selection: Selection) -> dict[str, Any]:
    """The parameters of the selection for SQL; a name that selects nothing is an error, not an empty run."""
    if selection.limit is not None and selection.limit < 1:
        raise BadInput(f"a limit of {selection.limit} asks nothing", hint="Give a limit of at least 1.")
    shard, shards = None, None
    if selection.shard is not None:
        part, shards = selection.shard
        if not 1 <= part <= shards:
            raise BadInput(
                f"there is no shard {part}/{shards}", hint="Shards are 1/n to n/n, for instance 2/4."
            )
        shard = part - 1
    if selection.collection is not None:
        _known(cursor, "collection", "collections", [selection.collection])
    if selection.labels is not None:
        _known(cursor, "label", "queries", selection.labels)
    if selection.documents is not None:
        _known(cursor, "doc_id", "documents", selection.documents)
    if selection.arms is not None:
        _known(cursor, "arm", "queries", selection.arms)
    return {
        "collection": selection.collection,
        "labels": None if selection.labels is None else list(selection.labels),
        "documents": None if selection.documents is None else list(selection.documents),
        "arms": None if selection.arms is None else list(selection.arms),
        "limit": selection.limit,
        "shard": shard,
        "shards": shards,
    }


def _known(cursor: duckdb.DuckDBPyConnection, column: str, table: str, names: Sequence[str]) -> None:
    known = [
        row[0]
        for row in cursor.execute(
            f"SELECT DISTINCT {column} FROM {table} WHERE {column} IS NOT NULL"
        ).fetchall()
    ]
    for name in names:
        if name not in known:
            word = "document" if column == "doc_id" else column
            near = difflib.get_close_matches(name, known, 3)
            hint = (
                f"Did you mean {' or '.join(near)}?"
                if near
                else f"The study has {', '.join(sorted(known)[:8])}."
            )
            raise BadInput(f"the study has no {word} '{name}'", hint=hint if known else "It has none yet.")


def _templates(
    cursor: duckdb.DuckDBPyConnection,
) -> dict[str, tuple[str | None, Slotted, dict[str, Any] | None]]:
    rows = cursor.execute(
        "SELECT template_hash, system_text, user_text, answer_schema FROM templates"
    ).fetchall()
    return {
        key: (system, Slotted(user), json.loads(schema) if schema else None)
        for key, system, user, schema in rows
    }
