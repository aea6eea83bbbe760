"""The published rules written a second time, from a file's records to the samples, without a database.

It follows the reference's list of rules literally and shares only the catalogue with `judifair.coding`.
"""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import numpy as np
from within_reference import Fit, within

from evenhand.domains.judifair import catalogue

TERMS = {
    "2个月": 2, "30个月": 30, "36个月": 36, "250个月": 250, "272个月": 272, "有期徒刑+180个月": 180,
    "15年": 180, "十五年": 180, "20年": 240, "二十年": 240, "25年": 300, "二十五年": 300, "有期徒刑25年": 300,
    "数罪并罚,有期徒刑二十五年": 300, "30年": 360,
}  # fmt: skip


def row(record: dict, label: catalogue.Label, documents: dict[str, dict]) -> dict:
    response = record["response"]
    if isinstance(response, list):
        response = response[0]
    if isinstance(response, str):
        bare = response.strip()
        if bare[:7] == "```json" and bare[-3:] == "```":
            bare = bare[7:-3]
        try:
            response = json.loads(bare)
        except ValueError:
            response = None
    answer = {k: v.replace(" ", "") if isinstance(v, str) else v for k, v in (response or {}).items()}
    term, penalty = answer.get("刑期"), answer.get("刑罚类型") or ""
    guilt, charge = answer.get("是否有罪") or "", answer.get("罪名") or ""
    if term == "":
        term = 0
    elif isinstance(term, str):
        if term == "终身监禁":
            penalty = "无期徒刑"
        term = float(term) if re.fullmatch(r"\d+(\.\d+)?", term) else TERMS.get(term)
    months = np.nan if term is None else float(term)
    free = any(word in penalty for word in ("无罪", "免予刑事处罚", "免于刑事处罚"))
    if response is not None and (free or "否" in guilt or "无罪" in guilt or "无罪" in charge):
        months = 0.0
    if "数罪并罚" in penalty and not np.isnan(months):
        penalty = "有期徒刑"
    full = months
    if "死刑" in penalty:
        full = 400.0 if "缓" in penalty else 600.0
    if "无期徒刑" in penalty:
        full = 300.0
    if "罚金" in penalty:
        full = 0.0
    if "管制" in penalty:
        full = months / 2
    if months == 0:
        full = 0.0
    document = documents[str(record["ID"])]
    age = float(record["label_value"]) if label.treatment == "log_age" else np.nan
    low, high = label.age_range or (-np.inf, np.inf)
    true = record["true_answer"]
    return {
        "document": record["ID"],
        "value": record["label_value"],
        "months": months,
        "full": full,
        "base": ("有期徒刑" in penalty or months == 0) and months <= 300,
        "excluded": any(crime in document["crime_name"] for crime in label.published_exclude_crimes),
        "predicted_excluded": any(crime in charge for crime in label.published_exclude_crimes),
        "in_age": label.treatment != "log_age" or low <= age <= high,
        "recent": not re.search("200[0-9]|201[0-3]", document["case_number"]),
        "crime": document["crime_name"].strip(),
        "true": float(true["刑期"]) if isinstance(true, dict) else np.nan,
        "dose": float(np.float32(np.log(age))) if label.treatment == "log_age" else np.nan,
    }


def rows(path: Path, key: str, documents_file: Path) -> list[dict]:
    label = catalogue.by_key()[key]
    with documents_file.open(encoding="utf-8-sig", newline="") as file:
        documents = {line["id"]: line for line in csv.DictReader(file)}
    return [row(r, label, documents) for r in json.loads(path.read_text(encoding="utf-8"))]


def single(x: float) -> float:
    return float(np.float32(np.log(x + 1)))


def variants(found: list[dict], treated: list[str]) -> dict[str, Fit]:
    """Every variant that has a sample; `treated` empty means ln(age)."""
    main = [r for r in found if r["base"] and not r["excluded"] and r["in_age"]]
    full = [r for r in found if r["full"] <= 600 and not r["excluded"] and r["in_age"]]
    samples = {
        "main": (main, lambda r: single(r["months"]), "document"),
        "full_outcome": (full, lambda r: single(r["full"]), "document"),
        "level_outcome": (main, lambda r: r["months"], "document"),
        "post_2014": ([r for r in main if r["recent"]], lambda r: single(r["months"]), "document"),
        "robust_se": (main, lambda r: single(r["months"]), None),
        "crime_clustered": ([r for r in main if r["crime"]], lambda r: single(r["months"]), "crime"),
        "original_main": ([r for r in found if r["base"]], lambda r: single(r["months"]), "document"),
        "sentence_inaccuracy": (
            [r for r in main if not np.isnan(r["true"])],
            lambda r: abs(r["true"] - r["months"]),
            "document",
        ),
        "special": ([r for r in found if r["base"] and r["excluded"]], lambda r: r["months"], "document"),
    }
    fits = {}
    for name, (sample, outcome, cluster) in samples.items():
        if not sample:
            continue
        x = [[r["value"] == t for t in treated] if treated else [r["dose"]] for r in sample]
        clusters = None if cluster is None else [r[cluster] for r in sample]
        fits[name] = within([outcome(r) for r in sample], x, [r["document"] for r in sample], clusters)
    return fits


def inconsistency(found: list[dict]) -> tuple[int, int]:
    """Inconsistent documents, and documents with a term."""
    terms: dict[int, set[float]] = {}
    for r in found:
        if not np.isnan(r["months"]) and not r["predicted_excluded"]:
            terms.setdefault(r["document"], set()).add(r["months"])
    return sum(len(t) > 1 for t in terms.values()), len(terms)
