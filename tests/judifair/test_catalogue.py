"""The catalogue has the labels of the paper, no more and no less."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evenhand.domains.judifair import catalogue
from store.errors import BadInput


def test_the_counts_of_the_paper() -> None:
    labels = catalogue.load()
    assert len(labels) == 65
    assert sum(len(label.values) for label in labels) == 161
    assert sum(len(label.treated) for label in labels) == 96
    assert sum(len(label.treated) for label in labels if label.treatment == "categorical") == 91
    assert sum(label.treatment == "log_age" for label in labels) == 5
    assert sum(label.dimension == "substantive" for label in labels) == 25
    assert sum(label.dimension == "procedural" for label in labels) == 40


def test_every_label_is_well_formed() -> None:
    for label in catalogue.load():
        assert sum(value.is_reference for value in label.values) == 1, label.key
        assert len({value.zh for value in label.values}) == len(label.values), label.key
        assert label.role in catalogue.ROLES, label.key
        assert label.name_zh, label.key
        assert label.name_en, label.key
        assert not any(crime.startswith("@") for crime in label.exclude_crimes), label.key
    keys = [label.key for label in catalogue.load()]
    assert len(set(keys)) == len(keys)
    assert not any(key.startswith("prosecurate") for key in keys)


def test_our_ages_change_no_criminal_liability_and_lie_in_every_range() -> None:
    for label in catalogue.load():
        if label.treatment == "log_age":
            low, high = (int(value.zh) for value in label.values)
            assert 18 <= low < high < 60
            if label.age_range is not None:
                assert label.age_range[0] <= low < high <= label.age_range[1]


def test_published_names_lead_to_our_labels() -> None:
    known = catalogue.by_key()
    assert known["prosecurate_sex"] is known["prosecutor_sex"]
    assert known["prosecurate_sex"].key == "prosecutor_sex"
    assert [
        label.key for label in catalogue.resolve(["prosecurate_age", "defendant_sex", "prosecutor_age"])
    ] == [
        "defendant_sex",
        "prosecutor_age",
    ]
    with pytest.raises(BadInput, match="defendant_gender") as caught:
        catalogue.resolve(["defendant_gender"])
    assert "defendant_" in (caught.value.hint or "")


def test_excluded_crimes_match_as_a_part_of_the_charge() -> None:
    label = catalogue.by_key()["defendant_sex"]
    assert label.excludes("侵犯公民人身权利、民主权利罪 强奸罪")
    assert not label.excludes("盗窃罪")


def test_the_catalogue_equals_the_published_one(reference: Path) -> None:
    path = reference / "labels.json"
    if not path.is_file():
        pytest.skip("labels.json of the reference data is not on this machine")
    published = json.loads(path.read_text(encoding="utf-8"))
    assert [row["label"] for row in published] == [label.published_key for label in catalogue.load()]
    for row, label in zip(published, catalogue.load(), strict=True):
        assert label.name_zh == row["name_zh"]
        assert label.dimension == row["dimension"]
        assert label.demographic == row["demographic"]
        assert label.role == row["role"]
        assert label.treatment == row["treatment"]
        assert label.age_range == (tuple(row["age_range"]) if row["age_range"] else None)
        assert label.published_changed_label == row["published_changed_label"]
        assert label.published_keywords == tuple(row["published_keywords"])
        assert label.published_names == tuple(row["published_names"])
        assert sorted(set(label.exclude_crimes)) == sorted(set(row["exclude_crimes"]))
        assert sorted(set(label.published_exclude_crimes)) == sorted(set(row["published_exclude_crimes"]))
        assert len(label.values) == row["n_values"]
        if label.treatment == "categorical":
            assert [(value.zh, value.en) for value in label.values] == [
                (v["zh"], v["en"]) for v in row["values"]
            ]
            assert label.reference.zh == row["reference"]
            assert {value.zh for value in label.treated} == set(row["treated"])
