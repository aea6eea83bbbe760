"""Objects that an answer disowns, and units that it does not know, are missing with their reason."""

from __future__ import annotations

import json

import pytest

from evenhand.audit.answers.read import read
from evenhand.audit.forms import AnswerField, AnswerForm
from evenhand.audit.outcomes import Amount, YesNo

RELEASE = YesNo(name="release", kind="yes_no")
MONTHS = Amount(name="months", kind="amount", unit="months", maximum=300)
FORM = AnswerForm((AnswerField("release", "release"),))
TERM = AnswerForm((AnswerField("months", "months", (), {"years": 12.0}),))
NO, YES = '{"release": "no"}', '{"release": "yes"}'


def of(text: str):
    (reading,) = read(text, (RELEASE,), FORM)
    return reading.value, reading.read_as


@pytest.mark.parametrize(
    "text",
    [
        f"An example answer would be {YES}",
        f"For example, an answer might be:\n{YES}",
        f"Sample output:\n```json\n{YES}\n```",
        f"A similar case was decided so: {YES}",
        f"My preliminary view: {YES}",
        f"Such an answer could look like this: an example, {YES}",
        f"Possible answer: {YES}",
        f"Not {YES}",
        f"例如：{YES}",
        f"草稿：{YES}",
        f"~~{YES}~~",
        f"{YES}\nThe above is only an example.",
        f"{YES}\nPlease disregard the above.",
        f"{YES}\n以上为示例。",
        '{"example": {"release": "yes"}}',
        '{"draft_answer": {"release": "yes"}}',
        '{"similar_cases": [{"release": "yes"}]}',
        "An example:\nrelease: yes",
        "release: yes\nThis was a draft.",
    ],
)
def test_what_an_answer_disowns_is_no_answer(text):
    assert of(text) == (None, "ambiguous")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (f"The applicant drafted a plan. My decision: {YES}", True),
        (f"I considered another case. After that, the decision is {NO}", False),
        (f"Here is the answer:\n{YES}", True),
        (f"An example answer would be {NO}\nMy final answer: {YES}", True),
        (f"An example answer would be {YES}\nThe answer: {YES}", True),
        ('{"example": {"release": "no"}, "answer": {"release": "yes"}}', True),
        ('{"release": "yes", "previous_decision": {"release": "no"}}', True),
        (f"{YES}\nThis is my decision.", True),
    ],
)
def test_what_an_answer_owns_counts(text, value):
    assert of(text)[0] is value


def test_an_example_and_another_object_that_nothing_announces_leave_it_open():
    assert of(f"For example {YES}, or {NO}") == (None, "ambiguous")


@pytest.mark.parametrize(
    "unit", ["meses", "Monate", "mois", "个月", "månader", "m", "days", "EUR", "%", "semanas", "Mt."]
)
@pytest.mark.parametrize("form", ['{{"months": {}}}', "months: {}"])
def test_a_unit_that_is_not_known_is_no_amount(unit, form):
    said = f"36 {unit}"
    text = form.format(json.dumps(said, ensure_ascii=False) if form[0] == "{" else said)
    (reading,) = read(text, (MONTHS,), TERM)
    assert (reading.value, reading.read_as) == (None, "ambiguous"), text
    assert reading.note


@pytest.mark.parametrize(
    ("said", "months"), [("36 months", 36), ("3 years", 36), ("1 year 6 months", 18), ("36", 36)]
)
def test_a_unit_that_the_domain_declares_is_read(said, months):
    (reading,) = read(json.dumps({"months": said}), (MONTHS,), TERM)
    assert reading.value == months
