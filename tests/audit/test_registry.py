"""Domains that packages announce: listed without being loaded, loaded when they are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenhand.audit import find, names, registry
from store.errors import BadInput

PAROLE = Path(__file__).parents[1] / "domains" / "parole"


class Point:
    """An entry point that counts how often it is loaded."""

    dist = None

    def __init__(self, name: str, value: str, gives: object) -> None:
        self.name, self.value, self.gives, self.loaded = name, value, gives, 0

    def load(self) -> object:
        self.loaded += 1
        if isinstance(self.gives, Exception):
            raise self.gives
        return self.gives


@pytest.fixture
def announced(monkeypatch) -> dict[str, Point]:
    points = {
        "hiring": Point("hiring", "hiring:domain", lambda: find(str(PAROLE))),
        "bail": Point("bail", "bail:DOMAIN", find(str(PAROLE))),
        "broken": Point("broken", "broken:domain", ImportError("No module named 'torch'")),
        "odd": Point("odd", "odd:domain", 7),
    }
    monkeypatch.setattr(registry.metadata, "entry_points", lambda group: [*points.values()])
    return points


def test_listing_loads_nothing(announced):
    listed = names()
    assert listed["hiring"] == "package hiring:domain"
    assert set(announced) <= set(listed)
    assert [point.loaded for point in announced.values()] == [0, 0, 0, 0]


def test_naming_one_loads_that_one_alone(announced):
    assert find("hiring").name == find("bail").name == "parole"
    assert [point.loaded for point in announced.values()] == [1, 1, 0, 0]


def test_a_package_that_cannot_be_loaded_is_named(announced):
    with pytest.raises(BadInput, match=r"'broken'.*No module named 'torch'"):
        find("broken")
    with pytest.raises(BadInput, match="gives int"):
        find("odd")
