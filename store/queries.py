"""What is asked: collections, documents, templates, queries, and the models they are put to.

All additions are idempotent: adding the same again changes nothing.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import duckdb
import pyarrow as pa

from store import identity
from store.columns import BIG, INT, TEXT, UUID, table
from store.errors import BadInput
from store.rows import now
from store.sql import affected, chunks, registered, statement, transaction
from store.study import Study

CHUNK = 20_000


@dataclass(frozen=True, slots=True)
class Document:
    """A document of a collection: a case. `text` holds `{{slot}}`s; None for an import, which has only
    answers."""

    doc_id: str
    position: int
    text: str | None = None
    split: str | None = None
    cluster: str | None = None
    """What documents of one origin share."""
    language: str | None = None
    truth: Mapping[str, Any] | None = None
    """Outcome -> true value."""
    groups: Mapping[str, str] | None = None
    """Attribute -> group."""


@dataclass(frozen=True, slots=True)
class Query:
    """One question: a document with one label at one value, or, without both, as it is.

    `arm` is the wording of the instructions. `prompt_hash`, `template_hash` and `fills` are None for an
    import. `ordinal` is the order of asking.
    """

    doc_id: str
    label: str | None
    value: str | None
    ordinal: int
    prompt_hash: str | None = None
    template_hash: str | None = None
    fills: Mapping[str, str] | None = None
    arm: str = identity.BASE_ARM

    def query_id(self, collection: str) -> uuid.UUID:
        """The identity of this query in a collection."""
        return identity.query_id(collection, self.doc_id, self.label, self.value, self.prompt_hash, self.arm)


@dataclass(frozen=True, slots=True)
class Added:
    """What an addition did."""

    added: int
    present: int = 0
    retired: int = 0
    left: int = 0
    """Queries of the collection that were not added now and still count."""
    left_documents: int = 0
    """The documents that these are about."""
    stale_documents: tuple[str, ...] = field(default=())
    """Documents whose text changed: their old queries are retired, as their prompts no longer exist."""


def add_collection(
    study: Study, collection: str, *, kind: str, description: str, domain: str | None = None
) -> None:
    """Add a collection (kind: bundled, own or imported) of a domain, or update its description.

    Raises:
        BadInput: it is there and of another kind or domain: names of collections are unique in a study.
    """
    rows = study.connection.execute(
        "SELECT kind, domain FROM collections WHERE collection = ?", [collection]
    ).fetchall()
    if rows and rows[0][1] not in (None, domain):
        raise BadInput(
            f"the collection '{collection}' is there already and belongs to the domain {rows[0][1]}",
            hint="Give the new one another name (`--collection`).",
        )
    if rows and rows[0][0] != kind:
        raise BadInput(
            f"the collection '{collection}' is there already and is {rows[0][0]}, not {kind}",
            hint="Give the new one another name.",
        )
    study.connection.execute(
        statement("add_collection"),
        [collection, kind, description, now(), domain],
    )
    study.resolve_names()


def add_documents(study: Study, collection: str, documents: Iterable[Document]) -> Added:
    """Add documents. A document whose text differs from the stored one replaces it and retires its queries.

    Raises:
        BadInput: two documents have one id.
    """
    added = present = retired = 0
    stale: list[str] = []
    with transaction(study.connection) as connection:
        for chunk in chunks(documents, CHUNK):
            ids = [document.doc_id for document in chunk]
            if len(set(ids)) < len(ids):
                twice = next(i for i in ids if ids.count(i) > 1)
                raise BadInput(f"the collection '{collection}' has two documents with the id '{twice}'")
            documents_table = table(
                doc_id=(ids, TEXT),
                position=([document.position for document in chunk], INT),
                text=([document.text for document in chunk], TEXT),
                split=([document.split for document in chunk], TEXT),
                cluster=([document.cluster for document in chunk], TEXT),
                language=([document.language for document in chunk], TEXT),
                truth=([_json(document.truth) for document in chunk], TEXT),
                groups=([_json(document.groups) for document in chunk], TEXT),
            )
            with registered(connection, new_documents=documents_table):
                changed = connection.execute(statement("changed_documents"), [collection]).fetchall()
                for (doc_id,) in changed:
                    stale.append(doc_id)
                    retired += affected(
                        connection.execute(
                            "UPDATE queries SET retired_at = ? WHERE collection = ? AND doc_id = ? "
                            "AND retired_at IS NULL AND prompt_hash IS NOT NULL",
                            [now(), collection, doc_id],
                        )
                    )
                connection.execute(statement("update_documents"), [collection])
                fresh = affected(connection.execute(statement("insert_documents"), [collection]))
            added += fresh
            present += len(chunk) - fresh
    return Added(added, present, retired, stale_documents=tuple(stale))


def add_template(
    study: Study,
    *,
    name: str,
    system_text: str | None,
    user_text: str,
    answer_schema: Mapping[str, Any] | None = None,
) -> str:
    """Add a prompt template and return its hash. `{{document}}` in `user_text` is the filled document."""
    key = identity.template_hash(system_text, user_text, answer_schema)
    schema = None if answer_schema is None else json.dumps(answer_schema, ensure_ascii=False)
    study.connection.execute(
        "INSERT INTO templates VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        [key, name, system_text, user_text, schema, now()],
    )
    return key


def add_queries(
    study: Study,
    collection: str,
    queries: Iterable[Query],
    *,
    retire_others: bool = False,
    retire_missing: bool = False,
) -> Added:
    """Add queries; one that was retired counts again.

    With `retire_others`, a query of the collection is retired if its label and arm are among those added
    and it has another template, or asks another prompt for the same document, label and value: an estimate
    never mixes templates. Its answers stay. With `retire_missing`, every query of the collection, of the
    same arms and design, that is not among those added is retired.

    Raises:
        BadInput: a query names a document or a template that the study does not have.
    """
    total = added = retired = 0
    with transaction(study.connection) as connection:
        connection.execute(statement("stage_queries"))
        for chunk in chunks(queries, CHUNK):
            total += len(chunk)
            with registered(connection, new_queries=_queries_table(collection, chunk)):
                connection.execute(
                    "INSERT INTO staged_queries BY NAME SELECT * FROM new_queries ON CONFLICT DO NOTHING"
                )
        _check_staged(connection, collection)
        if retire_others:
            retired = affected(connection.execute(statement("retire_queries"), [now(), collection]))
        if retire_missing:
            retired += affected(connection.execute(statement("retire_missing"), [now(), collection]))
        connection.execute(statement("revive_queries"))
        added = affected(connection.execute(statement("insert_queries"), [collection]))
        ((left, left_documents),) = connection.execute(statement("left_queries"), [collection]).fetchall()
        connection.execute("DROP TABLE staged_queries")
    return Added(added, total - added, retired, left, left_documents)


def add_model(
    study: Study,
    *,
    model: str,
    kind: str,
    settings: Mapping[str, Any],
    temperature: float | None = None,
    top_p: float | None = None,
    max_tokens: int | None = None,
    seed: int | None = None,
) -> str:
    """Add a model at its settings (kind: api, vllm, embedded, simulated, imported) and return its model_key.

    `settings` is all that can change an answer, and is what is hashed; the other columns are for reading.
    """
    key = identity.model_key(settings)
    study.connection.execute(
        "INSERT INTO models VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        [
            key,
            model,
            kind,
            temperature,
            top_p,
            max_tokens,
            seed,
            json.dumps(dict(settings), ensure_ascii=False, sort_keys=True),
            now(),
        ],
    )
    return key


def _json(found: Mapping[str, Any] | None) -> str | None:
    return None if found is None else json.dumps(dict(found), ensure_ascii=False)


def _queries_table(collection: str, queries: list[Query]) -> pa.Table:
    fills = [_json(query.fills) for query in queries]
    return table(
        query_id=([query.query_id(collection) for query in queries], UUID),
        doc_id=([query.doc_id for query in queries], TEXT),
        label=([query.label for query in queries], TEXT),
        value=([query.value for query in queries], TEXT),
        arm=([query.arm for query in queries], TEXT),
        prompt_hash=([query.prompt_hash for query in queries], TEXT),
        template_hash=([query.template_hash for query in queries], TEXT),
        fills=(fills, TEXT),
        ordinal=([query.ordinal for query in queries], BIG),
    )


def _check_staged(connection: duckdb.DuckDBPyConnection, collection: str) -> None:
    orphans = connection.execute(
        "SELECT doc_id FROM staged_queries "
        "ANTI JOIN (FROM documents WHERE collection = ?) USING (doc_id) LIMIT 1",
        [collection],
    ).fetchall()
    if orphans:
        raise BadInput(
            f"a query names the document '{orphans[0][0]}', which the collection '{collection}' does not have"
        )
    unknown = connection.execute(
        "SELECT template_hash FROM staged_queries ANTI JOIN templates USING (template_hash) "
        "WHERE template_hash IS NOT NULL LIMIT 1"
    ).fetchall()
    if unknown:
        raise BadInput(f"a query names the template {unknown[0][0]}, which the study does not have")
