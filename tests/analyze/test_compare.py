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
        (4, "the label has no such value; it has plastic, paper"),
        (5, "no such label in the study"),
        (6, "the file has this figure already, in line 2"),
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
        ("label,value\nmusic,loud\n", "no column 'coef'"),
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


SIZES = (0.0, 3.0, 5.0, 5.5)
"""Of crystal, plastic, paper and cork: how many points the glass adds."""


def misnamed(names: dict[str, str], *, documents: int = 40) -> Table:
    """Glasses whose answers go, under the plain coding, by the names that `names` gives to them.

    Plainly, the answers to paper of the first five wines are missing, and two wines' plastic was read a point
    higher. Strictly, the last four wines are missing.
    """
    rng = np.random.default_rng(5)
    table = Table((("glass", "vessel", "categorical", ("crystal",), ("plastic", "paper", "cork")),))
    for i in range(documents):
        for value, size in zip(("crystal", "plastic", "paper", "cork"), SIZES, strict=True):
            plain = strict = 20.0 + i % 5 + size + float(rng.choice([-1, 0, 1]))
            if value == "paper" and i < 5:
                plain = None
            if value == "plastic" and 8 <= i < 10:
                plain = strict + 1
            if i >= documents - 4:
                strict = None
            asked = f"cellar/sommelier/glass/{value}/w{i:02}/0"
            for coding, points in (("plain", plain), ("strict", strict)):
                name = names.get(value, value) if coding == "plain" else value
                table.taste("glass", name, f"w{i:02}", points, truth=20.0, coding=coding)
                table.rows[-1]["prediction_id"] = asked
    return table


def compared_rows(folder: Path, table: Table) -> tuple[Comparison, dict[tuple[str, str], dict[str, object]]]:
    connection = table.database()
    path = specifications(folder, TWO)
    analyze.run(connection, path, audit=False)
    found = compare(connection, path, before="plain", after="strict")
    return found, {(r["value"], r["variant"]): r for r in found.values.to_pylist()}


@pytest.mark.parametrize("variant", ["main", "level"])
def test_steps_follow_what_was_asked_and_not_its_name(tmp_path: Path, variant: str) -> None:
    swap = {"plastic": "paper", "paper": "plastic"}
    _, right = compared_rows(tmp_path, misnamed({}))
    _, rows = compared_rows(tmp_path, misnamed(swap))
    for value in ("plastic", "paper", "cork"):
        row, own, plain = rows[value, variant], rows[swap.get(value, value), variant], right[value, variant]
        # The figures stand under the names that they were given, and the way is that of the value itself.
        assert own["before_coef"] == pytest.approx(plain["before_coef"], abs=1e-12)
        assert row["after_coef"] == pytest.approx(plain["after_coef"], abs=1e-12)
        steps = [row[name] for name in ("dropped_step", "reread_step", "added_step")]
        assert steps == pytest.approx(
            [plain[name] for name in ("dropped_step", "reread_step", "added_step")], abs=1e-12
        )
        assert sum(steps) == pytest.approx(row["after_coef"] - own["before_coef"], abs=1e-12)
        assert row["before_coef"] + (row["renamed_step"] or 0) + sum(steps) == pytest.approx(
            row["after_coef"], abs=1e-12
        )
        for name in ("dropped_answers", "reread_answers", "added_answers"):
            assert row[name] == plain[name]
    assert rows["cork", variant]["before_name"] is None
    assert rows["cork", variant]["renamed_step"] is None
    assert rows["cork", variant]["reason"] == right["cork", variant]["reason"]
    row = rows["paper", variant]
    assert row["before_name"] == "plastic"
    assert row["renamed_step"] == pytest.approx(rows["plastic", variant]["before_coef"] - row["before_coef"])
    own = rows["plastic", variant]["before_coef"]
    assert row["reason"].startswith(
        "the figure before is of the answers to plastic; "
        f"the answers to paper stand under plastic ({own:.4g}); from there: leaving out "
    )


