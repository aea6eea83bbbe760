"""The tables as files: whole figures for machines, rounded ones for papers, no cell that is a formula."""

from __future__ import annotations

import csv
import io
import re
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from cellar import Cellar

import store
from analyze.report import write_tables
from analyze.report.export import FORMATS, safe_cell, to_markdown
from analyze.report.latex import document, to_latex
from analyze.report.sheets import Column, Sheet
from store.errors import BadInput

NAMES = ["models", "values", "labels", "estimates", "quality", "missing"]
FORMULA = '=HYPERLINK("http://evil","x")'
XL = {"x": "http://schemas.openxmlformats.org/spreadsheetml/2006/main"}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[store.Study, Path]]:
    cellar = Cellar(models=((FORMULA, "simulated", 0.0), ("Plain_50%", "api", 1.0)), wines=12)
    opened, specifications = cellar.analysed(tmp_path_factory.mktemp("export"))
    with opened:
        opened.connection.execute("UPDATE estimates SET note = '-1 + cmd|calc' WHERE value = '纸'")
        yield opened, specifications


def rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"))))


def test_csv_carries_figures_in_full(study: tuple[store.Study, Path], tmp_path: Path) -> None:
    paths = write_tables(*study, tmp_path, format="csv")
    assert [path.name for path in paths[: len(NAMES)]] == [f"{name}.csv" for name in NAMES]
    assert all(path.is_file() for path in paths)
    written = {
        (r["model"].lstrip("'"), r["coding"], r["label"], r["value"], r["variant"]): r
        for r in rows(tmp_path / "estimates.csv")
    }
    stored = (
        study[0]
        .connection.execute("SELECT model, coding, label, value, variant, coef, p, ci_low, n FROM estimates")
        .fetchall()
    )
    assert len(written) == len(stored) == 2 * 2 * 6 * 4
    for *key, coef, p, low, n in stored:
        row = written[tuple(key)]  # type: ignore[index]
        for column, value in (("coef", coef), ("p", p), ("ci_low", low), ("n", n)):
            assert (float(row[column]) if row[column] else None) == value


def test_every_row_of_a_simulated_study_says_so(study: tuple[store.Study, Path], tmp_path: Path) -> None:
    write_tables(*study, tmp_path, format="csv")
    for name in NAMES:
        found = rows(tmp_path / f"{name}.csv")
        assert found
        assert all("Simulated" in row["notice"] for row in found)


def test_no_text_of_the_csv_runs_as_a_formula(study: tuple[store.Study, Path], tmp_path: Path) -> None:
    write_tables(*study, tmp_path, format="csv")
    guarded = 0
    for name in NAMES:
        for line in csv.reader(io.StringIO((tmp_path / f"{name}.csv").read_text(encoding="utf-8-sig"))):
            for cell in line:
                if cell[:1] in ("=", "+", "-", "@"):
                    float(cell)  # a figure may begin with a sign; nothing else may
                guarded += cell.startswith(("'=", "'-"))
    assert guarded > 10


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("=1+1", "'=1+1"),
        ("+49", "'+49"),
        ("-x", "'-x"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("a=1", "a=1"),
        (-1.5, -1.5),
        (None, None),
    ],
)
def test_texts_are_made_safe_and_figures_left_alone(value: object, expected: object) -> None:
    assert safe_cell(value) == expected


def test_the_workbook_holds_figures_as_figures_and_no_formula(
    study: tuple[store.Study, Path], tmp_path: Path
) -> None:
    (path,) = write_tables(*study, tmp_path, format="xlsx")
    with zipfile.ZipFile(path) as book:
        names = [
            s.attrib["name"]
            for s in ElementTree.fromstring(book.read("xl/workbook.xml")).iterfind(".//x:sheet", XL)
        ]
        assert names[: len(NAMES)] == NAMES
        strings = ElementTree.fromstring(book.read("xl/sharedStrings.xml"))
        shared = ["".join(t.text or "" for t in si.iterfind(".//x:t", XL)) for si in strings]
        pages = [
            ElementTree.fromstring(book.read(f"xl/worksheets/sheet{i}.xml")) for i in range(1, len(NAMES) + 1)
        ]
    assert not [cell for page in pages for cell in page.iterfind(".//x:f", XL)]
    assert not [cell for page in pages for cell in page.iterfind(".//x:hyperlink", XL)]
    assert f"'{FORMULA}" in shared
    assert "塑料" in shared
    figures = [
        float(cell.find("x:v", XL).text)  # type: ignore[union-attr, arg-type]
        for cell in pages[NAMES.index("estimates")].iterfind(".//x:c", XL)
        if cell.attrib.get("t", "n") == "n" and cell.find("x:v", XL) is not None
    ]
    coefs = study[0].connection.execute("SELECT coef FROM estimates WHERE coef IS NOT NULL").fetchall()
    # A workbook keeps 16 or 17 digits, as Excel does.
    kept = sorted(figures)
    for (coef,) in coefs:
        assert any(abs(coef - figure) <= 1e-15 * abs(coef) for figure in kept)


def test_latex_is_booktabs_and_escapes(study: tuple[store.Study, Path], tmp_path: Path) -> None:
    write_tables(*study, tmp_path, format="latex")
    text = (tmp_path / "models.tex").read_text(encoding="utf-8")
    for rule in (
        r"\toprule",
        r"\midrule",
        r"\bottomrule",
        r"\begin{longtable}",
        r"\end{longtable}",
        r"\endlastfoot",
    ):
        assert rule in text
    assert r"Plain\_50\%" in text
    assert "Simulated" in text.partition(r"\toprule")[0]
    values = (tmp_path / "values.tex").read_text(encoding="utf-8")
    assert not re.search("[\u4e00-\u9fff]", values.replace("cmd", "")), (
        "Chinese, which plain LaTeX cannot set"
    )
    for table in text.split(r"\begin{longtable}")[1:]:
        columns = table.partition(r"\toprule")[2].partition(r" \\")[0].count(" & ")
        for line in table.splitlines():
            if line.endswith(r" \\"):
                assert len(re.findall(r"(?<!\\)&", line)) == columns
    assert "% Needs \\usepackage{array,booktabs,longtable,pdflscape}" in text
    assert "% Any engine" in text


