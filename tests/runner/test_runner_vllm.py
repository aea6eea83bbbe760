"""The vllm provider: a running server is used, a missing one is started, and each way it can fail is told."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from aiohttp import web
from runner_world import fill_study, providers

import store
from runner.engines.vllm import VllmServer, served_models
from runner.providers.schema import Vllm
from store.errors import BadInput, RunFailed

MODEL = "Qwen/Qwen2.5-7B-Instruct"
FAKE = """\
#!{python}
import http.server, json, os, subprocess, sys, time
arguments = sys.argv[1:]
assert arguments[0] == "serve", arguments
model = arguments[1]
print("loading", model, flush=True)
if model == "broken":
    print("CUDA out of memory", file=sys.stderr)
    sys.exit(3)
if model == "endless":
    time.sleep(600)
assert "--enable-prefix-caching" in arguments
details = {{"cached_tokens": 4}} if "--enable-prompt-tokens-details" in arguments else None
if model == "slow":
    time.sleep(1.5)
# As vllm does, a worker, which holds the GPU.
worker = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print("worker", worker.pid, flush=True)
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.reply({{"data": [{{"id": model}}]}} if self.path == "/v1/models" else {{}})
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert asked["model"] == model
        self.reply({{"model": model, "choices": [{{"index": 0, "finish_reason": "stop",
            "message": {{"role": "assistant", "content": "ok"}}}}],
            "usage": {{"prompt_tokens": 9, "completion_tokens": 1, "prompt_tokens_details": details}}}})
        if model == "dies":
            os._exit(7)
    def reply(self, body):
        body = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()
    def log_message(self, *_): pass
port = int(arguments[arguments.index("--port") + 1])
http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def route(port: int, model: str = MODEL, **more):
    table = {"kind": "vllm", "base_url": f"http://127.0.0.1:{port}/v1", "offer": {"id": model}, **more}
    return providers(vllm=table).resolve("judge").routes[0]


def gone(pid: int, within_s: float = 10) -> bool:
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
            if state == "Z":
                return True
        except FileNotFoundError:
            return True
        time.sleep(0.05)
    return False


def worker_of(server: VllmServer) -> int:
    assert server.log is not None
    return int(server.log.read_text().split("worker ")[1].split()[0])


@pytest.fixture
def fake_vllm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    program = tmp_path / "bin" / "vllm"
    program.parent.mkdir()
    program.write_text(FAKE.format(python=sys.executable))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    return tmp_path


@pytest.fixture
async def answering():
    """`await answering(status, body)` serves that as /v1/models, and gives the port."""
    runners = []

    async def serve(status: int, body: object) -> int:
        async def models(_: web.Request) -> web.Response:
            return web.json_response(body, status=status)

        app = web.Application()
        app.router.add_get("/v1/models", models)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        runners.append(runner)
        return runner.addresses[0][1]

    yield serve
    for runner in runners:
        await runner.cleanup()


async def test_a_running_server_is_used_and_left_running(answering):
    port = await answering(200, {"data": [{"id": "other"}, {"id": MODEL}]})
    async with VllmServer(route(port), Vllm()) as server:
        assert not server.started
    assert await served_models(route(port)) == ["other", MODEL]


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (200, {"data": [{"id": "other"}]}, r"serves other, not Qwen/Qwen2\.5"),
        (200, ["no", "models"], "it is no vLLM server"),
        (404, {}, r"status 404\) lists no models"),
        (401, {}, "asks for a key"),
    ],
)
async def test_what_else_answers_at_the_address_is_told(answering, fake_vllm, status, body, words):
    port = await answering(status, body)
    with pytest.raises(BadInput, match=words):
        await VllmServer(route(port), Vllm()).__aenter__()


async def test_a_missing_server_is_started_with_prefix_caching_and_stopped_with_its_workers(fake_vllm):
    port = free_port()
    said: list[str] = []
    options = Vllm(arguments=["--max-model-len", "4096"])
    server = VllmServer(route(port), options, fake_vllm, said.append)
    async with server:
        assert server.started
        assert server.command()[1:] == [
            *("serve", MODEL, "--host", "127.0.0.1", "--port", str(port)),
            *("--enable-prefix-caching", "--enable-prompt-tokens-details", "--max-model-len", "4096"),
        ]
        assert await served_models(route(port)) == [MODEL]
        worker = worker_of(server)
        assert os.getpgid(worker) != os.getpgid(0), "Ctrl-C at the terminal must not reach it"
        assert str(server.log) in said[0]
    assert await served_models(route(port)) is None
    assert gone(worker)
    assert not list(fake_vllm.glob("*.log"))


async def test_a_slow_start_is_waited_for(fake_vllm):
    started = time.monotonic()
    port = free_port()
    async with VllmServer(route(port, "slow"), Vllm(), fake_vllm):
        assert time.monotonic() - started > 1.5
        assert await served_models(route(port, "slow")) == ["slow"]


async def test_one_too_slow_is_given_up_with_its_log(fake_vllm):
    server = VllmServer(route(free_port(), "endless"), Vllm(startup_s=1.0), fake_vllm)
    with pytest.raises(RunFailed, match="not ready within 1 s") as error:
        await server.__aenter__()
    assert "loading endless" in error.value.hint
    assert "vllm.startup_s" in error.value.hint
    assert server._process.returncode is not None


async def test_a_wait_that_is_cancelled_leaves_nothing_running(fake_vllm):
    server = VllmServer(route(free_port(), "endless"), Vllm(), fake_vllm)
    waiting = asyncio.create_task(server.__aenter__())
    await asyncio.sleep(0.8)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert server._process.returncode is not None


