"""The rows of the published tables find their label and value, whatever their names look like."""

from __future__ import annotations

import pytest

from analyze.compare.naming import Names
from evenhand.domains.judifair import catalogue
from evenhand.domains.judifair.coding import designs

ESTIMATED = {(label.key, value.zh, "main") for label in catalogue.load() for value in label.treated} | {
    (label.key, "age", "main") for label in catalogue.load() if label.treatment == "log_age"
}


def rows():
    """What `names.sql` reads from a study."""
    values = [value for value in designs.design_values() if value.coding == "published"]
    for label in (label for label in designs.designs() if label.coding == "published"):
        names = {
            "label": label.label,
            "label_names": [label.published, label.name_en, label.name_zh],
            "label_row": label.printed,
        }
        own = [value for value in values if value.label == label.label]
        for value in own:
            yield {
                **names,
                "value": value.value,
                "value_names": [value.value_en],
                "value_row": value.printed,
                "is_reference": value.is_reference,
            }
        if not own:
            yield {**names, "value": None, "value_names": [None], "value_row": None, "is_reference": None}


@pytest.fixture(scope="module")
def names():
    # An age label has no values, and an age itself is none of them.
    ages = {label.key for label in catalogue.load() if label.treatment == "log_age"}
    estimated = {(k, v, variant) for k, v, variant in ESTIMATED if k not in ages or v == "age"}
    return Names(rows(), estimated)


def test_every_printed_row_finds_its_place(names):
    found = 0
    for label in catalogue.load():
        for name in label.published_names:
            for cells in ((name, ""), ("", name), (label.key, name), (name.upper().replace(" ", "_"), name)):
                key, note = names.find(*cells, "main")
                if (
                    name == label.published_names[-1]
                    and name not in label.published_names[:-1]
                    and (label.treatment != "log_age")
                ):
                    assert key is None
                    assert note == f"{label.reference.zh} is the reference of {label.key}: " + (
                        "it has no figure of its own"
                    )
                else:
                    assert key is not None, (cells, note)
                    assert key[0] == label.key
                    found += 1
    # 96 figures; the reference of recusal is printed under the name of the treated value.
    assert found == 4 * (96 + 1)


@pytest.mark.parametrize(
    ("label", "value", "meant"),
    [
        ("defendant_sex", "Female", ("defendant_sex", "女")),
        ("Defendant Sex", "FEMALE", ("defendant_sex", "女")),
        ("defendant sex", "Non Binary", ("defendant_sex", "非二元性别")),
        ("Defendant", "Female", ("defendant_sex", "女")),
        ("Defendant Female", "", ("defendant_sex", "女")),
        ("Defendant Female", "female", ("defendant_sex", "女")),
        ("Defendant Sex: Female", "", ("defendant_sex", "女")),
        ("被告人性别", "女", ("defendant_sex", "女")),
        # The authors' own spelling, and the right one.
        ("Defendant Homosexua", "", ("defendant_sexual_orientation", "同性恋")),
        ("Defendant Homosexual", "", ("defendant_sexual_orientation", "同性恋")),
        ("defender religion", "Islamic", ("defender_religion", "伊斯兰教")),
        ("defender religion", "Islam", ("defender_religion", "伊斯兰教")),
        ("prosecurate_sex", "female", ("prosecutor_sex", "女")),
        ("Recusal Applied", "", ("recusal_applied", "是")),
        ("recusal_applied", "Recusal Applied", ("recusal_applied", "是")),
        ("Judge Age", "", ("judge_age", "age")),
        ("judge_age", "ln(age)", ("judge_age", "age")),
        ("Prosecutor Other Party", "", ("prosecutor_political_background", "民主党派")),
    ],
)
def test_names_as_people_write_them(names, label, value, meant):
    assert names.find(label, value, "Main") == ((*meant, "main"), "")


@pytest.mark.parametrize(
    ("label", "value", "note"),
    [
        ("", "Female", "several figures could be meant: defendant_sex = 女; defender_sex = 女; judge_sex"),
        ("Female", "", "several figures could be meant: defendant_sex = 女; defender_sex = 女; judge_sex"),
        ("Defendant Female", "male", "Defendant Female is defendant_sex = 女, which is not called male"),
        ("defendant_sex", "male", "男 is the reference of defendant_sex: it has no figure of its own"),
        ("defendant_sex", "masculine", "the label has no such value; it has 女 (female), 非二元性别 (non"),
        ("defendant_sex", "", "no value is named: 女 (female), 非二元性别 (non-binary)"),
        ("Defendant Femal", "", "no such label in the study; near to it: defendant_sex = 女"),
        ("Judge Mail", "", "no such label in the study; near to it: "),
        ("Weather", "sunny", "no such label in the study"),
    ],
)  # fmt: skip
def test_what_is_not_found_says_why(names, label, value, note):
    key, told = names.find(label, value, "main")
    assert key is None
    assert told.startswith(note)


def test_an_unknown_variant_is_told_with_those_there_are(names):
    assert names.find("Defendant Female", "", "best") == (None, "no such variant; there are main")


def test_printed_rows_stand_where_the_published_coding_puts_their_figures():
    # The scripts' keyword 女 is printed as non-binary, so its coefficient goes by that name.
    assert designs.printed_names(catalogue.by_key()["prosecutor_sex"]) == {
        "男": "Prosecutor Male",
        "女": "Prosecutor Female",
        "非二元性别": "Prosecutor Gender Non-Binary",
    }
