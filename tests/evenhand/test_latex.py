"""The LaTeX of whole studies, set by the engine that it asks for: nothing fails or runs over the page."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner
from small_study import ask, study_at

from evenhand.cli.analyze import command as analyze_command
from evenhand.cli.compare_published import command as compare_command
from evenhand.cli.import_published import command as import_command
from evenhand.cli.report import command as report_command
from evenhand.domains.judifair import case_files
from evenhand.domains.judifair.build import build

LABELS = ("defendant_religion", "defendant_sex", "defendant_age", "online_broadcast", "judge_religion")


def evenhand(command: object, *arguments: str | Path) -> None:
    done = CliRunner().invoke(command, [str(argument) for argument in arguments])  # type: ignore[arg-type]
    assert done.exit_code == 0, done.output


def compile_report(database: Path, folder: Path, *, engine: str) -> str:
    """Set the report's document; gives what the engine said."""
    evenhand(report_command, "--db", database, "--format", "latex", "--out", folder)
    first = (folder / "report.tex").read_text(encoding="utf-8").partition("\n")[0]
    assert engine in first, first
    if shutil.which(engine) is None:
        pytest.skip(
            f"no {engine} on this machine: Debian has it in texlive-xetex or texlive-latex-recommended"
        )
    needed = ["ctex.sty"] if "ctex" in (folder / "report.tex").read_text(encoding="utf-8") else []
    for style in ("pdflscape.sty", "booktabs.sty", *needed):
        if not subprocess.run(["kpsewhich", style], capture_output=True, check=False).stdout:
            pytest.skip(
                f"this TeX has no {style}: Debian's texlive-latex-recommended and texlive-lang-chinese have"
            )
    for _ in range(3):
        done = subprocess.run(
            [engine, "-interaction=nonstopmode", "-halt-on-error", "report.tex"],
            cwd=folder,
            capture_output=True,
            timeout=300,
            check=False,
        )
        said = done.stdout.decode("utf-8", "replace")
        assert done.returncode == 0, said[-2000:]
    return said


def overfull(said: str) -> list[float]:
    """Points by which boxes run over; TeX tells of a tenth of one, a reader sees two."""
    return [wide for found in re.findall(r"Overfull \\hbox \(([\d.]+)pt", said) if (wide := float(found)) > 2]


def test_a_simulated_study_is_set_by_pdflatex(tmp_path: Path) -> None:
    database = tmp_path / "study.duckdb"
    with study_at(database) as study:
        build(study, cases=case_files.bundled()[:12], labels=LABELS, placebo=True)
        for seed, model in enumerate(("phi-4", "gpt-4o-mini", "a-model_with/a%strange-&-long-name#1")):
            ask(study, tmp_path, model, repeats=2, settings={"seed": 10 * seed})
        ask(study, tmp_path, "phi-4", settings={"temperature": 1.0})
    evenhand(analyze_command, "--db", database)
    said = compile_report(database, tmp_path / "tex", engine="pdflatex")
    assert overfull(said) == []


def test_the_published_answers_under_both_codings_are_set_by_xelatex(reference: Path, tmp_path: Path) -> None:
    database = tmp_path / "study.duckdb"
    evenhand(import_command, reference, "--db", database)
    evenhand(analyze_command, "--db", database, "--coding", "both")
    evenhand(compare_command, "--db", database)
    said = compile_report(database, tmp_path / "tex", engine="xelatex")
    assert overfull(said) == []
    # The notes of the comparison quote Chinese, and the font has it.
    assert "Missing character" not in said
