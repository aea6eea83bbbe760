"""What an installation gets: the four packages with their data, and nothing that only tests need."""

from pathlib import Path

import pytest

from tests.servers import FaultyJudge

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel() -> set[str]:
    """The paths in the wheel, as the build backend finds them."""
    builders = pytest.importorskip("hatchling.builders.wheel", reason="the build backend is not installed")
    builder = builders.WheelBuilder(str(ROOT))
    builder.config.set_build_data({})
    return {file.distribution_path for file in builder.recurse_included_files()} | set(
        builder.config.force_include.values()
    )


def test_the_wheel_has_four_packages_and_nothing_else(wheel: set[str]) -> None:
    assert {path.split("/")[0] for path in wheel} == {"analyze", "evenhand", "runner", "store"}


def test_the_servers_of_the_tests_are_not_in_the_wheel(wheel: set[str]) -> None:
    ours = Path(str(__import__(FaultyJudge.__module__, fromlist=["x"]).__file__)).parent
    names = {file.name for file in ours.glob("*.py")} - {"__init__.py", "limits.py"}
    assert "faults.py" in names
    found = {path for path in wheel if path.split("/")[-1] in names and "/simulate/" in path}
    assert not found
    assert not [path for path in wheel if path.startswith(("tests/", "benchmarks/"))]


def test_no_module_of_the_wheel_imports_the_tests(wheel: set[str]) -> None:
    for path in sorted(wheel):
        file = ROOT / path
        if path.endswith(".py"):
            text = file.read_text(encoding="utf-8")
            assert "import tests" not in text, path
            assert "from tests" not in text, path


def test_the_wheel_has_the_data_that_the_packages_read(wheel: set[str]) -> None:
    kinds = (".sql", ".toml", ".md", ".j2", ".css", ".js", ".jsonl")
    tops = [ROOT / top for top in ("analyze", "evenhand", "runner", "store")]
    files = (file for top in tops for file in top.rglob("*") if file.suffix in kinds)
    data = {str(file.relative_to(ROOT)) for file in files}
    assert data - wheel == set()
    assert "runner/providers.toml" in wheel
