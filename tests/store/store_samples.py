"""A small study that the tests of this room share."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence

import store
from store import identity
from store.prompt import render
from store.rows import now

TEXT = "事实：{{who}}于{{when}}盗窃。"
SYSTEM = "你是法官。"
USER = "请判决。\n{{document}}"
LABELS: Mapping[str, Sequence[str]] = {"sex": ["男", "女"], "season": ["春", "夏", "秋"]}


def build(
    study: store.Study,
    docs: Sequence[str] = ("d0", "d1"),
    *,
    labels: Mapping[str, Sequence[str]] = LABELS,
    user: str = USER,
    text: str = TEXT,
    collection: str = "cases",
) -> str:
    """Documents x labels x values; returns the template's hash."""
    store.add_collection(study, collection, kind="bundled", description="tests")
    store.add_documents(
        study, collection, [store.Document(doc, position, text + doc) for position, doc in enumerate(docs)]
    )
    template = store.add_template(
        study, name="t", system_text=SYSTEM, user_text=user, answer_schema={"type": "object"}
    )
    store.add_queries(
        study, collection, sample_queries(docs, template, labels, user, text), retire_others=True
    )
    return template


def sample_queries(
    docs: Sequence[str],
    template: str,
    labels: Mapping[str, Sequence[str]] = LABELS,
    user: str = USER,
    text: str = TEXT,
) -> list[store.Query]:
    queries: list[store.Query] = []
    for doc in docs:
        for label, values in labels.items():
            for value in values:
                fills = {"who" if label == "sex" else "when": value}
                prompt = identity.prompt_hash(SYSTEM, render(user, text + doc, fills))
                queries.append(store.Query(doc, label, value, len(queries), prompt, template, fills))
    return queries


def model(study: store.Study, name: str = "m") -> str:
    return store.add_model(study, model=name, kind="simulated", settings={"model": name, "temperature": 1.0})


def answer(
    query: store.PendingQuery, run_id: uuid.UUID, model_key: str, outcome: str = "answered", text: str = "{}"
) -> store.PredictionRow:
    return store.PredictionRow(
        prediction_id=identity.new_prediction_id(),
        query_id=query.query_id,
        model_key=model_key,
        run_id=run_id,
        repeat=query.repeat,
        outcome=outcome,
        text=text,
        created_at=now(),
    )


def failure(
    query: store.PendingQuery, run_id: uuid.UUID, model_key: str, outcome: str = "failed"
) -> store.FailureRow:
    return store.FailureRow(
        failure_id=identity.new_prediction_id(),
        query_id=query.query_id,
        model_key=model_key,
        run_id=run_id,
        repeat=query.repeat,
        outcome=outcome,
        reason="503",
        created_at=now(),
        status=503,
    )


async def write(study: store.Study, rows: Sequence[store.PredictionRow | store.FailureRow]) -> None:
    async with store.Writer(study) as writer:
        for row in rows:
            await writer.put(row)
