"""Engines that Evenhand starts by itself for a run: the embedded model, and the scripted judge.

A model whose provider is of kind `embedded` or `simulated` has no address in providers.toml. `started` brings
its server up on loopback, gives the providers with the address filled in, and takes it down at the end.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evenhand.simulate import Script
    from runner.providers import Providers
    from store import Study


@asynccontextmanager
async def started(
    providers: Providers,
    models: Sequence[str],
    study: Study,
    *,
    gguf: Path | None = None,
    threads: int | None = None,
    script: Script | None = None,
) -> AsyncIterator[Providers]:
    """Serve what these models need, for as long as the block runs.

    Raises `BadInput` where the embedded engine or its model is not installed, and says how to install it.
    """
    routes = [route for model in models for route in providers.resolve(model).routes]
    embedded = {route.provider for route in routes if route.kind == "embedded"}
    simulated = {route.provider for route in routes if route.kind == "simulated"}
    vllm = {route.provider: route for route in routes if route.kind == "vllm"}
    async with AsyncExitStack() as stack:
        for provider in embedded:
            from runner.embedded import EmbeddedServer  # noqa: PLC0415

            server = await stack.enter_async_context(EmbeddedServer(gguf=gguf, threads=threads))
            providers = providers.at(provider, server.base_url)
        for provider, route in vllm.items():
            from runner.vllm import VllmServer  # noqa: PLC0415

            await stack.enter_async_context(VllmServer(route, providers.tables[provider].vllm))
        for provider in simulated:
            from evenhand.simulate import Script, SimulatedJudge  # noqa: PLC0415

            judge = await stack.enter_async_context(SimulatedJudge.of_study(study, script or Script()))
            providers = providers.at(provider, judge.base_url)
        yield providers
