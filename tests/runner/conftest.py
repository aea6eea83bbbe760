"""Fixtures for whole runs."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from runner_world import Reply, Scripted, completion

import store
from runner.lifecycle.options import Asked, RunOptions
from runner.live.run import run
from runner.providers.file import Providers
from runner.transport.port import OpenTransports


@pytest.fixture
def study(tmp_path: Path):
    with store.open_study(tmp_path / "study.duckdb") as opened:
        yield opened


@pytest.fixture
async def serve():
    """`await serve(reply)` starts a server; several may run."""
    runners = []

    async def start(reply: Reply | None = None) -> Scripted:
        server = Scripted(reply or (lambda call: completion()))
        app = web.Application(client_max_size=2**26)

        async def handle(request: web.Request) -> web.StreamResponse:
            return await server.handle(request)

        app.router.add_post("/v1/chat/completions", handle)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        runners.append(runner)
        server.base_url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        return server

    yield start
    for runner in runners:
        await runner.cleanup()


@pytest.fixture
def ask(study):
    """`await ask(tables, **options)` runs the model `judge` over the study."""

    async def ask(
        tables: Providers,
        selection=None,
        settings: dict[str, Any] | None = None,
        within_s=60,
        transports: OpenTransports | None = None,
        **options: Any,
    ):
        entry = tables.resolve("judge")
        asked = [Asked(entry.settings(**(settings or {})), entry)]
        options.setdefault("monitor", "none")
        options.setdefault("serve_sql", False)
        return await asyncio.wait_for(
            run(study, asked, selection, RunOptions(**options), transports), within_s
        )

    return ask
