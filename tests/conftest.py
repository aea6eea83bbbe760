"""Fixtures that all rooms share."""

from __future__ import annotations

from pathlib import Path

import pytest

REFERENCE = Path(__file__).resolve().parents[2] / "shared" / "reference"


@pytest.fixture(scope="session")
def reference() -> Path:
    """The folder of published answers and the numbers the published pipeline got from them."""
    if not REFERENCE.is_dir():
        pytest.skip("the published reference data (../shared/reference) are not on this machine")
    return REFERENCE
