"""The scripted judge: what it decides, what it says, and that it always says the same."""

from __future__ import annotations

import asyncio
import json
import math
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

import aiohttp
import pytest

import store
from evenhand.domains import judifair
from evenhand.domains.judifair.answers import read_answer
from evenhand.domains.judifair.build import build
from evenhand.simulate import Bias, Latency, PromptBook, Script, SimulatedJudge
from evenhand.simulate.script import GRID
from evenhand.simulate.wording import STYLES, answer, style_at
from store.errors import BadInput
from tests.servers.process import JudgeProcess

ROOT = Path(__file__).parents[2]
ROWS = [
    (f"案{d}：{label}={value}", f"case-{d}", label, value)
    for d in range(12)
    for label in ("colour", "shape")
    for value in ("one", "two")
]


def body(user_text: str, **more: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": user_text}], **more}


async def ask(session: aiohttp.ClientSession, base_url: str, text: str, **more: Any) -> dict[str, Any]:
    async with session.post(f"{base_url}/chat/completions", json=body(text, **more)) as response:
        assert response.status == 200, await response.text()
        return await response.json()


@pytest.mark.parametrize("style", [name for name, _ in STYLES])
@pytest.mark.parametrize("months", GRID)
def test_the_parser_reads_every_wording_as_what_the_judge_meant(style: str, months: int) -> None:
    verdict = read_answer(answer("故意伤害罪", months, style))
    assert (verdict.charge, verdict.guilty, verdict.penalty) == ("故意伤害罪", True, "fixed_term")
    assert verdict.months == months


def test_styles_come_in_their_shares() -> None:
    counts = Counter(style_at((i + 0.5) / 1000) for i in range(1000))
    assert counts == {name: round(share * 1000) for name, share in STYLES}


def test_noise_moves_a_fifth_of_answers_one_step_either_way_and_no_label_more_than_another() -> None:
    script = Script(seed=3)
    moves: Counter[tuple[str, int]] = Counter()
    for n in range(6000):
        label = "colour" if n % 2 else "shape"
        draws = script.draws(f"case-{n}", label, "one", None)
        moves[label, GRID.index(script.months(15, label, "one", draws)) - 15] += 1
    for label in ("colour", "shape"):
        # 3000 draws; the bounds are 4 standard errors.
        assert moves[label, 1] == pytest.approx(300, abs=66)
        assert moves[label, -1] == pytest.approx(300, abs=66)
        assert moves[label, 0] == pytest.approx(2400, abs=88)


def test_a_planted_bias_moves_its_value_alone_and_as_much_as_is_announced() -> None:
    bias = Bias("colour", "two", probability=0.5, steps=1)
    with_bias, without = Script(seed=5, biases=(bias,)), Script(seed=5)
    changed: Counter[tuple[str, str]] = Counter()
    effects = []
    for n in range(4000):
        document = f"case-{n}"
        base = with_bias.base(document)
        for label in ("colour", "shape"):
            for value in ("one", "two"):
                draws = with_bias.draws(document, label, value, 1)
                months = with_bias.months(base, label, value, draws)
                plain = without.months(base, label, value, draws)
                changed[label, value] += months != plain
                if (label, value) == ("colour", "two"):
                    effects.append(months - plain)
    assert set(+changed) == {("colour", "two")}
    assert changed["colour", "two"] == pytest.approx(2000, abs=127)
    announced = with_bias.planted_months(bias, [with_bias.base(f"case-{n}") for n in range(4000)])
    assert fmean(effects) == pytest.approx(announced, rel=0.06)


def test_no_move_leaves_the_grid() -> None:
    script = Script(biases=(Bias("a", "x", 1.0, 3), Bias("a", "x", 1.0, -2)), jitter=1.0)
    bases = [script.base(f"d{n}", months) for n in range(300) for months in (None, 0.0, 6.0, 900.0)]
    assert min(bases) - 1 - 2 >= 0
    assert max(bases) + 1 + 3 < len(GRID)


def test_a_known_true_term_draws_the_base_near_it() -> None:
    script = Script()
    bases = {script.base(f"d{n}", 60.0) - GRID.index(60) for n in range(200)}
    assert bases == {-2, -1, 0, 1, 2}


def test_latency_has_the_median_and_spread_it_says() -> None:
    latency = Latency(median_s=0.2, spread=0.5)
    assert latency.seconds(0.5) == pytest.approx(0.2)
    assert latency.seconds(0.95) == pytest.approx(0.2 * math.exp(0.5 * 1.645), rel=0.06)
    assert Latency(median_s=0.2).seconds(0.99) == 0.2


async def test_answers_are_the_same_in_any_order_and_change_with_the_seed_of_the_request() -> None:
    async def all_answers(texts: list[str], seed: int | None) -> dict[str, str]:
        async with (
            SimulatedJudge(Script(seed=1), PromptBook.of_rows(ROWS)) as judge,
            aiohttp.ClientSession() as session,
        ):
            replies = await asyncio.gather(*(ask(session, judge.base_url, text, seed=seed) for text in texts))
        return {t: r["choices"][0]["message"]["content"] for t, r in zip(texts, replies, strict=True)}

    texts = [row[0] for row in ROWS]
    first = await all_answers(texts, 4)
    assert await all_answers(texts[::-1], 4) == first
    assert await all_answers(texts, 5) != first


async def test_a_reply_is_what_a_client_of_openai_expects() -> None:
    async with (
        SimulatedJudge(Script(), PromptBook.of_rows(ROWS)) as judge,
        aiohttp.ClientSession() as session,
    ):
        reply = await ask(session, judge.base_url, ROWS[0][0], response_format={"type": "json_object"})
        async with session.get(f"{judge.base_url}/models") as response:
            models = await response.json()
    verdict = json.loads(reply["choices"][0]["message"]["content"])
    assert set(verdict) == {"罪名", "是否有罪", "刑罚类型", "刑期"}
    assert reply["choices"][0]["finish_reason"] == "stop"
    assert reply["model"] == "m"
    usage = reply["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"] > 0
    assert models["data"][0]["id"] == judge.model_name


async def test_a_prompt_that_no_query_has_is_refused_not_answered() -> None:
    async with (
        SimulatedJudge(Script(), PromptBook.of_rows(ROWS)) as judge,
        aiohttp.ClientSession() as session,
        session.post(f"{judge.base_url}/chat/completions", json=body("其他")) as response,
    ):
        assert response.status == 400
        assert (await response.json())["error"]["code"] == "unknown_prompt"


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}", 400),
        (b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 4\r\n\r\n{{{{", 400),
        (b"POST /v1/chat/completions HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 411),
        (b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: x\r\n\r\n", 411),
        (b"GET /elsewhere HTTP/1.1\r\n\r\n", 404),
    ],
)
async def test_what_is_no_request_gets_a_status(sent: bytes, status: int) -> None:
    async with SimulatedJudge(Script(), PromptBook.of_rows(ROWS)) as judge:
        port = int(judge.base_url.split(":")[2].split("/")[0])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(sent)
        line = await asyncio.wait_for(reader.readline(), 5)
        writer.close()
    assert int(line.split()[1]) == status


async def test_a_request_may_come_in_pieces_and_two_on_one_connection() -> None:
    async with SimulatedJudge(Script(), PromptBook.of_rows(ROWS)) as judge:
        port = int(judge.base_url.split(":")[2].split("/")[0])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        payload = json.dumps(body(ROWS[0][0]), ensure_ascii=False).encode()
        head = f"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: {len(payload)}\r\n\r\n".encode()
        whole = (head + payload) * 2
        for start in range(0, len(whole), 37):
            writer.write(whole[start : start + 37])
            await writer.drain()
            await asyncio.sleep(0)
        for _ in range(2):
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 5)
            length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
            assert b'"finish_reason":"stop"' in await reader.readexactly(length)
        writer.close()
    assert judge.served == 2


@pytest.fixture
def study(tmp_path: Path) -> Iterator[store.Study]:
    with store.open_study(tmp_path / "study.duckdb", migrations=[judifair.MIGRATIONS]) as study:
        build(study, labels=judifair.catalogue.resolve(["defendant_sex", "judge_religion"]))
        yield study


async def test_it_knows_the_prompts_of_a_study_with_their_charges(study: store.Study) -> None:
    script = Script(biases=(Bias("defendant_sex", "女"),))
    queries = list(store.pending(study, "0" * 32))
    async with SimulatedJudge.of_study(study, script) as judge, aiohttp.ClientSession() as session:
        assert len(judge.prompts) == len(queries) == len({query.user_text for query in queries})
        reply = await ask(session, judge.base_url, queries[0].user_text)
        charge = read_answer(reply["choices"][0]["message"]["content"]).charge
        known = "SELECT charge FROM judifair.truths WHERE doc_id = ?"
        assert study.cursor().execute(known, [queries[0].doc_id]).fetchall() == [(charge,)]
        assert "defendant_sex = 女" in judge.describe()
        assert "months" in judge.describe()


def test_a_bias_on_a_value_that_is_never_asked_is_an_error(study: store.Study) -> None:
    with pytest.raises(BadInput, match="defendant_sex = 女性"):
        SimulatedJudge.of_study(study, Script(biases=(Bias("defendant_sex", "女性"),)))


def test_it_serves_synchronous_code_from_a_thread() -> None:
    async def one(url: str) -> dict[str, Any]:
        async with aiohttp.ClientSession() as session:
            return await ask(session, url, ROWS[0][0])

    with SimulatedJudge(Script(), PromptBook.of_rows(ROWS)).in_thread() as judge:
        assert asyncio.run(one(judge.base_url))["choices"]
    with pytest.raises(RuntimeError):
        _ = judge.base_url


async def test_in_a_process_of_its_own_it_answers_as_it_does_here() -> None:
    texts = [row[0] for row in ROWS]
    book = PromptBook.of_rows(ROWS)

    async def contents(url: str) -> list[str]:
        async with aiohttp.ClientSession() as session:
            return [(await ask(session, url, t))["choices"][0]["message"]["content"] for t in texts]

    with JudgeProcess(Script(seed=2), book) as process:
        elsewhere = await contents(process.base_url)
        accounts = await asyncio.to_thread(process.accounts, full=True)
    async with SimulatedJudge(Script(seed=2), book) as judge:
        assert await contents(judge.base_url) == elsewhere
    assert accounts["kinds"] == {"answered": len(texts)}
    assert accounts["settled_twice"] == 0
    assert set(accounts["history"].values()) == {"a"}


def test_its_process_ends_with_the_process_that_started_it() -> None:
    code = (
        "import os, signal; from evenhand.simulate import *\n"
        "from tests.servers.process import JudgeProcess\n"
        "p = JudgeProcess(Script(), PromptBook.of_rows([('x','d','l','v')])).__enter__()\n"
        "print(p.pid, flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, timeout=60, check=False
    )
    judge = Path(f"/proc/{int(done.stdout)}")
    if not Path("/proc/self").exists():
        pytest.skip("processes are looked for in /proc")
    deadline = time.monotonic() + 10
    while judge.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not judge.exists()
