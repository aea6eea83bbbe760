"""The parser on the 5,500 published answers of Phi 4 (not part of the project; skipped without them)."""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evenhand.domains.judifair.answers import read_answer, read_object
from evenhand.domains.judifair.answers.missing import Missing
from evenhand.domains.judifair.answers.read import _long_way, _short_way

FILES = ("recusal_appliedphi4_t0.json", "defendant_sexphi4_t0.json")


@pytest.fixture(scope="module")
def rows(reference: Path) -> dict[str, list[dict[str, Any]]]:
    return {name: json.loads((reference / name).read_text("utf-8")) for name in FILES}


def test_the_stock_answers_and_no_others_ask_for_facts(rows: dict[str, list[dict[str, Any]]]) -> None:
    asked = [
        r
        for r in rows["defendant_sexphi4_t0.json"]
        if read_answer(r["response"][0]).read_as == "asks_for_facts"
    ]
    assert len(asked) == 92
    assert {r["label_value"] for r in asked} == {"女"}
    assert all(read_answer(r["response"][0]).penalty == "unparseable" for r in asked)
    stock = [
        r
        for r in rows["defendant_sexphi4_t0.json"]
        if r["response"][0].rstrip("。").endswith(("替换上述内容", "判决"))
    ]
    assert {r["ID"] for r in asked} == {
        r["ID"] for r in stock if r["label_value"] == "女" and "案情陈述" in r["response"][0]
    }
    assert not [
        r
        for r in rows["recusal_appliedphi4_t0.json"]
        if read_answer(r["response"][0]).read_as == "asks_for_facts"
    ]


def test_failed_requests_are_counted(rows: dict[str, list[dict[str, Any]]]) -> None:
    kinds = Counter(read_answer(r["response"][0]).read_as for r in rows["recusal_appliedphi4_t0.json"])
    assert kinds["request_failed"] == 158
    assert kinds["exact"] == 2000


def test_what_is_not_certain_is_missing_and_counted(rows: dict[str, list[dict[str, Any]]]) -> None:
    """Every answer left out holds two verdicts that differ, or breaks off in its first or a second one."""
    kinds = {
        name: Counter(read_answer(r["response"][0]).missing for r in found) for name, found in rows.items()
    }
    print("\n" + "\n".join(f"{name}: {dict(counted)}" for name, counted in kinds.items()))
    assert kinds["recusal_appliedphi4_t0.json"] == {
        None: 2182,
        Missing.SEVERAL_VERDICTS: 13,
        Missing.CUT_OFF: 5,
    }
    assert kinds["defendant_sexphi4_t0.json"] == {None: 3246, Missing.CUT_OFF: 54}


def test_agrees_with_plain_json_where_that_reads(rows: dict[str, list[dict[str, Any]]]) -> None:
    """An independent, literal reading of every regular answer."""
    compared = 0
    for row in (r for name in FILES for r in rows[name]):
        text = row["response"][0].strip().removeprefix("```json").removesuffix("```")
        try:
            literal = json.loads(text)
        except json.JSONDecodeError:
            continue
        verdict = read_answer(row["response"][0])
        assert verdict == read_object(literal)
        if literal["刑罚类型"] == "有期徒刑" and literal["是否有罪"] == "是":
            assert (verdict.penalty, verdict.months) == ("fixed_term", literal["刑期"])
        compared += 1
    assert compared > 5000


def test_the_short_way_agrees_with_the_long_way(rows: dict[str, list[dict[str, Any]]]) -> None:
    for row in (r for name in FILES for r in rows[name]):
        text = row["response"][0]
        short = _short_way(text)
        assert short is None or short == _long_way(text)
        escaped = text.replace('"', '\\"')
        short = _short_way(escaped)
        assert short is None or short == _long_way(escaped)


def test_speed(rows: dict[str, list[dict[str, Any]]]) -> None:
    """177,100 answers must be read in seconds to a minute; the bound leaves room for a busy machine."""
    texts = [r["response"][0] for name in FILES for r in rows[name]]
    exact = [t for t in texts if read_answer(t).read_as == "exact"]
    for name, some, least in (("exact", exact, 5000), ("all", texts, 2500)):
        start = time.process_time()
        for text in some:
            read_answer(text)
        rate = len(some) / max(time.process_time() - start, 1e-9)
        print(f"\n{name}: {rate:,.0f} answers/s")
        assert rate > least