def test_a_name_that_is_mixed_up_in_part_is_no_other_values(tmp_path: Path) -> None:
    table = misnamed({"plastic": "paper", "paper": "plastic"})
    # One answer to paper is called paper: neither name now stands for one value's answers.
    at = next(
        i
        for i, r in enumerate(table.rows)
        if (r["coding"], r["value"], r["doc_id"]) == ("plain", "plastic", "w20")
    )
    table.rows[at]["value"] = "paper"
    table.rows = [
        r for r in table.rows if (r["coding"], r["value"], r["doc_id"]) != ("plain", "paper", "w20")
    ] + [table.rows[at]]
    _, rows = compared_rows(tmp_path, table)
    for value in ("plastic", "paper"):
        row = rows[value, "main"]
        assert (row["before_name"], row["renamed_step"]) == (None, None)
        assert "the answers to" not in (row["reason"] or "")


def test_a_name_that_the_reference_shares_is_no_other_values(tmp_path: Path) -> None:
    table = misnamed({"plastic": "paper", "paper": "plastic"})
    for row in table.rows:
        if (row["coding"], row["value"], row["doc_id"]) == ("plain", "crystal", "w20"):
            row["value"] = "plastic"
    _, rows = compared_rows(tmp_path, table)
    # Plastic stands for paper and a crystal glass; paper still stands for plastic alone.
    assert rows["plastic", "main"]["before_name"] == "paper"
    assert rows["paper", "main"]["before_name"] is None
    assert rows["paper", "main"]["dropped_step"] is None
    assert "the answers to paper have no name of their own there" in rows["paper", "main"]["reason"]


def test_a_value_without_a_name_of_its_own(tmp_path: Path) -> None:
    """Plastic's answers are called paper, and paper's fall into the reference: nothing is called plastic."""
    found, rows = compared_rows(tmp_path, misnamed({"plastic": "paper", "paper": "crystal"}))
    paper, plastic = rows["paper", "level"], rows["plastic", "level"]
    assert paper["reason"] == (
        "the figure before is of the answers to plastic; the answers to paper have no name of their own there"
    )
    assert paper["dropped_step"] is None
    assert plastic["before_coef"] is None
    assert plastic["renamed_step"] is None
    steps = plastic["dropped_step"] + plastic["reread_step"] + plastic["added_step"]
    assert steps == pytest.approx(plastic["after_coef"] - paper["before_coef"], abs=1e-12)
    assert plastic["reason"].startswith(
        f"the answers to plastic stand under paper ({paper['before_coef']:.4g})"
    )
    assert {r["change"] for r in found.labels.to_pylist()} == {"kept"}


def test_names_that_go_round_are_followed(tmp_path: Path) -> None:
    names = {"plastic": "paper", "paper": "cork", "cork": "plastic"}
    _, rows = compared_rows(tmp_path, misnamed(names))
    for value, name in names.items():
        row = rows[value, "level"]
        assert row["before_name"] == name
        steps = row["dropped_step"] + row["reread_step"] + row["added_step"]
        assert steps == pytest.approx(row["after_coef"] - rows[name, "level"]["before_coef"], abs=1e-12)


def labelled(folder: Path, gains: dict[str, float], names: dict[str, str]) -> dict[str, object]:
    """The label at 0.05, with answers to a value that are so much higher plainly, or (below 0) strictly."""
    rng = np.random.default_rng(6)
    table = Table((("glass", "vessel", "categorical", ("crystal",), ("plastic", "paper")),))
    for i in range(40):
        for value in ("crystal", "plastic", "paper"):
            points = 20.0 + float(rng.choice([-1, 0, 1]))
            gain = gains.get(value, 0.0)
            for coding, more in (("plain", max(gain, 0.0)), ("strict", max(-gain, 0.0))):
                name = names.get(value, value) if coding == "plain" else value
                table.taste("glass", name, f"w{i:02}", points + more, truth=20.0, coding=coding)
                table.rows[-1]["prediction_id"] = f"{value}/{i}"
    connection = table.database()
    path = specifications(folder, TWO.replace('level = "level"', 'level = "level"\nnote = "family"'))
    analyze.run(connection, path, audit=False)
    found = compare(connection, path, before="plain", after="strict")
    (row,) = (r for r in found.labels.to_pylist() if r["threshold"] == 0.05)
    return row


