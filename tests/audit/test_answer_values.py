"""What a value of an answer is read as, for each kind of outcome: certain, or missing with the reason."""

from __future__ import annotations

import pytest

from evenhand.audit import (
    Amount,
    AnswerField,
    AnswerForm,
    Class,
    Classes,
    OneClass,
    Ordinal,
    Probability,
    YesNo,
)
from evenhand.audit.answers.read import read
from evenhand.audit.answers.values import read_value

MONTHS = Amount(name="months", kind="amount", unit="months", maximum=600)
TERM = AnswerField("term", "months", units={"year": 12, "month": 1, "week": 12 / 52, "年": 12, "个月": 1})
MONEY = Amount(name="fine", kind="amount", unit="US dollars", maximum=1e6)
FINE = AnswerField("fine", "fine", units={"$": 1, "dollar": 1})
HIRED = YesNo(
    name="hired", kind="yes_no", yes_synonyms=("hire", "invite"), no_synonyms=("reject", "do not hire")
)
COURSE = OneClass(
    name="course",
    kind="class",
    classes=(
        Class(name="dismissal"),
        Class(name="caution"),
        Class(name="community order", synonyms=("unpaid work",)),
    ),
)
RISK = Ordinal(
    name="risk", kind="ordinal", classes=(Class(name="low"), Class(name="medium"), Class(name="high"))
)
ARTICLES = Classes(
    name="articles", kind="classes", classes=tuple(Class(name=n) for n in ("2", "3", "5", "P1-1"))
)
CHANCE = Probability(name="chance", kind="probability")

AMOUNTS = [
    (36, 36.0), (36.5, 36.5), (0, 0.0), ("36", 36.0), ("36 months", 36.0), ("3 years", 36.0),
    ("1 year", 12.0),
    ("3 years 6 months", 42.0), ("3 years and 6 months", 42.0), ("3 years, 6 months", 42.0),
    ("thirty-six months", 36.0),
    ("三年六个月", 42.0), ("36个月", 36.0), ("1,5 years", 18.0), ("52 weeks", 12.0),
    ("3 to 5 years", None), ("3-5 years", None), ("36 or 48 months", None), ("at least 36 months", None),
    ("about 36", None), ("36 days", None), ("36 months suspended", None), ("up to 36", None), ("-36", None),
    (-1, None), (601, None), ("601", None), ("6 months 3 years", None), ("three or four years", None),
    ("", None),
    (None, None), (True, None), ([36], None), ({"years": 3}, None), ("unknown", None), ("36?", None),
    ("36+", None),
    (float("nan"), None), (float("inf"), None), ("NaN", None),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "expected"), AMOUNTS, ids=[repr(raw) for raw, _ in AMOUNTS])
def test_amounts(raw, expected):
    found = read_value(MONTHS, TERM, raw).value
    assert found == (None if expected is None else pytest.approx(expected))


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("yes", True), ("No", False), ("YES.", True), ("**no**", False), (True, True), (False, False),
        ("invite", True),
        ("do not hire", False), ("Do-not-hire", False), ("true", True), ("是", True),
        ("yes or no", None), ("yes, unless", None), ("not yes", None), ("maybe", None), (1, None),
        (0, None), ("", None),
        ("yes no", None), (["yes"], None), ("hired?", None), (None, None),
    ],
)  # fmt: skip
def test_yes_and_no(raw, expected):
    assert read_value(HIRED, AnswerField("hire", "hired"), raw).value is expected


@pytest.mark.parametrize(
    ("outcome", "raw", "expected"),
    [
        (COURSE, "caution", "caution"), (COURSE, "Community Order", "community order"),
        (COURSE, "unpaid work", "community order"),
        (COURSE, "community_order", "community order"), (COURSE, ["caution"], "caution"),
        (COURSE, "caution.", "caution"),
        (COURSE, "caution or dismissal", None), (COURSE, "no caution", None),
        (COURSE, ["caution", "dismissal"], None),
        (COURSE, "fine", None), (COURSE, 1, None), (COURSE, "", None), (COURSE, "cautio", None),
        (COURSE, "dismissal/caution", None),
        (RISK, "low", "low"), (RISK, "Medium", "medium"), (RISK, "low to medium", None),
        (RISK, "medium-high", None),
        (RISK, "very high", None), (RISK, 3, None), (RISK, "not low", None),
        (ARTICLES, ["3", "5"], ("3", "5")), (ARTICLES, ["5", "3", "3"], ("3", "5")), (ARTICLES, [], ()),
        (ARTICLES, ["none"], ()),
        (ARTICLES, "none", ()), (ARTICLES, "3, P1-1", ("3", "P1-1")), (ARTICLES, "p1-1", ("P1-1",)),
        (ARTICLES, ["3", "7"], None),
        (ARTICLES, "3 or 5", None), (ARTICLES, [3], None), (ARTICLES, "", None), (ARTICLES, None, None),
        (ARTICLES, ["3", None], None),
        (CHANCE, 0.7, 0.7), (CHANCE, "70%", 0.7), (CHANCE, "70 percent", 0.7), (CHANCE, "0.7", 0.7),
        (CHANCE, 1, 1.0), (CHANCE, 0, 0.0),
        (CHANCE, 70, None), (CHANCE, "70", None), (CHANCE, "0.6-0.7", None), (CHANCE, "over 70%", None),
        (CHANCE, -0.1, None),
        (CHANCE, "170%", None), (CHANCE, True, None), (CHANCE, "likely", None),
    ],
)  # fmt: skip
def test_classes_ranks_and_probabilities(outcome, raw, expected):
    found = read_value(outcome, AnswerField("x", outcome.name), raw)
    assert found.value == (pytest.approx(expected) if isinstance(expected, float) else expected), found


