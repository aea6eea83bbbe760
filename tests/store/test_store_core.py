"""The core of the store from end to end: a study is built, asked, answered."""

from __future__ import annotations

import uuid
from pathlib import Path

import store
from store import identity, runs
from store.prompt import render
from store.rows import now

TEXT = "事实：{{who}}于{{when}}盗窃。"
USER = "请判决。\n{{document}}"


def build(study: store.Study, docs: int = 2, labels: dict[str, list[str]] | None = None) -> None:
    labels = labels or {"sex": ["男", "女"], "season": ["春", "夏", "秋"]}
    store.add_collection(study, "cases", kind="bundled", description="tests")
    store.add_documents(study, "cases", [store.Document(f"d{i}", i, TEXT + str(i)) for i in range(docs)])
    template = store.add_template(
        study, name="t", system_text="你是法官", user_text=USER, answer_schema={"type": "object"}
    )
    queries = []
    for i in range(docs):
        for label, values in labels.items():
            for value in values:
                fills = {"who": value} if label == "sex" else {"when": value}
                prompt = identity.prompt_hash("你是法官", render(USER, TEXT + str(i), fills))
                queries.append(store.Query(f"d{i}", label, value, len(queries), prompt, template, fills))
    store.add_queries(study, "cases", queries, retire_others=True)


def answer(
    query: store.PendingQuery, run_id: uuid.UUID, model_key: str, outcome: str = "answered"
) -> store.PredictionRow:
    return store.PredictionRow(
        prediction_id=identity.new_prediction_id(),
        query_id=query.query_id,
        model_key=model_key,
        run_id=run_id,
        repeat=query.repeat,
        outcome=outcome,
        text=f"{query.value}",
        created_at=now(),
    )


async def test_a_study_is_asked_and_answered(tmp_path: Path) -> None:
    with store.open_study(tmp_path / "s.duckdb") as study:
        build(study)
        key = store.add_model(study, model="m", kind="simulated", settings={"model": "m"})
        run_id = runs.start_run(study, "run", {"x": 1})
        questions = list(store.pending(study, key, repeats=2))
        assert len(questions) == 20
        assert [q.ordinal for q in questions] == sorted(q.ordinal for q in questions)
        assert questions[0].user_text == "请判决。\n事实：男于盗窃。0"
        assert questions[0].answer_schema == {"type": "object"}
        async with store.Writer(study) as writer:
            for question in questions[:7]:
                await writer.put(answer(question, run_id, key))
            await writer.flush()
            assert writer.committed == 7
        assert [(q.query_id, q.repeat) for q in store.pending(study, key, repeats=2)] == [
            (q.query_id, q.repeat) for q in questions[7:]
        ]
        assert store.count_pending(study, key, repeats=2) == 13
        runs.finish_run(study, run_id, "finished")
    with store.open_study(tmp_path / "s.duckdb") as study:
        assert store.count_pending(study, key, repeats=2) == 13
        (run,) = runs.list_runs(study)
        assert (run.predictions, run.state, run.models) == (7, "finished", ("m",))