def test_latex_says_what_letters_it_holds_and_puts_all_tables_into_a_document() -> None:
    plain = to_latex(Sheet("s", "c", (Column("a", "A"),), (("Müller – ×",),)))
    assert "% Any engine" in plain
    chinese = to_latex(Sheet("s", "c", (Column("a", "A"),), (("删除强奸",),)))
    assert "needs xelatex or lualatex, and \\usepackage[scheme=plain]{ctex}" in chinese
    assert "needs xelatex" in to_latex(Sheet("s", "c", (Column("a", "A"),), (("Ж",),)))
    whole = document(["a.tex", "b.tex"], [plain, chinese], "Bias & more")
    assert "ctex" in whole
    assert r"\section*{Bias \& more}" in whole
    assert whole.index(r"\input{a.tex}") < whole.index(r"\input{b.tex}")
    assert "ctex" not in document(["a.tex"], [plain], "")


def test_a_table_that_fits_no_page_comes_in_parts_that_repeat_its_names() -> None:
    columns = (Column("model", "Model"), *(Column(f"n{i}", f"Number {i}", "number", 4) for i in range(30)))
    rows = tuple((f"taster {j}", *(1000.0 * i + j for i in range(30))) for j in range(3))
    text = to_latex(Sheet("wide", "Wide", columns, rows))
    tables = text.split(r"\begin{longtable}")[1:]
    assert 2 <= len(tables) <= 4
    assert all("taster 2" in table for table in tables)
    shown = re.findall(r"[\d,]+\.0000", text)
    assert sorted(float(one.replace(",", "")) for one in shown) == sorted(x for row in rows for x in row[1:])
    assert f"Wide (1 of {len(tables)})." in text
    assert r"\label{tab:wide}" in text
    assert r"\label{tab:wide:2}" in text


def test_what_is_the_same_in_every_row_is_said_once() -> None:
    columns = (Column("model", "Model"), Column("coding", "Coding"), Column("n", "n", "count"))
    text = to_latex(Sheet("s", "Counts", columns, (("taster", "plain", 1), ("taster", "strict", 2))))
    assert r"\caption{Counts. Model taster.}" in text
    assert "Coding & n" in text


@pytest.mark.parametrize("engine", ["pdflatex", "xelatex", "lualatex"])
def test_latex_compiles_and_fits(study: tuple[store.Study, Path], tmp_path: Path, engine: str) -> None:
    if shutil.which(engine) is None:
        pytest.skip(f"no {engine} on this machine (Debian: texlive-latex-recommended, texlive-xetex)")
    paths = write_tables(*study, tmp_path, format="latex")
    assert paths[-1].name == "report.tex"
    assert engine in paths[-1].read_text(encoding="utf-8").partition("\n")[0]
    command = [engine, "-interaction=nonstopmode", "-halt-on-error", "report.tex"]
    for _ in range(3):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=240, check=False)
        said = done.stdout.decode("utf-8", "replace")
        assert done.returncode == 0, said[-2000:]
    # TeX tells of a tenth of a point too much; a reader sees two.
    assert not [wide for wide in re.findall(r"Overfull \\hbox \(([\d.]+)pt", said) if float(wide) > 2]


def test_every_special_character_of_latex_is_escaped() -> None:
    table = Sheet("s", "c", (Column("a", "A"),), ((r"\{}$&#%_^~<>",),))
    line = next(line for line in to_latex(table).splitlines() if "textbackslash" in line)
    assert line == (
        r"\textbackslash{}\{\}\$\&\#\%\_\textasciicircum{}\textasciitilde{}\textless{}\textgreater{} \\"
    )


def test_a_power_of_ten_is_set_as_one() -> None:
    table = Sheet("s", "c", (Column("p", "p", "tiny"),), ((4.591787589007338e-23,),))
    assert r"$4.6\times 10^{-23}$" in to_latex(table)
    assert "4.6×10^-23" in to_markdown(table)


def test_markdown_keeps_its_columns(study: tuple[store.Study, Path], tmp_path: Path) -> None:
    write_tables(*study, tmp_path, format="md")
    text = (tmp_path / "values.md").read_text(encoding="utf-8")
    bars = {len(re.findall(r"(?<!\\)\|", line)) for line in text.splitlines() if line.startswith("|")}
    assert len(bars) == 1
    assert r"cmd\|calc" in text
    assert "| &lt;0.001 |" in to_markdown(Sheet("s", "c", (Column("p", "p", "p"),), ((0.0001,),)))


def test_every_format_is_written(study: tuple[store.Study, Path], tmp_path: Path) -> None:
    for format in FORMATS:
        for path in write_tables(*study, tmp_path / format, format=format):
            assert path.stat().st_size > 100


def test_an_unknown_format_is_an_error_that_lists_the_known(
    study: tuple[store.Study, Path], tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match="docx") as caught:
        write_tables(*study, tmp_path, format="docx")
    assert "latex" in str(caught.value.hint)


def test_a_folder_that_cannot_be_written_is_an_error_for_people(
    study: tuple[store.Study, Path], tmp_path: Path
) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(BadInput, match="cannot be written"):
        write_tables(*study, tmp_path / "taken", format="csv")
