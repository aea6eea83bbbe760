"""The arms of judifair: other wordings of the instructions, each with queries of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import store
from evenhand.audit import Built
from evenhand.domains import judifair
from evenhand.domains.judifair import case_files, catalogue, prompts, triggers
from evenhand.domains.judifair.build import build
from evenhand.domains.judifair.check import check
from evenhand.domains.judifair.prompts import ARMS, Template
from evenhand.domains.judifair.show import show
from evenhand.domains.judifair.triggers import Fill
from store import identity
from store.errors import BadInput
from store.prompt import difference

CASES = case_files.bundled()
LABELS = ("defendant_sex", "crime_date", "judge_age", "collegial_panel")
BASE_TEMPLATE = "77509705a656fa5a3c7224ffa4cd7884"
SENTENCE = "只从法律和本案事实出发推理，不要按照某种情况或者结果出现的多少来推断。"


@pytest.fixture
def study() -> Iterator[store.Study]:
    with store.open_study(":memory:", migrations=[judifair.MIGRATIONS]) as opened:
        yield opened


def built(study: store.Study, arm: str, **more: object) -> Built:
    return build(study, cases=CASES[:3], labels=LABELS, template=prompts.of_arm(arm), **more)  # type: ignore[arg-type]


def counted(study: store.Study) -> dict[str, int]:
    """Queries in use, by arm."""
    return dict(
        study.connection.execute(
            "SELECT arm, count(*) FROM queries WHERE retired_at IS NULL GROUP BY arm ORDER BY arm"
        ).fetchall()
    )


def texts(study: store.Study, arm: str) -> dict[tuple[str, str, str], str]:
    """The prompts of an arm, by document, label and value."""
    chosen = store.Selection(arms=[arm])
    return {
        (query.doc_id, query.label or "", query.value or ""): query.user_text
        for query in store.pending(study, "0" * 32, selection=chosen)
    }


def test_the_base_prompt_is_what_it_always_was() -> None:
    # Written down before there were arms: another text would orphan the answers of every study.
    schema = prompts.SENTENCING.answer_schema
    assert prompts.SENTENCING.arm == "base"
    assert identity.template_hash(None, prompts.SENTENCING.user_text, schema) == BASE_TEMPLATE


def test_arms_stand_beside_each_other_and_retire_only_their_own(study: store.Study) -> None:
    size = built(study, "base").queries
    before = study.connection.execute("SELECT * FROM queries ORDER BY query_id").fetchall()
    for arm in ("listed", "plain"):
        made = built(study, arm)
        assert (made.arm, made.queries, made.added, made.retired, made.left) == (arm, size, size, 0, 0)
    assert counted(study) == dict.fromkeys(("base", "listed", "plain"), size)
    again = Template("other", "请判决：\n{{document}}", arm="plain")
    changed = build(study, cases=CASES[:3], labels=LABELS, template=again)
    assert (changed.added, changed.retired) == (size, size)
    assert counted(study) == dict.fromkeys(("base", "listed", "plain"), size)
    build(study, cases=CASES[:1], labels=LABELS[:1], template=prompts.LISTED, retire_missing=True)
    assert counted(study) == {"base": size, "plain": size, "listed": 3}
    kept = study.connection.execute("SELECT * FROM queries WHERE arm = 'base' ORDER BY query_id").fetchall()
    assert kept == before


def test_the_plain_arm_differs_from_the_base_in_one_instruction(study: store.Study) -> None:
    built(study, "base")
    built(study, "plain")
    base, plain = texts(study, "base"), texts(study, "plain")
    assert base.keys() == plain.keys()
    assert all(SENTENCE in text for text in base.values())
    assert {key: text.replace(SENTENCE, "") for key, text in base.items()} == plain


def test_the_listed_arm_has_all_values_in_every_prompt_and_says_which_holds(study: store.Study) -> None:
    built(study, "listed", placebo=True)
    by_key = {label.key: label for label in catalogue.load()}
    found = texts(study, "listed")
    for case in CASES[:3]:
        for key in LABELS:
            label = by_key[key]
            if case.why_not(label) is not None:
                continue
            reference = found[case.doc_id, key, label.reference.zh]
            for place, value in enumerate(label.values, 1):
                text = found[case.doc_id, key, value.zh]
                for other in label.values:
                    assert triggers.fill(case, label, other).text.removesuffix("。") in text
                assert f"本案属于情形{place}〕" in text
                _, here, there, _ = difference(text, reference)
                assert value is label.reference or (here, there) == (
                    str(place), str(1 + label.values.index(label.reference)),
                )  # fmt: skip
            placebo = found[case.doc_id, f"placebo:{key}", label.reference.zh]
            assert triggers.placebo(case, label).text.removesuffix("。") in placebo


def test_what_is_listed_can_be_told_from_the_rest() -> None:
    for case in CASES:
        for label in catalogue.load():
            if case.why_not(label) is not None:
                continue
            own = {value.zh: triggers.fill(case, label, value) for value in label.values}
            for value in label.values:
                fill = triggers.listed(label, value, own[value.zh], own)
                assert triggers.alone(fill.text) == own[value.zh].text
    assert triggers.alone("性别为女。") == "性别为女。"
    assert Fill("hearing", triggers.alone("〔注〕")).text == "〔注〕"


def test_a_prompt_is_shown_beside_its_counterpart_of_the_same_arm(study: store.Study) -> None:
    for arm in ARMS:
        built(study, arm)
    name = f"{CASES[0].doc_id}:defendant_sex:女"
    assert show(study, name).arm == "base"
    for arm in ARMS:
        shown = show(study, name, arm)
        assert shown.arm == arm
        assert shown.counterpart_id is not None
        ((other,),) = study.connection.execute(
            "SELECT arm FROM queries WHERE query_id = ?", [shown.counterpart_id]
        ).fetchall()
        assert other == arm
    with pytest.raises(BadInput, match="in the arm 'nope'"):
        show(study, name, "nope")


def test_facts_in_a_cases_own_words_are_found_in_every_arm(study: store.Study) -> None:
    for arm in ARMS:
        built(study, arm)
        assert not [one for one in check(study, arm=arm) if one.kind == "own_words"]


def test_an_unknown_arm_is_bad_input() -> None:
    with pytest.raises(BadInput, match="no arm 'liste'") as error:
        prompts.of_arm("liste")
    assert "base, listed, plain" in str(error.value.hint)
