"""The vllm provider: a running server is used, a missing one is started, and each way it can fail is told."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest
from aiohttp import web
from runner_world import providers

from runner.schema import Vllm
from runner.vllm import VllmServer
from store.errors import BadInput, RunFailed

FAKE = """\
#!{python}
import http.server, json, sys
arguments = sys.argv[1:]
assert arguments[0] == "serve", arguments
if arguments[1] == "broken":
    print("CUDA out of memory", file=sys.stderr)
    sys.exit(3)
assert "--enable-prefix-caching" in arguments
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = json.dumps({{"data": [{{"id": arguments[1]}}]}}).encode()
        self.send_response(200); self.end_headers(); self.wfile.write(body)
    def log_message(self, *_): pass
port = int(arguments[arguments.index("--port") + 1])
http.server.HTTPServer(("127.0.0.1", port), Handler).serve_forever()
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def route(port: int, model: str = "Qwen/Qwen2.5-7B-Instruct"):
    table = {"kind": "vllm", "base_url": f"http://127.0.0.1:{port}/v1", "offer": {"id": model}}
    return providers(vllm=table).resolve("judge").routes[0]


@pytest.fixture
def fake_vllm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    program = tmp_path / "bin" / "vllm"
    program.parent.mkdir()
    program.write_text(FAKE.format(python=sys.executable))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    return tmp_path


async def serve_models(*names: str) -> tuple[web.AppRunner, int]:
    async def models(_: web.Request) -> web.Response:
        return web.json_response({"data": [{"id": name} for name in names]})

    app = web.Application()
    app.router.add_get("/v1/models", models)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    return runner, runner.addresses[0][1]


async def test_a_running_server_is_used():
    runner, port = await serve_models("other", "Qwen/Qwen2.5-7B-Instruct")
    async with VllmServer(route(port), Vllm()) as server:
        assert not server.started
    await runner.cleanup()


async def test_a_server_of_another_model_is_told():
    runner, port = await serve_models("other")
    with pytest.raises(BadInput, match=r"serves other, not Qwen/Qwen2\.5"):
        await VllmServer(route(port), Vllm()).__aenter__()
    await runner.cleanup()


async def test_a_missing_server_is_started_with_prefix_caching_and_stopped(fake_vllm):
    port = free_port()
    server = VllmServer(route(port), Vllm(arguments=["--max-model-len", "4096"]), fake_vllm)
    async with server:
        assert server.started
        assert server.command()[-2:] == ["--max-model-len", "4096"]
        with socket.create_connection(("127.0.0.1", port), 2):
            pass
    with pytest.raises(OSError), socket.create_connection(("127.0.0.1", port), 2):  # noqa: PT011
        pass


async def test_a_server_that_dies_says_why(fake_vllm):
    with pytest.raises(RunFailed, match=r"code 3: CUDA out of memory"):
        await VllmServer(route(free_port(), "broken"), Vllm(), fake_vllm).__aenter__()


async def test_without_vllm_the_message_says_what_to_do(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(BadInput, match="vllm is not installed"):
        await VllmServer(route(free_port()), Vllm()).__aenter__()


async def test_a_server_elsewhere_is_not_started(fake_vllm):
    table = {"kind": "vllm", "base_url": "http://vllm.invalid:8000/v1"}
    elsewhere = providers(vllm=table).resolve("judge").routes[0]
    with pytest.raises(BadInput, match="No server answers"):
        await VllmServer(elsewhere, Vllm()).__aenter__()
