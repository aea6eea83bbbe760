"""A prompt is shown with the one place where it differs from its counterpart."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

import store
from evenhand.domains import judifair
from evenhand.domains.judifair import case_files
from evenhand.domains.judifair.build import build
from evenhand.domains.judifair.show import show
from store.errors import BadInput


@pytest.fixture(scope="module")
def study() -> Iterator[store.Study]:
    with store.open_study(":memory:", migrations=[judifair.MIGRATIONS]) as opened:
        build(opened, cases=case_files.bundled()[:1], placebo=True)
        yield opened


def test_the_difference_is_the_value(study: store.Study) -> None:
    shown = show(study, "theft-ebike:defendant_sex:女")
    assert (shown.value, shown.counterpart_value) == ("女", "男")
    assert (shown.here, shown.there) == ("女", "男")
    assert shown.before.endswith("性别为")
    assert shown.user_text.replace("性别为女", "性别为男") == shown.counterpart_text
    asked = {q.query_id: q.user_text for q in store.pending(study, "0" * 32)}
    assert shown.user_text == asked[shown.query_id]
    assert shown.counterpart_id is not None
    assert shown.counterpart_text == asked[shown.counterpart_id]


def test_every_query_differs_from_its_counterpart_in_one_place(study: store.Study) -> None:
    for query in list(store.pending(study, "0" * 32))[::5]:
        shown = show(study, str(query.query_id))
        assert shown.query_id == query.query_id
        assert shown.user_text == query.user_text
        assert shown.here != shown.there
        assert len(shown.here) <= 30
        assert len(shown.there) <= 30


def test_a_reference_is_shown_beside_the_first_treated_value(study: store.Study) -> None:
    shown = show(study, "theft-ebike:recusal_applied:否")
    assert shown.counterpart_value == "是"
    assert (shown.here, shown.there) == ("未提出", "提出了")


def test_queries_are_found_by_what_they_ask(study: store.Study) -> None:
    whole = show(study, "theft-ebike:prosecutor_sex:女")
    for name in (
        "theft-ebike:prosecurate_sex:女",
        "judifair/theft-ebike:prosecutor_sex:女",
        str(whole.query_id),
        whole.query_id.hex[:12],
    ):
        assert show(study, name) == whole
    assert show(study, "theft-ebike").doc_id == "theft-ebike"
    assert show(study, "theft-ebike:crime_date").label == "crime_date"
    placebo = show(study, "theft-ebike:placebo:prosecutor_sex")
    assert placebo.label == "placebo:prosecutor_sex"
    assert placebo.counterpart_id == show(study, "theft-ebike:prosecutor_sex:男").query_id


@pytest.mark.parametrize(
    "name", ["nothing", "theft-ebike:defendant_sex:雌", "other/theft-ebike", "ffffffffffff"]
)
def test_a_query_that_is_not_there(study: store.Study, name: str) -> None:
    with pytest.raises(BadInput, match="no query") as caught:
        show(study, name)
    assert "DOCUMENT:LABEL:VALUE" in (caught.value.hint or "")


def test_it_is_marked_without_colour_and_as_data(study: store.Study) -> None:
    shown = show(study, "theft-ebike:crime_time:下午")
    plain = shown.as_text().plain
    assert "2018年某日[下][上]午，" in plain
    assert json.loads(json.dumps(shown.as_dict()))["difference"] == {"here": "下", "there": "上"}


def test_a_retired_query_says_so() -> None:
    with store.open_study(":memory:", migrations=[judifair.MIGRATIONS]) as opened:
        build(opened, cases=case_files.bundled()[:1], labels=["judge_sex"])
        shown = show(opened, "theft-ebike:judge_sex:女")
        assert not shown.retired
        opened.connection.execute("UPDATE queries SET retired_at = now() WHERE value = '女'")
        again = show(opened, str(shown.query_id))
        assert again.retired
        assert "retired" in again.as_text().plain
