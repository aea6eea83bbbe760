"""Building a study: additions are idempotent, templates never mix, texts and prompts stay together."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from store_samples import SYSTEM, TEXT, USER, answer, build, model, sample_queries, write

import store
from store import identity, runs
from store.prompt import fill


@pytest.fixture
def study() -> Iterator[store.Study]:
    with store.open_study(":memory:") as opened:
        yield opened


def active(study: store.Study) -> list[tuple[str, str, str]]:
    return study.connection.execute(
        "SELECT doc_id, label, value FROM queries WHERE retired_at IS NULL ORDER BY ordinal"
    ).fetchall()


def asked(study: store.Study) -> list[str]:
    return [query.user_text for query in store.pending(study, "nobody")]


def test_building_twice_changes_nothing(study: store.Study) -> None:
    build(study)
    tables = ("collections", "documents", "templates", "queries")
    before = [study.connection.execute(f"FROM {table} ORDER BY ALL").fetchall() for table in tables]
    build(study)
    after = [study.connection.execute(f"FROM {table} ORDER BY ALL").fetchall() for table in tables]
    assert after[1:] == before[1:]
    assert len(after[3]) == 10
    again = store.add_queries(study, "cases", sample_queries(["d0", "d1"], before[2][0][0]))
    assert (again.added, again.present, again.retired) == (0, 10, 0)


def test_another_template_retires_and_the_old_one_comes_back(study: store.Study) -> None:
    build(study)
    key = model(study)
    old = asked(study)
    build(study, user=USER + "只答JSON。")
    assert len(active(study)) == 10
    assert all(text.endswith("只答JSON。") for text in asked(study))
    assert study.connection.execute("SELECT count(*) FROM queries").fetchall() == [(20,)]
    build(study)
    assert asked(study) == old
    assert store.count_pending(study, key) == 10


def test_retiring_is_by_label(study: store.Study) -> None:
    """A label rebuilt alone with another template leaves the others as they are."""
    build(study)
    other = store.add_template(study, name="u", system_text=None, user_text="新：{{document}}")
    queries = sample_queries(["d0"], other, {"sex": ["男", "女"]}, "新：{{document}}")
    added = store.add_queries(study, "cases", queries, retire_others=True)
    assert (added.added, added.retired) == (2, 4)  # d1's too: one estimate never mixes templates
    assert len(active(study)) == 8


def test_a_sample_leaves_other_documents_as_they_are(study: store.Study) -> None:
    template = build(study, docs=["d0", "d1", "d2"])
    added = store.add_queries(study, "cases", sample_queries(["d1"], template), retire_others=True)
    assert (added.added, added.retired) == (0, 0)
    assert len(active(study)) == 15


def test_an_edited_document_retires_its_queries(study: store.Study) -> None:
    """Its text is stored once, so that the old prompts cannot be made any more."""
    template = build(study)
    edited = "改：" + TEXT
    added = store.add_documents(
        study, "cases", [store.Document("d0", 0, edited + "d0"), store.Document("d1", 1, TEXT + "d1")]
    )
    assert (added.added, added.present, added.retired, added.stale_documents) == (0, 2, 5, ("d0",))
    assert {doc for doc, _, _ in active(study)} == {"d1"}
    store.add_queries(study, "cases", sample_queries(["d0"], template, text=edited), retire_others=True)
    assert len(active(study)) == 10
    for query in store.pending(study, "nobody"):
        stored = study.connection.execute(
            "SELECT prompt_hash FROM queries WHERE query_id = ?", [query.query_id]
        ).fetchall()
        assert stored == [(identity.prompt_hash(query.system_text, query.user_text),)]


def test_the_same_prompt_made_of_other_parts_is_the_same_query(study: store.Study) -> None:
    """A word moves from the text into the slot: the prompt, and so the query, stays; its parts must
    follow."""
    template = store.add_template(study, name="t", system_text=None, user_text="{{document}}")
    store.add_collection(study, "c", kind="own", description="")
    prompt = identity.prompt_hash(None, "男子盗窃")
    for text, slot in (("{{who}}子盗窃", "男"), ("{{who}}盗窃", "男子")):
        store.add_documents(study, "c", [store.Document("d", 0, text)])
        assert fill(text, {"who": slot}) == "男子盗窃"
        store.add_queries(
            study,
            "c",
            [store.Query("d", "sex", "男", 0, prompt, template, {"who": slot})],
            retire_others=True,
        )
        assert asked(study) == ["男子盗窃"]
    assert study.connection.execute("SELECT count(*) FROM queries").fetchall() == [(1,)]


async def test_answers_of_a_retired_query_stay(study: store.Study) -> None:
    build(study)
    key = model(study)
    run_id = runs.start_run(study, "run", {})
    row = answer(next(store.pending(study, key)), run_id, key)
    build(study, user="别的{{document}}")
    await write(study, [row])
    build(study)
    assert store.count_pending(study, key) == 9


def test_mistakes_are_told(study: store.Study) -> None:
    template = build(study)
    with pytest.raises(store.BadInput, match="is bundled, not own"):
        store.add_collection(study, "cases", kind="own", description="")
    with pytest.raises(store.BadInput, match="two documents with the id 'd'"):
        store.add_documents(study, "cases", [store.Document("d", 0, "a"), store.Document("d", 1, "b")])
    with pytest.raises(store.BadInput, match="the document 'd9'"):
        store.add_queries(study, "cases", [store.Query("d9", "l", "v", 0, "p", template, {})])
    with pytest.raises(store.BadInput, match="the template nowhere"):
        store.add_queries(study, "cases", [store.Query("d0", "l", "v", 0, "p", "nowhere", {})])
    assert len(active(study)) == 10
    assert build(study) == template  # and nothing is left half done


def test_a_template_is_found_by_what_it_says(study: store.Study) -> None:
    one = store.add_template(study, name="a", system_text=SYSTEM, user_text=USER)
    assert store.add_template(study, name="another name", system_text=SYSTEM, user_text=USER) == one
    assert store.add_template(study, name="a", system_text=None, user_text=USER) != one
    assert store.add_template(study, name="a", system_text=SYSTEM, user_text=USER, answer_schema={}) != one


def test_imported_queries_are_never_asked(study: store.Study) -> None:
    store.add_collection(study, "import", kind="imported", description="")
    store.add_documents(study, "import", [store.Document("1", 0)])
    queries = [store.Query("1", "sex", value, i) for i, value in enumerate(["男", "女"])]
    assert store.add_queries(study, "import", queries).added == 2
    assert store.add_queries(study, "import", queries).added == 0
    assert store.count_pending(study, "m") == 0
    assert queries[0].query_id("import") == identity.query_id("import", "1", "sex", "男", None)
