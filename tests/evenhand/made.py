"""Sentencing studies made answer by answer, whose right reading is known: read in, coded and analysed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from small_study import study_at

import analyze
import store
from analyze.findings import Finding, read_findings
from evenhand.cli.options import specifications_path
from evenhand.domains.judifair.coding import code
from evenhand.domains.judifair.importer import import_published

RELIGION = (
    "defendant_religion",
    "被告人宗教信仰(Defendant_religion)",
    ("无神论", "基督教", "伊斯兰教", "佛教"),
)
SEX = ("defendant_sex", "被告人性别(Defendant_sex)", ("男", "女", "非二元性别"))
AGE = ("judge_age", "法官年龄(Judge_age)", ("30", "55"))
REFUSAL = "抱歉，我无法对本案作出判决。"
UNREADABLE = "@@##"
Answers = Callable[[int, str], str]


def verdict(months: float | None, penalty: str = "有期徒刑", guilty: str = "是") -> str:
    """One answer as asked for."""
    said = "" if months is None else months
    found = {"罪名": "盗窃罪", "是否有罪": guilty, "刑罚类型": penalty, "刑期": said}
    return json.dumps(found, ensure_ascii=False)


LIFE, DEATH = verdict(None, "无期徒刑"), verdict(None, "死刑")
FINE, ACQUITTAL = verdict(None, "罚金"), verdict(0, "无罪", "否")


def write(
    folder: Path,
    label: tuple[str, str, Sequence[str]],
    answers: Answers,
    *,
    cases: int = 30,
    crime: Callable[[int], str] = lambda _: "盗窃罪",
) -> None:
    """Put one label's answers, and what is known of the cases, into a folder to be imported."""
    stem, changed, values = label
    folder.mkdir(parents=True, exist_ok=True)
    truth = {"罪名": "盗窃罪", "是否有罪": "是", "刑罚类型": "有期徒刑", "刑期": 36}
    rows = [
        {
            "ID": i + 1,
            "changed_label": changed,
            "label_value": value,
            "response": [answers(i, value), 0],
            "true_answer": truth,
        }
        for i in range(cases)
        for value in values
    ]
    (folder / f"{stem}_m.json").write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
    lines = [f"{i + 1},（2016）京01刑初{i + 1}号,{crime(i)}\n" for i in range(cases)]
    (folder / "documents.csv").write_text("id,case_number,crime_name\n" + "".join(lines), encoding="utf-8")


def imported(path: Path, folders: dict[str, Path]) -> store.Study:
    """A study with the answers of each model's folder, analysed."""
    study = study_at(path)
    for model, folder in folders.items():
        for file in sorted(folder.glob("*_m.json")):
            import_published(study, file, model=model, documents=folder / "documents.csv")
    code(study)
    analysed(study)
    return study


def analysed(study: store.Study, **options: Any) -> None:
    """Analyse a study as the command does, with fewer draws."""
    analyze.run(study, specifications_path(), codings=["corrected"], audit=False, draws=9_999, **options)


def findings(folder: Path, *labels: tuple[tuple[str, str, Sequence[str]], Answers], **how: Any) -> Found:
    """The findings of one model's answers to `labels`."""
    for label, answers in labels:
        write(folder / "model", label, answers, **how)
    with imported(folder / "study.duckdb", {"M": folder / "model"}) as study:
        return Found(read_findings(study))


def made(reference: Path, case: str, folder: Path) -> Found:
    """The findings of one of the made studies of the reference data."""
    script = reference / "report" / "made_studies.py"
    subprocess.run([sys.executable, str(script), case, str(folder / "made")], check=True)
    with imported(folder / "study.duckdb", {"M": folder / "made"}) as study:
        return Found(read_findings(study))


class Found:
    """Findings, by what they are about."""

    def __init__(self, rows: Sequence[Finding]) -> None:
        self.rows = list(rows)

    def label(self, label: str) -> Finding:
        """A label's own row."""
        (row,) = (r for r in self.rows if r.label == label and r.scope == "label")
        return row

    def test(self, label: str, test: str) -> Finding:
        """A label's row of one confirmatory test."""
        (row,) = (r for r in self.rows if (r.label, r.test, r.scope) == (label, test, "test"))
        return row

    def value(self, label: str, value: str, test: str = "outcome") -> Finding:
        """The row of one value in one test."""
        (row,) = (r for r in self.rows if (r.label, r.value, r.test) == (label, value, test))
        return row

    def confirmed(self) -> set[tuple[str, str | None, str]]:
        """Values that are confirmed, with the test."""
        return {
            (r.label, r.value, r.test) for r in self.rows if r.scope == "value" and r.state == "confirmed"
        }
