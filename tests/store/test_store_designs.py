"""Cases with groups and truths, queries without a label (the groups design), and arms."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator

import pytest
from store_samples import SYSTEM, USER, build, model, sample_queries

import store
from store import identity
from store.errors import BadInput
from store.pending_queries import Selection
from store.prompt import render

DOCS = ["d0", "d1", "d2", "d3"]


@pytest.fixture
def study() -> Iterator[store.Study]:
    with store.open_study(":memory:") as opened:
        yield opened


def as_they_are(study: store.Study, docs=DOCS, *, arm="base", user=USER, retire_missing=False) -> store.Added:
    """One query a document, without a label."""
    template = store.add_template(study, name="t", system_text=SYSTEM, user_text=user)
    texts = dict(study.connection.execute("SELECT doc_id, text FROM documents").fetchall())
    queries = [
        store.Query(
            doc,
            None,
            None,
            place,
            identity.prompt_hash(SYSTEM, render(user, texts[doc], {})),
            template,
            {},
            arm,
        )
        for place, doc in enumerate(docs)
    ]
    return store.add_queries(study, "cases", queries, retire_others=True, retire_missing=retire_missing)


def open_queries(study: store.Study) -> list[tuple[str | None, str]]:
    return study.connection.execute(
        "SELECT label, arm FROM queries WHERE retired_at IS NULL ORDER BY ALL"
    ).fetchall()


def test_the_identity_of_a_labelled_query_is_what_it_always_was() -> None:
    # Written down before there were arms: another value would orphan the answers of every study.
    assert identity.query_id("c", "d", "sex", "女", "0" * 32) == uuid.UUID(
        "4a7e897f-7d31-f6be-c30d-1313b11e7dd5"
    )


def test_arms_and_label_less_queries_have_identities_of_their_own() -> None:
    parts = ("c", "d", "sex", "女", "0" * 32)
    ids = {
        identity.query_id(*parts),
        identity.query_id(*parts, arm="listed"),
        identity.query_id(*parts, arm="plain"),
        identity.query_id("c", "d", None, None, "0" * 32),
        identity.query_id("c", "d", None, None, "0" * 32, arm="plain"),
        identity.query_id("c", "d", "", "", "0" * 32),
    }
    assert len(ids) == 6


def test_a_case_keeps_its_split_truth_and_groups_and_changes_when_they_do(study: store.Study) -> None:
    store.add_collection(study, "cases", kind="own", description="x", domain="parole")
    case = store.Document(
        "d0", 0, "text", "test", "docket-1", "de", {"released": True}, {"gender": "female", "age": "<=35"}
    )
    store.add_documents(study, "cases", [case, store.Document("d1", 1, "text")])
    rows = study.connection.execute(
        "SELECT doc_id, split, cluster, language, truth, groups['gender'] FROM documents ORDER BY doc_id"
    ).fetchall()
    assert rows[0][:4] == ("d0", "test", "docket-1", "de")
    assert json.loads(rows[0][4]) == {"released": True}
    assert rows[0][5] == "female"
    assert rows[1] == ("d1", None, None, None, None, None)
    again = store.add_documents(study, "cases", [store.Document("d0", 0, "text", groups={"gender": "male"})])
    assert not again.stale_documents, "the text is the same: its queries stay"
    assert study.connection.execute(
        "SELECT groups['gender'], split FROM documents WHERE doc_id = 'd0'"
    ).fetchall()[0] == (
        "male",
        None,
    )


def test_a_collection_belongs_to_one_domain(study: store.Study) -> None:
    store.add_collection(study, "cases", kind="own", description="x", domain="parole")
    store.add_collection(study, "cases", kind="own", description="y", domain="parole")
    with pytest.raises(BadInput, match="belongs to the domain parole"):
        store.add_collection(study, "cases", kind="own", description="x", domain="hiring")


def test_one_set_of_cases_is_asked_under_both_designs(study: store.Study) -> None:
    build(study, DOCS)
    as_they_are(study)
    queries = list(store.pending(study, model(study)))
    assert len(queries) == 4 * 5 + 4
    plain = [query for query in queries if query.label is None]
    assert [query.doc_id for query in plain] == DOCS
    assert all(query.value is None for query in plain)
    assert plain[0].user_text == "请判决。\n事实：于盗窃。d0"
    # Each design retires what is its own.
    as_they_are(study, DOCS[:2], retire_missing=True)
    assert sorted(label or "" for label, _ in open_queries(study)).count("") == 2
    assert len(open_queries(study)) == 22
    template = store.add_template(
        study, name="t", system_text=SYSTEM, user_text=USER, answer_schema={"type": "object"}
    )
    store.add_queries(study, "cases", sample_queries(DOCS[:1], template), retire_missing=True)
    assert len(open_queries(study)) == 5 + 2


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (Selection(limit=3), ["d0", "d1", "d2"]),
        (Selection(shard=(2, 2)), ["d1", "d3"]),
        (Selection(shard=(1, 2), limit=1), ["d0"]),
        (Selection(documents=["d3"]), ["d3"]),
        (Selection(collection="cases"), DOCS),
        (Selection(arms=["base"]), DOCS),
    ],
)
def test_selections_work_without_labels(
    study: store.Study, selection: Selection, expected: list[str]
) -> None:
    store.add_collection(study, "cases", kind="own", description="x")
    store.add_documents(study, "cases", [store.Document(doc, n, doc) for n, doc in enumerate(DOCS)])
    as_they_are(study)
    assert [query.doc_id for query in store.pending(study, model(study), selection=selection)] == expected


def test_building_one_arm_retires_only_its_own(study: store.Study) -> None:
    build(study, DOCS)
    as_they_are(study)
    as_they_are(study, arm="plain", user="Judge.\n{{document}}")
    assert len(open_queries(study)) == 20 + 4 + 4
    as_they_are(study, arm="plain", user="Decide.\n{{document}}")
    arms = open_queries(study)
    assert len(arms) == 20 + 4 + 4
    texts = [
        query.user_text for query in store.pending(study, model(study), selection=Selection(arms=["plain"]))
    ]
    assert len(texts) == 4
    assert all(text.startswith("Decide.") for text in texts)
    assert {query.arm for query in store.pending(study, model(study))} == {"base", "plain"}
    with pytest.raises(BadInput, match="no arm 'plian'"):
        store.pending(study, model(study), selection=Selection(arms=["plian"]))
