"""What a package shows is what its `__all__` lists, and other rooms take nothing else."""

import ast
import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOPS = ("analyze", "evenhand", "runner", "store")
FILES = sorted(file for top in TOPS for file in (ROOT / top).rglob("*.py"))
PACKAGES = [file for file in FILES if file.name == "__init__.py"]


def dotted(file: Path) -> str:
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {dotted(file): file for file in FILES}


def tree_of(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


def is_package(module: str) -> bool:
    return MODULES[module].name == "__init__.py"


def public(package: str) -> list[str]:
    """The names in `__all__`, as they are written in the file; none where there is no `__all__`."""
    for node in tree_of(package).body:
        if isinstance(node, ast.Assign) and any(getattr(t, "id", "") == "__all__" for t in node.targets):
            return list(ast.literal_eval(node.value))
    return []


def room(module: str) -> str:
    """`store`, `runner`, `analyze`, `evenhand.cli`, ..., and each domain: a room of its own."""
    parts = module.split(".")
    deep = 1 if parts[0] != "evenhand" else 3 if parts[1:2] == ["domains"] else 2
    return ".".join(parts[:deep])


def bound(module: str) -> Iterator[str]:
    """The names that a module's own statements bind; what it takes from elsewhere left out."""
    for node in tree_of(module).body:
        if isinstance(node, ast.ImportFrom) and room(node.module or "") == room(module):
            yield from (alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


def described(module: str, name: str) -> bool:
    """Whether a name has a docstring: its own, or the text below its assignment."""
    tree = tree_of(module)
    for node, following in zip(tree.body, [*tree.body[1:], None], strict=True):
        if isinstance(node, ast.ImportFrom) and name in [a.asname or a.name for a in node.names]:
            taken = next(a.name for a in node.names if name in (a.asname, a.name))
            inner = f"{node.module}.{taken}"
            if inner in MODULES:
                return bool(ast.get_docstring(tree_of(inner)))
            return described(str(node.module), taken)
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef) and node.name == name:
            return bool(ast.get_docstring(node))
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(getattr(target, "id", None) == name for target in targets):
            return isinstance(following, ast.Expr) and isinstance(
                getattr(following.value, "value", None), str
            )
    return False


@pytest.mark.parametrize("file", PACKAGES, ids=dotted)
def test_a_package_shows_what_its_all_lists(file: Path) -> None:
    package = dotted(file)
    names = public(package)
    assert len(names) == len(set(names))
    assert ast.get_docstring(tree_of(package)), f"{package} has no docstring"
    assert not [n.name for n in tree_of(package).body if getattr(n, "name", "") == "__getattr__"]
    shown = {name for name in bound(package) if not name.startswith("_")}
    assert shown <= set(names), f"{package}: these names are not in __all__: {sorted(shown - set(names))}"
    loaded = importlib.import_module(package)
    for name in names:
        if f"{package}.{name}" in MODULES and name not in bound(package):
            importlib.import_module(f"{package}.{name}")
            assert ast.get_docstring(tree_of(f"{package}.{name}")), f"{package}.{name} has no docstring"
            continue
        assert hasattr(loaded, name), f"{package} lists {name}, which it does not have"
        if not name.startswith("__"):
            assert described(package, name), f"{package}.{name} has no docstring"


def taken(module: str) -> Iterator[tuple[int, str]]:
    """What a module takes from other rooms: the line, and the full name."""
    tree = tree_of(module)
    whole: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in TOPS:
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                yield node.lineno, name
                if name in MODULES:
                    whole[alias.asname or alias.name] = name
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] in TOPS:
                    yield node.lineno, alias.name
                    here = alias.asname or alias.name.split(".")[0]
                    whole[here] = alias.name if alias.asname else here
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            path, inner = [node.attr], node.value
            while isinstance(inner, ast.Attribute):
                path.append(inner.attr)
                inner = inner.value
            if isinstance(inner, ast.Name) and inner.id in whole:
                name = whole[inner.id]
                for piece in reversed(path):  # as far as modules go, and one name of the last
                    if name not in MODULES:
                        break
                    name += f".{piece}"
                yield node.lineno, name


def hidden(name: str) -> str | None:
    """The first step of a full name that is not public; None where all are."""
    parts = name.split(".")
    at = room(name)
    for piece in parts[at.count(".") + 1 :]:
        if at not in MODULES:  # an attribute of a name that was public
            return None
        if is_package(at) and at in ("evenhand", "evenhand.domains"):
            return None if piece in public(at) or f"{at}.{piece}" in MODULES else f"{at}.{piece}"
        if is_package(at) and piece not in public(at) and not piece.startswith("__"):
            return f"{at}.{piece}"
        if piece.startswith("_") and not piece.startswith("__"):
            return f"{at}.{piece}"
        at += f".{piece}"
    return None


@pytest.mark.parametrize("module", sorted(MODULES))
def test_rooms_take_only_public_names_of_each_other(module: str) -> None:
    wrong = [
        f"line {line}: {step} is not public; list it in the __all__ of its package, or take another name"
        for line, name in taken(module)
        if room(name) != room(module) and (step := hidden(name)) is not None
    ]
    assert not wrong, f"{module}: " + "; ".join(sorted(set(wrong)))


def test_the_check_of_names_finds_what_is_hidden() -> None:
    assert hidden("store.columns.INT") == "store.columns"
    assert hidden("store.errors.BadInput") is None
    assert hidden("store.open_study") is None
    assert hidden("store.sql._cached") == "store.sql._cached"
    assert hidden("runner.live.lane.Lane") == "runner.live.lane"
    assert hidden("evenhand.domains.judifair.triggers") == "evenhand.domains.judifair.triggers"
    assert hidden("evenhand.domains.judifair") is None


HEAVY = ("aiohttp", "duckdb", "matplotlib", "numpy", "pandas", "pyarrow", "pyfixest", "scipy")


@pytest.mark.parametrize(
    ("statement", "free_of"),
    [
        ("import evenhand.cli.main", HEAVY),
        ("import analyze, analyze.report", ("scipy.stats", "pandas", "pyfixest", "matplotlib", "aiohttp")),
        ("import store", ("pandas", "scipy", "aiohttp")),
        ("import evenhand.domains.judifair", ("scipy", "pandas", "pyfixest", "aiohttp", "analyze")),
    ],
)
def test_imports_stay_free_of_what_takes_seconds(statement: str, free_of: tuple[str, ...]) -> None:
    code = f"{statement}\nimport sys\nprint([m for m in {free_of!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
