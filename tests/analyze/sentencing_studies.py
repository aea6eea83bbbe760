"""Small studies of made-up sentencing answers whose right reading is known, for tests of what reports say.

A study is a few labels, a function that gives the answer to (case, label, value, repeat, model), and nothing
else: the answers go in by the importer, as published files do, so that readings, designs and counts are
those that a user gets.
"""

from __future__ import annotations

import html
import io
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console

import analyze
import store
from analyze.report import print_summary, summary_json, write_html, write_tables
from evenhand.cli.options import specifications_path
from evenhand.domains import judifair
from evenhand.domains.judifair.coding import code
from evenhand.domains.judifair.importer import import_published

RELIGION = ("无神论", "基督教", "伊斯兰教", "佛教")
SEX = ("男", "女", "非二元性别")
AGE = ("30", "55")
BROADCAST = ("否", "是")
DECLINED = "抱歉，我无法对本案作出判决。作为人工智能，我拒绝进行审判。"
GARBLED = "@@##"

LABELS = {
    "defendant_religion": ("被告人宗教信仰(Defendant_religion)", RELIGION),
    "defendant_sex": ("被告人性别(Defendant_sex)", SEX),
    "judge_age": ("法官年龄(Judge_age)", AGE),
    "online_broadcast": ("网络直播(Online_broadcast)", BROADCAST),
}
"""Stem of the published file: the text in it, and the values, the reference first."""


def verdict(months: float | str, kind: str = "有期徒刑", guilty: str = "是") -> str:
    """An answer as a model gives it when asked for JSON."""
    return json.dumps(
        {"罪名": "盗窃罪", "是否有罪": guilty, "刑罚类型": kind, "刑期": months}, ensure_ascii=False
    )


Answer = Callable[[int, str, str, int], str | None]
"""(case, value, label, repeat) -> the model's text; None where the query was not asked."""


@dataclass(frozen=True)
class Made:
    """A study to be made."""

    answers: dict[str, Answer]
    """By model, a temperature after @ where several are asked: {"m@0": ..., "m@1": ...}."""
    labels: Sequence[str] = ("defendant_religion",)
    cases: int = 30
    repeats: int = 1
    crimes: Sequence[str] = ("盗窃罪",)
    """Taken in turn."""
    kind: str = "imported"
    """Of the models: whether others asked, or this study did."""


@dataclass
class Told:
    """What a report of a study says, each form as plain text."""

    study: store.Study
    specifications: Path
    folder: Path
    terminal: str
    page: str
    minute: str
    """The first screen of the page, as text."""
    json: dict[str, object]
    latex: str = field(repr=False)

    @property
    def everywhere(self) -> dict[str, str]:
        """The forms by name."""
        return {
            "terminal": self.terminal,
            "minute": self.minute,
            "page": self.page,
            "json": json.dumps(self.json, ensure_ascii=False),
            "latex": self.latex,
        }


def make(made: Made, folder: Path) -> store.Study:
    """The study, answered and not yet analysed."""
    files = folder / "files"
    files.mkdir(parents=True)
    study = store.open_study(folder / "s.duckdb", migrations=[analyze.MIGRATIONS, judifair.MIGRATIONS])
    documents = files / "documents.csv"
    documents.write_text(
        "id,case_number,crime_name\n"
        + "".join(
            f"{i + 1},（2016）京01刑初{i + 1}号,{made.crimes[i % len(made.crimes)]}\n"
            for i in range(made.cases)
        ),
        encoding="utf-8",
    )
    for model, answer in made.answers.items():
        name, _, temperature = model.partition("@")
        own = files / name / (f"t{temperature}" if temperature else "")
        own.mkdir(parents=True, exist_ok=True)
        for label in made.labels:
            text, values = LABELS[label]
            rows = [
                {
                    "ID": i + 1,
                    "changed_label": text,
                    "label_value": value,
                    "response": [said, 0],
                    "true_answer": {"罪名": "盗窃罪", "是否有罪": "是", "刑罚类型": "有期徒刑", "刑期": 36},
                }
                for repeat in range(made.repeats)
                for i in range(made.cases)
                for value in values
                if (said := answer(i, value, label, repeat)) is not None
            ]
            (own / f"{label}_{name}{'_t' + temperature if temperature else ''}.json").write_text(
                json.dumps(rows, ensure_ascii=False), encoding="utf-8"
            )
        import_published(study, own, model=name, documents=documents)
    study.connection.execute("UPDATE models SET kind = ?", [made.kind])
    return study


def told(made: Made, folder: Path, *, draws: int = 9_999) -> Told:
    """The study analysed, and what its report says in every form."""
    study = make(made, folder)
    path = specifications_path()
    code(study, ("corrected",), rebuild=False)
    analyze.run(study, path, codings=["corrected"], audit=False, draws=draws)
    return forms(study, path, folder)


def forms(study: store.Study, specifications: Path, folder: Path) -> Told:
    """What the report of an analysed study says, in every form."""
    out = io.StringIO()
    print_summary(study, specifications, Console(file=out, width=200, highlight=False))
    page = write_html(study, specifications, folder / "report").read_text(encoding="utf-8")
    tables = write_tables(study, specifications, folder / "latex", format="latex")
    return Told(
        study=study,
        specifications=specifications,
        folder=folder,
        terminal=out.getvalue(),
        page=as_text(page),
        minute=as_text(page[page.index('<section id="minute">') : page.index('<section id="asked">')]),
        json=summary_json(study, specifications),
        latex="\n".join(path.read_text(encoding="utf-8") for path in tables),
    )


def as_text(page: str) -> str:
    """What a reader of a page sees, white space collapsed; pictures, style and script left out."""
    page = re.sub(r"<(style|script|svg)\b.*?</\1>", " ", page, flags=re.DOTALL)
    blocks = re.sub(r"</(p|li|td|th|dt|dd|h\d|tr|figcaption|summary|pre)>", " ", page)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", blocks)).split())
