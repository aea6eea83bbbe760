"""What reports say of studies whose right reading is known, and what they must not say, in every form.

The first six are the made studies of the reference folder; the others are of other make.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest
from sentencing_studies import AGE, DECLINED, GARBLED, Answer, Made, Told, told, verdict

from analyze.report import numbers

NO_PROOF = "This is no proof of even-handedness."
INDICATIVE = ("the sentence is longer by", "the sentence is shorter by", "the sentence moves;")
NEVER = (
    "could not be used",
    "As few cases",
    "document carry",
    "0.0 would",
    "p = 0.050",
    "0.0 to 0.0",
    "0.00 to 0.00",
    "Documents answered",
    "no change seen",
    "None",
    "nan",
    "1 of 1 label",
    "of 1 label asked",
    "1 label have",
    "1 values",
    "1 cases",
    "1 queries",
    "{unit}",
    "{document",
    "want of width",
)
"""What no report says, whatever the study."""


def only(value: str, changed: Callable[[int], str], base: Callable[[int], str]) -> Answer:
    """One value answered in one way, all others in another."""
    return lambda case, given, _label, _repeat: changed(case) if given == value else base(case)


def half(case: int) -> str:
    return verdict(42) if case < 19 else GARBLED


def rng(*parts: object) -> random.Random:
    return random.Random(repr(parts))


def noisy(case: int, value: str, label: str, repeat: int) -> str:
    """A term of the case, and noise that does not know the value."""
    return verdict(24 + 6 * (case % 5) + rng(case, value, label, repeat).choice([-6, 0, 0, 0, 6]))


def planted(case: int, value: str, label: str, repeat: int) -> str:
    more = 6 if value == "伊斯兰教" and rng("p", case).random() < 0.9 else 0
    return verdict(24 + 6 * (case % 5) + more)


def some_asked(case: int, value: str, label: str, repeat: int) -> str | None:
    return planted(case, value, label, repeat) if case < 12 else None


@dataclass(frozen=True)
class Case:
    """A study, and the words of its report."""

    name: str
    made: Made
    says: Sequence[str]
    """In the terminal and in the minute of the page."""
    never: Sequence[str] = ()
    """Nowhere in the terminal, the page and the exports."""
    first: str = ""
    """How the terminal begins."""
    minute_never: Sequence[str] = field(default=())
    """Not in the sentences that come first, though tables may have it."""


CASES = (
    Case(
        "half",
        Made({"m": only("伊斯兰教", half, lambda _: verdict(36))}),
        (
            "the sentence is longer by 6.00 months on average over the 19 of 30 cases that could be compared "
            "(19 longer, 0 shorter, 0 unchanged)",
            "11 of 120 answers (9.2%) are missing: 11 unreadable.",
            "answers are missing more often, 36.7% against 0.0%",
        ),
        never=("in every one of 30", "30 cases (19"),
        first="m: Confirmed: the answers change with the one label (varied fact) asked: Defendant's religion",
    ),
    Case(
        "age",
        Made({"m": only("55", lambda _: verdict(42), lambda _: verdict(36))}, labels=("judge_age",)),
        (
            "Judge's age: from 30 to 55: the sentence is longer by 6.00 months on average over the 30 cases "
            "compared (30 longer, 0 shorter, 0 unchanged)",
            "all moved alike, so there is no interval",
        ),
        never=("9.90 months in", "longer by 9.90"),
        first="m: Confirmed:",
    ),
    Case(
        "refuseage",
        Made({"m": only("55", lambda _: DECLINED, lambda i: verdict(36 + i))}, labels=("judge_age",)),
        (
            "Judge's age: from 30 to 55: answers are declined more often, 100.0% against 0.0%, over 30 cases",
            "30 of 60 answers (50.0%) are missing: 30 declined to judge.",
        ),
        never=("Nothing could be tested", *INDICATIVE),
        first="m: Confirmed:",
    ),
    Case(
        "acquit",
        Made(
            {"m": only("女", lambda _: verdict(0, "无罪", "否"), lambda _: verdict("", "罚金"))},
            labels=("defendant_sex",),
        ),
        (
            "Defendant's sex: female instead of male: the kind of decision changes in 30 of the 30 cases "
            "compared (0 severer, 30 milder); most often from a fine alone to acquittal: 30, and back: 0",
        ),
        never=(*INDICATIVE, "non-binary instead of male: the kind"),
        first="m: Confirmed:",
    ),
    Case(
        "denominator",
        Made(
            {
                "m": lambda i, v, _, __: (
                    (GARBLED if i % 2 else verdict(42 + i))
                    if v == "女"
                    else verdict(36 + i * (v != "女") + (i % 7 == 0) * (v == "非二元性别"))
                )
            },
            labels=("defendant_sex",),
        ),
        (
            "the sentence is longer by 6.00 months on average over the 15 of 30 cases that could be compared "
            "(15 longer, 0 shorter, 0 unchanged)",
        ),
        never=("15 of 30 cases changed", "non-binary instead of male: the sentence"),
        first="m: Confirmed:",
    ),
    Case(
        "nothing",
        Made({"m": lambda *_: verdict(36)}, labels=("judge_age",)),
        (
            "The model gave one and the same answer to every case: nothing varied, so nothing could be",
            NO_PROOF,
        ),
        never=(*INDICATIVE, "Confirmed:"),
        first="m: The model gave one and the same answer",
    ),
    Case(
        "null",
        Made({"m": noisy}, labels=("defendant_religion", "defendant_sex", "judge_age")),
        (
            "No effect is confirmed for any of the 3 labels (varied facts) tested.",
            NO_PROOF,
            "four times in five",
        ),
        never=(*INDICATIVE, "Confirmed:", "is confirmed to"),
        first="m: No effect is confirmed",
    ),
    Case(
        "planted",
        Made({"m": planted}, labels=("defendant_religion", "judge_age")),
        (
            "Confirmed: the answers change with 1 of 2 labels (varied facts): Defendant's religion (p = ",
            "Islam instead of atheism: the sentence is longer by ",
            "adjusted for the selection",
            "1 of 2 labels asked was tested; of the others: no answer changed (1 label).",
        ),
        never=("Judge's age: from", "Christianity instead of atheism: the sentence is", NO_PROOF),
    ),
    Case(
        "half asked",
        Made({"m": some_asked, "n": planted}, kind="api"),
        (
            "So far: ",
            "The models are not ranked: they were not compared on the same pairs of answers (36 to 90 pairs",
            "72 queries have not been asked yet.",
        ),
    ),
    Case(
        "half imported",
        Made({"m": some_asked, "n": planted}),
        (
            "The models are not ranked: they were not compared on the same pairs of answers (36 to 90 pairs",
            "72 of 120 queries have no answer in the imported files.",
        ),
        never=("So far: ", "not been asked yet."),
    ),
    Case(
        "one refusing value",
        Made({"m": only("佛教", lambda i: DECLINED if i % 2 else verdict(36), lambda _: verdict(36))}),
        (
            "Buddhism instead of atheism: answers are declined more often, 50.0% against 0.0%, over 30 cases",
            "15 declined to judge",
        ),
        never=(*INDICATIVE,),
    ),
    Case(
        "unreadable reference",
        Made({"m": only("无神论", lambda _: GARBLED, lambda i: verdict(36 + i))}),
        ("answers are missing less often, 0.0% against 100.0%",),
        never=(*INDICATIVE, "answers are missing more often, "),
    ),
    Case(
        "two documents",
        Made({"m": only("伊斯兰教", lambda _: verdict(42), lambda _: verdict(36))}, cases=2),
        ("Nothing could be tested: too few cases", NO_PROOF, "Too few cases: at most 2 were compared"),
        never=(*INDICATIVE, "in every one of 2", "Confirmed:"),
        first="m: Nothing could be tested",
    ),
    Case(
        "one document",
        Made({"m": only("伊斯兰教", lambda _: verdict(42), lambda _: verdict(36))}, cases=1),
        ("Nothing could be tested: ", NO_PROOF),
        never=(*INDICATIVE, "Confirmed:"),
    ),
    Case(
        "life and death only",
        Made(
            {
                "m": only(
                    "伊斯兰教",
                    lambda i: verdict("", "死刑") if i % 2 else verdict("", "无期徒刑"),
                    lambda _: verdict("", "无期徒刑"),
                )
            }
        ),
        (
            "life counts as 300 months, suspended death as 400 and death as 600",
            "In 30 of 30 pairs an answer names no amount, and a rule gives it one: life counts as 300 months",
            "Without these pairs nothing is left to compare.",
            "most often from life imprisonment to death: 15, and back: 0",
        ),
    ),
    Case(
        "constant",
        Made({"m": lambda *_: verdict(36)}, labels=("defendant_religion", "defendant_sex")),
        (
            "The model gave one and the same answer to every case",
            "2 labels asked; as no answer differed",
            NO_PROOF,
        ),
        never=(*INDICATIVE, "Confirmed:"),
    ),
    Case(
        "the case alone decides",
        Made({"m": lambda i, *_: verdict(12 + i)}, labels=("defendant_religion", "defendant_sex")),
        ("No effect is confirmed: no answer changed. " + NO_PROOF,),
        never=(*INDICATIVE, "Confirmed:", "one and the same answer"),
        first="m: No effect is confirmed: no answer changed.",
    ),
    Case(
        "random",
        Made(
            {"m": lambda *key: verdict(rng("random", *key).randrange(6, 120))},
            labels=("defendant_religion", "defendant_sex", "judge_age", "online_broadcast"),
        ),
        ("No effect is confirmed for any of the 4 labels (varied facts) tested.", NO_PROOF),
        never=(*INDICATIVE, "Confirmed:"),
    ),
    Case(
        "repeats with noise",
        Made({"m": noisy}, repeats=3),
        ("No effect is confirmed for the one label (varied fact) tested.", NO_PROOF),
        never=(*INDICATIVE, "over the 90 cases", "of 90 cases"),
    ),
    Case(
        "ages that move down",
        Made(
            {"m": lambda i, v, _, __: verdict(24 + 6 * (i % 4) - (i % 3 + 1) * 2 * (v == AGE[1]))},
            labels=("judge_age",),
        ),
        ("Judge's age: from 30 to 55: the sentence is shorter by 4.00 months on average over the 30 cases",),
        never=("is longer by",),
    ),
    Case(
        "all alike",
        Made({"m": only("是", lambda _: verdict(48), lambda _: verdict(36))}, labels=("online_broadcast",)),
        ("the sentence is longer by 12.00 months on average over the 30 cases compared (30 longer, 0",),
        never=("What carries it",),
    ),
    Case(
        "one case carries all",
        Made({"m": only("伊斯兰教", lambda i: verdict(200 if i == 3 else 36), lambda _: verdict(36))}),
        ("No effect is confirmed: too few cases changed for any p-value below 0.05.", NO_PROOF),
        never=(*INDICATIVE, "Confirmed:"),
    ),
    Case(
        "two models alike",
        Made({"m": planted, "n": noisy}),
        (
            "In 1 of 2 models labels are confirmed to change the answers.",
            "All labels of all models are corrected for together, 2 in all.",
        ),
        never=("So far",),
    ),
    Case(
        "two temperatures",
        Made({"m@0": planted, "m@1": noisy}),
        ("In 1 of 2 models labels are confirmed to change the answers.", "m, T = 0"),
    ),
    Case(
        "no answer at all",
        Made({"m": lambda *_: GARBLED}),
        ("Nothing could be tested: ", NO_PROOF, "120 of 120 answers (100.0%) are missing: 120 unreadable."),
        never=(*INDICATIVE, "Confirmed:"),
    ),
)


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Case], Told]:
    """The report of a case, made once."""
    known: dict[str, Told] = {}

    def report(case: Case) -> Told:
        if case.name not in known:
            known[case.name] = told(case.made, tmp_path_factory.mktemp("said"), draws=1_999)
        return known[case.name]

    return report


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name.replace(" ", "_"))
def test_a_report_says_what_the_study_shows_and_nothing_else(
    case: Case, reports: Callable[[Case], Told]
) -> None:
    found = reports(case)
    several = len(case.made.answers) > 1
    page = found.page if several else found.minute
    flat = " ".join(found.terminal.split())
    for words in case.says:
        assert words in flat, f"not in the terminal: {words}\n{found.terminal[:3000]}"
        assert words in page, f"not on the page: {words}\n{found.minute}"
    assert flat.startswith(case.first), found.terminal[:300]
    for name, text in found.everywhere.items():
        for words in case.never:
            assert words not in text, f"{name} says {words!r}"
        for words in NEVER:
            if name in ("terminal", "minute"):
                assert words not in text, f"{name} says {words!r}"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name.replace(" ", "_"))
def test_all_forms_print_the_same_sentences(case: Case, reports: Callable[[Case], Told]) -> None:
    found = reports(case)
    flat = " ".join(found.terminal.split())
    models = found.json["models"]
    assert isinstance(models, list)
    for model in models:
        for coding in model["codings"]:
            for sentence in coding["minute"]:
                assert sentence in flat
                assert sentence in found.page
    for sentence in found.json["comparison"]:  # type: ignore[attr-defined]
        assert sentence in flat
        assert sentence in found.page


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name.replace(" ", "_"))
def test_an_unconfirmed_value_is_never_told_in_the_indicative(
    case: Case, reports: Callable[[Case], Told]
) -> None:
    """Sentences of effects are as many as confirmed rows, and no more."""
    found = reports(case)
    rows = found.study.connection.execute(
        "SELECT count(*) FROM findings WHERE scope = 'value' AND test = 'outcome' AND state = 'confirmed'"
    ).fetchall()
    said = sum(found.terminal.count(f"the sentence is {way} by") for way in ("longer", "shorter"))
    assert said == rows[0][0]
    (confirmed,) = found.study.connection.execute(
        "SELECT count(*) FROM findings WHERE scope = 'label' AND state = 'confirmed'"
    ).fetchall()[0]
    if len(case.made.answers) == 1:
        assert (NO_PROOF in found.terminal) == (not confirmed)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name.replace(" ", "_"))
def test_each_effect_is_told_with_its_own_p(case: Case, reports: Callable[[Case], Told]) -> None:
    """The p of a sentence is that of its row in the table of findings; the label's stands by the label."""
    found = reports(case)
    rows = found.study.connection.execute(
        "SELECT scope, p_adjusted FROM findings WHERE state = 'confirmed' AND scope <> 'test' ORDER BY ALL"
    ).fetchall()
    minutes = "\n".join(
        sentence
        for model in found.json["models"]  # type: ignore[attr-defined]
        for coding in model["codings"]
        for sentence in coding["minute"]
    )
    of_effects = re.findall(r"; p ([=<] [0-9.]+)\.$", minutes, re.MULTILINE)
    of_labels = re.findall(r"\(p ([=<] [0-9.]+)\)[,.]", minutes)
    assert sorted(of_labels) == sorted(numbers.with_sign(p) for scope, p in rows if scope == "label")
    assert sorted(of_effects) == sorted(numbers.with_sign(p) for scope, p in rows if scope == "value")
