"""Small published files in every layout, made up here: nothing in them is from a real answer."""

from __future__ import annotations

import json
import random
from pathlib import Path

from evenhand.domains.judifair import catalogue

CRIMES = ["盗窃罪", "诈骗罪", "故意伤害罪", "受贿罪", "强奸罪", "寻衅滋事罪"]
GRID = [6, 12, 24, 36, 60, 84, 120, 180, 240]


def verdict(months, penalty="有期徒刑", guilty="是", charge="盗窃罪") -> dict:
    return {"罪名": charge, "是否有罪": guilty, "刑罚类型": penalty, "刑期": months}


def fenced(answer: dict) -> str:
    return f"```json\n{json.dumps(answer, ensure_ascii=False, indent=2)}\n```"


def bare(answer: dict) -> str:
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":"))


def pair(record: dict, answer) -> dict:
    """Temperature 0: `[text, flag]`."""
    return {**record, "response": [answer if isinstance(answer, str) else fenced(answer), 0]}


def twin(record: dict, answer) -> dict:
    """A cleaned twin: an object with `truncation` inside; what could not be parsed stays `[text, flag]`."""
    if isinstance(answer, str):
        return {**record, "response": [answer, 1]}
    return {**record, "response": {**answer, "truncation": 0}}


def plain_object(record: dict, answer) -> dict:
    return {**record, "response": answer if isinstance(answer, dict) else [answer, 1]}


def object_and_truncation(record: dict, answer) -> dict:
    return {**record, "response": answer if isinstance(answer, dict) else [answer, 1], "truncation": 0}


def text(record: dict, answer) -> dict:
    return {**record, "response": answer if isinstance(answer, str) else bare(answer)}


def text_and_truncation(record: dict, answer) -> dict:
    return {**text(record, answer), "truncation": 1}


def text_and_extract(record: dict, answer) -> dict:
    """LFM 7B at temperature 1: `response` is the whole text, `response_full` the extract."""
    if isinstance(answer, str):
        return {**record, "response": answer, "response_full": ""}
    return {**record, "response": f"判决如下：\n{fenced(answer)}\n以上。", "response_full": bare(answer)}


LAYOUTS = {
    "pair": pair,
    "twin": twin,
    "object": plain_object,
    "object and truncation": object_and_truncation,
    "text": text,
    "text and truncation": text_and_truncation,
    "text and extract": text_and_extract,
}


def question(doc: int, value: str, label: str, changed: str | None = None) -> dict:
    """A record but for its response."""
    changed = catalogue.by_key()[label].published_changed_label if changed is None else changed
    return {
        "ID": doc,
        "changed_label": changed,
        "label_value": value,
        "true_answer": {
            "罪名": f"分则 {CRIMES[doc % len(CRIMES)]}",
            "是否有罪": "是",
            "刑罚类型": "" if doc % 7 == 6 else "有期徒刑",
            "刑期": 0 if doc % 7 == 6 else GRID[doc % len(GRID)],
        },
    }


def values_of(label: str, rng: random.Random) -> list[str]:
    found = catalogue.by_key()[label]
    if found.treatment == "log_age":
        return [f"{age}.0" for age in rng.sample(range(14, 90), 3)]
    return [value.zh for value in found.values]


def answer_of(doc: int, value: str, rng: random.Random):
    """An answer that moves up for the value 女 and now and then is one of the irregular kinds."""
    step = doc % len(GRID) + rng.choice([-1, 0, 0, 0, 1]) + (value == "女") * rng.choice([0, 1])
    months = GRID[max(0, min(len(GRID) - 1, step))]
    odd = rng.random()
    charge = CRIMES[doc % len(CRIMES)]
    if odd < 0.03:
        return "API Request failed"
    if odd < 0.06:
        return verdict("", "拘役", charge=charge)
    if odd < 0.08:
        return verdict("", rng.choice(["死刑", "死刑，缓期二年执行", "无期徒刑"]), charge=charge)
    if odd < 0.10:
        return verdict(rng.choice([4, "4"]), "管制", charge=charge)
    if odd < 0.12:
        return verdict(months, "有期徒刑，并处罚金", charge=charge)
    if odd < 0.14:
        return verdict(rng.choice(["二十五年", "36个月", "三年", "30年", "终身监禁"]), charge=charge)
    if odd < 0.16:
        return verdict(rng.choice([320, 280]), "数罪并罚", charge=charge)
    if odd < 0.18:
        return verdict("", "", "否", charge=charge)
    if odd < 0.20:
        return verdict(None, "死刑", charge=charge)
    return verdict(months, charge=charge)


def write(path: Path, records: list) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(records, ensure_ascii=False, indent=1), encoding="utf-8")
    return path


def write_label(
    folder: Path,
    label: str,
    suffix: str,
    *,
    layout=pair,
    documents=range(30),
    seed=1,
    name: str | None = None,
) -> Path:
    """A file of one label; `name` is the published key in its name where it is not the label's."""
    rng = random.Random(f"{seed} {label}")
    records = []
    for doc in documents:
        for value in values_of(label, rng):
            records.append(layout(question(doc, value, label), answer_of(doc, value, rng)))
    key = name or catalogue.by_key()[label].published_key
    return write(folder / f"{key}{suffix}.json", records)


def write_documents(path: Path, documents=range(30)) -> Path:
    """Case numbers of 2012 to 2018; some have no charge, and one running number looks like a year."""
    lines = ["id,case_number,crime_name"]
    for doc in documents:
        charge = "" if doc % 11 == 10 else f"分则 {CRIMES[doc % len(CRIMES)]}"
        number = 20037 if doc == 5 else doc
        lines.append(f"{doc},（{2012 + doc % 7}）京0101刑初{number}号 ,{charge}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\ufeff" + "\n".join(lines) + "\n", encoding="utf-8")
    return path