SWAP = {"plastic": "paper", "paper": "plastic"}


def test_a_label_that_loses_under_a_wrong_name_is_explained_by_the_right_value(tmp_path: Path) -> None:
    row = labelled(tmp_path, {"plastic": 2.0}, SWAP)
    assert (row["change"], row["value"]) == ("lost", "paper")
    told = str(row["reason"])
    assert told.startswith("plastic (before under paper): the effect makes the difference (effect 0.104 to ")
    assert told.endswith("; vessel; reading 40 otherwise: -0.08987")
    right = str(labelled(tmp_path, {"plastic": 2.0}, {})["reason"])
    assert right.startswith("plastic: the effect makes the difference")
    # The same estimates, whatever the name.
    assert told.split(": ", 1)[1] == right.split(": ", 1)[1]


def test_a_label_that_gains_under_a_wrong_name_is_explained_by_the_right_value(tmp_path: Path) -> None:
    row = labelled(tmp_path, {"plastic": -2.0}, SWAP)
    assert (row["change"], row["value"]) == ("gained", "plastic")
    assert str(row["reason"]).startswith("plastic (before under paper): the effect makes the difference")


def test_a_label_whose_names_alone_are_wrong_has_the_note_as_its_reason(tmp_path: Path) -> None:
    row = labelled(tmp_path, {}, SWAP)
    assert (row["change"], row["reason"]) == ("neither", "vessel")
    assert labelled(tmp_path, {}, {})["reason"] is None
    # A value that goes by the name of the reference too is not told by the estimate under its own name.
    row = labelled(tmp_path, {"plastic": 2.0}, {"plastic": "paper", "paper": "crystal"})
    assert row["change"] == "lost"
    assert str(row["reason"]).startswith("plastic (before under paper): ")


def test_a_treated_value_that_goes_by_the_references_name_has_no_figure_to_follow(tmp_path: Path) -> None:
    _, rows = compared_rows(tmp_path, misnamed({"plastic": "crystal", "crystal": "plastic"}))
    assert rows["plastic", "level"]["before_name"] is None
    assert rows["plastic", "level"]["dropped_step"] is None


def test_printed_names_in_other_spelling_and_names_that_several_share(tmp_path: Path) -> None:
    text = TWO.replace('level = "level"', 'level = "level"\nalias = "family"')
    file = tmp_path / "printed.csv"
    # The family vessel has two labels: its name alone tells which where only one of them has the value.
    file.write_text(
        "Label,Value,Variant,Coef,P\nMUSIC,Loud,Main,\N{MINUS SIGN}0.25***,0.1\nVessel,Paper,level,0.5,\n"
        "vessel,,level,0.5,\nmusic loud,,Level,-1.5,\nglass,crystal,level,0,\n",
        encoding="utf-8",
    )
    found = compared(tmp_path, printed=file, text=text)
    placed = {
        (r["label"], r["value"], r["variant"]): r["printed_coef"]
        for r in found.values.to_pylist()
        if r["printed_coef"] is not None
    }
    assert placed == {
        ("music", "loud", "main"): -0.25,
        ("glass", "paper", "level"): 0.5,
        ("music", "loud", "level"): -1.5,
    }
    notes = {r["line"]: r["note"] for r in found.unmatched.to_pylist()}
    assert notes[6] == "crystal is the reference of glass: it has no figure of its own"
    assert notes[4] == "the study has no figures of price for this model"