async def test_a_server_that_dies_as_it_starts_says_why(fake_vllm):
    with pytest.raises(RunFailed, match="could not serve broken: it ended with exit code 3") as error:
        await VllmServer(route(free_port(), "broken"), Vllm(), fake_vllm).__aenter__()
    assert "CUDA out of memory" in error.value.hint


async def test_a_server_that_dies_during_the_run_is_told_at_the_end(fake_vllm):
    port = free_port()
    said: list[str] = []
    async with VllmServer(route(port, "dies"), Vllm(), fake_vllm, said.append) as server:
        worker = worker_of(server)
        body = json.dumps({"model": "dies"}).encode()
        request = urllib.request.Request(f"{server.base_url}/chat/completions", body)
        await asyncio.to_thread(lambda: urllib.request.urlopen(request, timeout=5).read())
        await asyncio.wait_for(server._process.wait(), 10)
    assert "vllm ended with exit code 7 during the run" in said[-1]
    assert "worker" in said[-1]
    assert gone(worker)


async def test_without_vllm_the_message_says_what_to_type(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(BadInput, match="vllm is not installed") as error:
        await VllmServer(route(free_port()), Vllm()).__aenter__()
    assert f"`vllm serve {MODEL} --host 127.0.0.1" in error.value.hint
    assert "pip install 'evenhand[vllm]'" in error.value.hint


async def test_a_server_elsewhere_or_unwanted_is_not_started(fake_vllm):
    table = {"kind": "vllm", "base_url": "http://vllm.invalid:8000/v1"}
    elsewhere = providers(vllm=table).resolve("judge").routes[0]
    with pytest.raises(BadInput, match="No server answers") as error:
        await VllmServer(elsewhere, Vllm()).__aenter__()
    assert "on that machine" in error.value.hint
    with pytest.raises(BadInput, match="No server answers"):
        await VllmServer(route(free_port()), Vllm(start=False)).__aenter__()


def test_it_ends_with_the_process_that_started_it_even_a_killed_one(fake_vllm):
    port = free_port()
    code = (
        "import asyncio, os, signal\n"
        "from pathlib import Path\n"
        "from runner_world import providers\nfrom runner.providers.schema import Vllm\n"
        "from runner.engines.vllm import VllmServer\n"
        f"table = {{'kind': 'vllm', 'base_url': 'http://127.0.0.1:{port}/v1', 'offer': {{'id': 'm'}}}}\n"
        "route = providers(vllm=table).resolve('judge').routes[0]\n"
        "async def main():\n"
        f"    async with VllmServer(route, Vllm(), Path({str(fake_vllm)!r})) as server:\n"
        "        print(server._process.pid, server.log.read_text().split('worker ')[1], flush=True)\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "asyncio.run(main())\n"
    )
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, timeout=60, check=False, env=environ
    )
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    for pid in map(int, done.stdout.split()):
        assert gone(pid)
    with pytest.raises(OSError), socket.create_connection(("127.0.0.1", port), 2):  # noqa: PT011
        pass


PROVIDERS = """
[providers.local]
kind = "vllm"
base_url = "http://127.0.0.1:{port}/v1"
[providers.local.models.judge]
id = "Qwen/Q"
[providers.local.models.second]
id = "Qwen/R"
"""


def run_evenhand(folder: Path, *models: str) -> subprocess.CompletedProcess[str]:
    (folder / "providers.toml").write_text(PROVIDERS.format(port=free_port()))
    with store.open_study(folder / "study.duckdb") as study:
        fill_study(study, 3, 2)
    command = [sys.executable, "-m", "evenhand", "run", *models, "--monitor", "none"]
    return subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "TMPDIR": str(folder)},
    )


def test_a_run_starts_it_and_stops_it(fake_vllm):
    done = run_evenhand(fake_vllm, "judge")
    assert done.returncode == 0, done.stderr
    assert "6 answered" in done.stdout
    assert "vllm serve Qwen/Q" in done.stderr
    with store.open_study(fake_vllm / "study.duckdb") as opened:
        cached = "SELECT sum(cached_tokens) FROM predictions"
        assert opened.connection.execute(cached).fetchone() == (24,), "only if asked for does vllm say it"
    port = int((fake_vllm / "providers.toml").read_text().split("127.0.0.1:")[1].split("/")[0])
    with pytest.raises(OSError), socket.create_connection(("127.0.0.1", port), 2):  # noqa: PT011
        pass


def test_two_models_at_one_address_are_told_before_the_first_loads(fake_vllm):
    done = run_evenhand(fake_vllm, "judge", "second")
    assert done.returncode == 2
    assert "judge and second are to be served" in done.stderr
    assert "Starting" not in done.stderr


async def test_a_model_that_is_offered_elsewhere_too_does_without(study, monkeypatch):
    from evenhand.services.engines import started

    monkeypatch.setenv("PATH", "/nowhere")
    local = {"kind": "vllm", "base_url": f"http://127.0.0.1:{free_port()}/v1"}
    away = {"base_url": "http://127.0.0.1:9/v1"}
    told = []
    async with started(providers(local=local, away=away), ["judge"], study, tell=told.append):
        assert "judge is asked through away instead" in "".join(told)
    told.clear()
    async with started(providers(away=away, local=local), ["judge"], study, tell=told.append):
        assert told == [], "vLLM is second here, and not needed"
    with pytest.raises(BadInput, match="No server answers"):
        async with started(providers(local=local), ["judge"], study):
            pass
