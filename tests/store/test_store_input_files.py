"""Mistakes in the files that people write: each told with file, line and key."""

from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict, Field

import store
from store.input_files import line_of, read_json_lines, read_toml


class Row(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    name: str = Field(min_length=1)
    size: int | None = None


class Whole(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    row: list[Row]
    by_name: dict[str, Row] = Field(default_factory=dict)
    inner: Row | None = None


TEXT = """[[row]]
name = "a"
[[row]]
name = "b"
size = 2

[by_name.x]
name = "c"
[inner]
name = "d"
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("row", 0, "name"), 2),
        (("row", 1, "name"), 4),
        (("row", 1, "size"), 5),
        (("row", 0, "size"), 1),
        (("row", 1), 3),
        (("by_name", "x", "name"), 8),
        (("inner", "size"), 9),
        (("nothing",), None),
    ],
)
def test_the_line_of_a_key(path: tuple[str | int, ...], line: int | None) -> None:
    assert line_of(TEXT, path) == line


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('name = "b"', "", "line 3, row[1].name: is missing"),
        ("size = 2", "sise = 2", "line 5, row[1].sise: there is no such key (did you mean 'size'?)"),
        ("size = 2", "zzz = 2", "line 5, row[1].zzz: there is no such key (known: name, size)"),
        ("size = 2", "size = 'x'", "line 5, row[1].size: must be a whole number"),
        ('name = "c"', 'name = ""', "line 8, by_name.x.name: must be a text that is not empty"),
        ('name = "c"', "nam = 1", "by_name.x.nam: there is no such key (did you mean 'name'?)"),
        ('name = "d"', "nam = 1", "line 10, inner.nam: there is no such key (did you mean 'name'?)"),
        ("[inner]", "[iner]", "iner: there is no such key (did you mean 'inner'?)"),
        ('name = "a"', "name = 3", "line 2, row[0].name: must be a text"),
    ],
)
def test_a_mistake_is_told_with_its_place(tmp_path: Path, old: str, new: str, said: str) -> None:
    file = tmp_path / "f.toml"
    file.write_text(TEXT.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(store.BadInput) as caught:
        read_toml(file, Whole)
    assert f"{file}: " in caught.value.message
    assert said in caught.value.message


def test_a_value_that_may_be_a_secret_is_not_shown(tmp_path: Path) -> None:
    file = tmp_path / "f.toml"
    file.write_text("[[row]]\nname = 'a'\nsize = 'sk-very-secret'\n", encoding="utf-8")
    with pytest.raises(store.BadInput) as caught:
        read_toml(file, Whole)
    assert "sk-very-secret" not in f"{caught.value.message} {caught.value.hint}"


def test_lines_of_json_are_told_by_number(tmp_path: Path) -> None:
    file = tmp_path / "f.jsonl"
    file.write_text('{"name": "a"}\n\n{"nmae": "b"}\n', encoding="utf-8")
    with pytest.raises(store.BadInput, match=r"line 3, nmae: there is no such key \(did you mean 'name'"):
        list(read_json_lines(file, Row))
