"""A coding held against another: steps that add up, labels that lose, printed figures found again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tastings import SPECIFICATIONS, Table, specifications

import analyze
from analyze.compare import Comparison, compare
from analyze.compare.printed import agrees, read_printed
from store.errors import BadInput

TWO = SPECIFICATIONS.replace(
    'description = "Points as given."',
    'description = "Points as given."\n[[coding]]\nname = "strict"\ndescription = "Blanks are no points."',
)


def tasted() -> Table:
    """Plainly, a blank is zero points, which makes loud music look bad. Strictly, a blank is missing.

    Two more documents were read as tens although they were elevens, and the last five count only strictly.
    """
    rng = np.random.default_rng(3)
    table = Table()
    for i in range(60):
        wine, points = f"w{i:02}", 10.0 + i % 7
        for value in ("silence", "loud"):
            given = points + rng.choice([-1.0, 0.0, 0.0, 1.0])
            plain = strict = given
            if value == "loud" and i < 6:
                plain, strict = 0.0, None
            if value == "loud" and 10 <= i < 12:
                plain = strict + 1
            if i >= 55:
                plain = None
            table.taste("music", value, wine, plain, coding="plain", truth=10.0)
            table.taste("music", value, wine, strict, coding="strict", truth=10.0)
    for i in range(20):
        for value, points in (("crystal", 10.0), ("plastic", 12.0 + i % 2), ("paper", 10.0 + i % 3 % 2)):
            for coding in ("plain", "strict"):
                table.taste("glass", value, f"w{i:02}", points, truth=8.0, coding=coding)
    return table


def compared(folder: Path, printed: Path | None = None, text: str = TWO) -> Comparison:
    connection = tasted().database()
    path = specifications(folder, text)
    analyze.run(connection, path, audit=False)
    found = compare(connection, path, before="plain", after="strict", printed=printed)
    for name, table in found.tables.items():
        stored = connection.execute(f"SELECT count(*) FROM {name}").fetchall()[0][0]
        assert stored == table.num_rows, name
    return found


def test_the_steps_add_up_and_count(tmp_path: Path) -> None:
    rows = {(r["label"], r["value"], r["variant"]): r for r in compared(tmp_path).values.to_pylist()}
    row = rows["music", "loud", "level"]
    steps = row["dropped_step"] + row["reread_step"] + row["added_step"]
    assert row["before_coef"] + steps == pytest.approx(row["after_coef"], abs=1e-12)
    # Six blanks go, and with each its silent twin, which is then alone in its document.
    assert row["dropped_answers"] == 12
    assert row["reread_answers"] == 2
    assert row["added_answers"] == 10
    assert row["reread_step"] == pytest.approx(-2 / 49)
    assert row["before_coef"] < row["after_coef"]
    assert "leaving out 12 answers: +" in row["reason"]
    # Where nothing differs there is nothing to explain.
    assert rows["glass", "plastic", "level"]["reason"] is None
    assert rows["music", "loud", "by_region"]["reason"].startswith("not estimated before: empty sample")


def test_labels_that_lose_and_keep_significance(tmp_path: Path) -> None:
    found = compared(tmp_path)
    change = {(r["label"], r["threshold"]): r for r in found.labels.to_pylist()}
    assert change["music", 0.05]["change"] == "lost"
    assert change["music", 0.05]["value"] == "loud"
    assert "makes the difference" in change["music", 0.05]["reason"]
    assert change["glass", 0.05]["change"] == "kept"
    (biased,) = (
        r
        for r in found.metrics.to_pylist()
        if (r["metric"], r["threshold"], r["group"]) == ("biased_labels", 0.05, "all")
    )
    assert (biased["before_value"], biased["after_value"]) == (2, 1)
    assert biased["reason"] == "lost: music"


def test_printed_figures_stand_beside_ours(tmp_path: Path) -> None:
    coef = {
        (r["label"], r["value"], r["variant"]): (r["before_coef"], r["before_p"], r["before_n"])
        for r in compared(tmp_path).values.to_pylist()
    }
    b, p, n = coef["music", "loud", "main"]
    wrong, _, _ = coef["glass", "plastic", "level"]
    file = tmp_path / "printed.csv"
    file.write_text(
        "label,value,variant,coef,p,n\n"
        f"music,loud,main,{b:.4f},{p:.3f},{n}\n"
        f"glass,plastic,level,{wrong + 0.01:.4f},,\n"
        "glass,bottle,main,0.1,0.2,10\n"
        "cork,plastic,main,0.1,0.2,10\n"
        f"music,loud,main,{b:.4f},{p:.3f},{n}\n",
        encoding="utf-8",
    )
    found = compared(tmp_path, printed=file)
    rows = {(r["label"], r["value"], r["variant"]): r for r in found.values.to_pylist()}
    assert rows["music", "loud", "main"]["reproduced"] is True
    assert rows["music", "loud", "main"]["printed_coef"] == pytest.approx(b, abs=1e-4)
    assert rows["glass", "plastic", "level"]["reproduced"] is False
    assert rows["glass", "paper", "level"]["reproduced"] is None
    assert [(r["line"], r["note"]) for r in found.unmatched.to_pylist()] == [
        (4, "the label has no such value"),
        (5, "no such label in the study"),
        (6, "the file has this figure already, in an earlier line"),
    ]


def test_aliases_of_labels_and_values_are_understood(tmp_path: Path) -> None:
    text = TWO.replace('level = "level"', 'level = "level"\nalias = "family"\nvalue_alias = "position"')
    file = tmp_path / "printed.tsv"
    file.write_text("label\tvalue\tcoef\nsetting\t1\t-0.2\n", encoding="utf-8")
    rows = compared(tmp_path, printed=file, text=text).values.to_pylist()
    assert [(r["label"], r["value"]) for r in rows if r["printed_coef"] is not None] == [("music", "loud")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("label,coef\nmusic,1\n", "no column 'value'"),
        ("label,value,coef\nmusic,loud,big\n", "line 2: coef is 'big'"),
        ("label,value,coef,n\nmusic,loud,1,2.5\n", "line 2: n is 2.5"),
    ],
)
def test_broken_files_of_printed_figures(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "printed.csv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput) as caught:
        read_printed(file)
    assert said in caught.value.message


def test_agreement_is_to_the_digits_that_were_printed(tmp_path: Path) -> None:
    file = tmp_path / "printed.csv"
    file.write_text("label,value,coef,p\na,b,0.017,0.19857430605468152\n", encoding="utf-8")
    (figure,) = read_printed(file)
    assert agrees(figure.coef, 0.01673512)
    assert not agrees(figure.coef, 0.01793512)
    assert agrees(figure.p, 0.198574306)
    assert not agrees(figure.p, 0.19858)
    assert not agrees(figure.p, None)


def test_one_coding_alone_cannot_be_compared(tmp_path: Path) -> None:
    connection = tasted().database()
    path = specifications(tmp_path, TWO)
    analyze.run(connection, path, codings=["plain"], audit=False)
    with pytest.raises(BadInput, match="under both codings"):
        compare(connection, path, before="plain", after="strict")