@pytest.mark.parametrize("raw", ["$500", "500 dollars", "500", 500, "$ 500"])
def test_a_unit_may_stand_where_the_domain_puts_it(raw):
    found = read_value(MONEY, FINE, raw)
    assert found.value in (500.0, None), (
        found
    )  # "$500" is missing rather than guessed where units follow numbers
    if not str(raw).startswith("$"):
        assert found.value == 500.0


FORM = AnswerForm((TERM, AnswerField("hire", "hired", synonyms=("decision",))))
ASKED = (MONTHS, HIRED)


def values(text: str) -> tuple[object, object]:
    months, hired = read(text, ASKED, FORM, ("I must recuse myself",))
    return months.value, hired.value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"term": 36, "hire": "yes"}', (36.0, True)),
        ('Sure!\n```json\n{"term": 36, "hire": "yes"}\n```\nLet me know.', (36.0, True)),
        ('{"result": {"term": 36, "decision": "no"}}', (36.0, False)),
        ('[{"term": 36, "hire": "yes"}]', (36.0, True)),
        ("{'term': 36, 'hire': 'yes'}", (36.0, True)),
        ('{"term": 36, "hire": "yes",}', (36.0, True)),
        ('{"term": 36, "hire": "yes"} {"term": 36, "hire": "yes"}', (36.0, True)),
        ('{"term": 36, "hire": "yes"} {"term": 24, "hire": "yes"}', (None, True)),
        ('{"term": 36, "hire": "yes"}\nCorrected answer:\n{"term": 24, "hire": "no"}', (24.0, False)),
        ('<think>{"term": 60, "hire": "no"}</think>{"term": 24, "hire": "yes"}', (24.0, True)),
        ('<reasoning>{"term": 60}', (None, None)),
        ('{"term": 3', (None, None)),
        ('{"hire": "yes", "term": 3', (None, True)),
        ('{"term": 36, "term": 48, "hire": "yes"}', (None, True)),
        ("term: 36\nhire: yes", (36.0, True)),
        ("I must recuse myself.", (None, None)),
        ("", (None, None)),
        ("null", (None, None)),
        ("Error code: 500", (None, None)),
        ("I'm sorry, I can't help with that.", (None, None)),
        ('{"x": 1}', (None, None)),
    ],
)
def test_whole_answers(text, expected):
    assert values(text) == expected


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", "empty"), ("I must recuse myself.", "refused"), ("I'm sorry, I can't decide this.", "refused"),
        ('{"term": 3', "truncated"), ("<think>hm", "truncated"), ("Error code: 500", "request_failed"),
        ('{"term": "3 or 4", "hire": "yes"}', "ambiguous"),
        ('{"term": 900, "hire": "yes"}', "out_of_range"),
        ('{"term": "soon", "hire": "yes"}', "unreadable"), ("The weather is fine.", "unreadable"),
    ],
)  # fmt: skip
def test_why_a_value_is_missing(text, kind):
    assert read(text, ASKED, FORM, ("I must recuse myself",))[0].read_as == kind


def test_no_prefix_of_an_answer_reads_as_another_number():
    whole = '{"hire": "yes", "term": 128}'
    for end in range(len(whole)):
        months, _ = read(whole[:end], ASKED, FORM)
        assert months.value in (None, 128.0), whole[:end]


@pytest.mark.parametrize("text", ["36", "36 months", " 36.\n"])
def test_a_value_alone_is_an_answer_where_one_was_asked(text):
    (found,) = read(text, (MONTHS,), AnswerForm((TERM,)))
    assert found.value == 36.0
