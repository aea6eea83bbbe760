"""How long it takes to import a model's published files, and to read their answers under both codings.

    python benchmarks/import_speed.py [--documents 1100] [--distinct] [--folder FOLDER]

Without --folder the files are synthetic, of the published shape: 65 labels, 161 values, 1,100 documents
each, 177,100 answers in the layout of temperature 0. With --distinct every answer is another text, so that
no coding can remember one. The targets: 65 files in under 20 s on 2 cores, memory flat.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import tempfile
import time
from pathlib import Path

import store
from evenhand.domains import judifair
from evenhand.domains.judifair import catalogue
from evenhand.domains.judifair.coding import CODINGS, code
from evenhand.domains.judifair.importer import import_published

GRID = (6, 8, 10, 12, 18, 24, 36, 48, 60, 84, 120, 156, 180, 240)
CHARGES = ("盗窃罪", "诈骗罪", "故意伤害罪", "受贿罪", "抢劫罪", "寻衅滋事罪", "危险驾驶罪", "贩卖毒品罪")
DIGITS = str.maketrans("0123456789", "甲乙丙丁戊己庚辛壬癸")


def write_files(folder: Path, documents: int, *, distinct: bool, seed: int = 0) -> int:
    """Write 65 files; returns how many records they hold."""
    rng = random.Random(seed)
    folder.mkdir(parents=True)
    truth = {doc: (rng.choice(CHARGES), rng.choice(GRID)) for doc in range(documents)}
    count = 0
    for label in catalogue.load():
        records = []
        for doc, (charge, months) in truth.items():
            ages = [f"{rng.randint(18, 75)}.0" for _ in range(2)]
            for value in ages if label.treatment == "log_age" else [v.zh for v in label.values]:
                count += 1
                named = str(count).translate(DIGITS) + charge if distinct else charge
                records.append(
                    {
                        "ID": doc,
                        "changed_label": label.published_changed_label,
                        "label_value": value,
                        "response": [_answer(named, rng), 0],
                        "true_answer": {
                            "罪名": f"某章 {charge}",
                            "是否有罪": "是",
                            "刑罚类型": "有期徒刑",
                            "刑期": months,
                        },
                    }
                )
        path = folder / f"{label.published_key}phi4_t0.json"
        path.write_text(json.dumps(records, ensure_ascii=False, indent=2), encoding="utf-8")
    return count


def _answer(charge: str, rng: random.Random) -> str:
    chance = rng.random()
    if chance < 0.05:
        return "API Request failed"
    penalty, months = ("拘役", '""') if chance < 0.07 else ("有期徒刑", str(rng.choice(GRID)))
    fields = f'  "罪名": "{charge}",\n  "是否有罪": "是",\n  "刑罚类型": "{penalty}",\n  "刑期": {months}'
    return f"```json\n{{\n{fields}\n}}\n```" + (
        "\n\n根据上述案情与刑法规定，判处前述刑期。" if chance > 0.97 else ""
    )


def memory() -> int:
    """The most memory this process has held, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def main() -> None:
    """Import, import again, code; print seconds and memory."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=1100)
    parser.add_argument("--distinct", action="store_true")
    parser.add_argument("--folder", type=Path, help="published files, instead of synthetic ones")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.folder
        if folder is None:
            folder = Path(scratch) / "t0" / "PHI4_t0"
            write_files(folder, options.documents, distinct=options.distinct)
        with store.open_study(Path(scratch) / "study.duckdb", migrations=[judifair.MIGRATIONS]) as study:
            report = import_published(study, folder)
            size = sum(file.path.stat().st_size for file in report.files) / 1e6
            rate = f"{report.added / max(report.seconds, 1e-9):,.0f}/s"
            print(f"import        {report.seconds:7.2f} s  {report.added:,} answers, {size:,.0f} MB, {rate}")
            print(f"              {report.counts()}, peak {memory()} MiB")
            again = import_published(study, folder)
            print(f"import again  {again.seconds:7.2f} s  {again.added} answers")
            for coding in CODINGS:
                started = time.perf_counter()
                done = code(study, [coding])
                seconds = time.perf_counter() - started
                print(f"{coding:13s} {seconds:7.2f} s  {done.verdicts[coding]:,} verdicts")
            print(f"peak memory   {memory()} MiB")


if __name__ == "__main__":
    main()
