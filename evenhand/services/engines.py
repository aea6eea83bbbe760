"""Engines that Evenhand starts by itself for a run: the embedded model, the scripted judge, vLLM.

A model whose provider is of kind `embedded` or `simulated` has no address in providers.toml. `started` brings
its server up on loopback, gives the providers with the address filled in, and takes it down at the end. One
of kind `vllm` has an address; a server is started there if none runs.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evenhand.simulate import Script
    from runner.providers.file import Providers, Route
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
    tell: Callable[[str], object] = str,
) -> AsyncIterator[Providers]:
    """Serve what these models need, for as long as the block runs; `tell` hears what takes long.

    Raises:
        BadInput: the embedded engine, its model or vllm is not installed (and how to install it), or the vLLM
            server that runs has another model.
        RunFailed: a server did not come up; with the end of its log.
    """
    routes = [route for model in models for route in providers.resolve(model).routes]
    embedded = {route.provider for route in routes if route.kind == "embedded"}
    simulated = {route.provider for route in routes if route.kind == "simulated"}
    async with AsyncExitStack() as stack:
        for provider in embedded:
            from runner.engines.embedded import EmbeddedServer  # noqa: PLC0415

            server = await stack.enter_async_context(EmbeddedServer(gguf=gguf, threads=threads))
            providers = providers.at(provider, server.base_url)
        for provider in simulated:
            from evenhand.simulate import Script, SimulatedJudge  # noqa: PLC0415

            judge = await stack.enter_async_context(SimulatedJudge.of_study(study, script or Script()))
            providers = providers.at(provider, judge.base_url)
        await _serve_vllm(stack, providers, models, tell)
        yield providers


async def _serve_vllm(
    stack: AsyncExitStack, providers: Providers, models: Sequence[str], tell: Callable[[str], object]
) -> None:
    """See that the vLLM servers of these models run.

    One that another provider offers before vLLM needs none; one that another offers after it can do without.
    """
    from store.errors import BadInput  # noqa: PLC0415

    needed: dict[tuple[str | None, str], tuple[Route, list[str]]] = {}
    for model in models:
        routes = providers.resolve(model).routes
        others = [r.provider for r in routes if r.kind != "vllm" and r.base_url and r.keys_set()]
        route = next((r for r in routes if r.kind == "vllm"), None)
        if route is not None and not route.replicas and (route is routes[0] or not others):
            needed[route.base_url, route.model_id] = (route, others)
    if not needed:
        return
    from runner.engines.vllm import VllmServer  # noqa: PLC0415

    await _one_model_a_server([route for route, _ in needed.values()])
    for route, others in needed.values():
        options = providers.tables[route.provider].vllm
        try:
            await stack.enter_async_context(VllmServer(route, options, say=tell))
        except BadInput as error:
            if not others:
                raise
            tell(f"{error.message} {route.model} is asked through {', '.join(others)} instead.")


async def _one_model_a_server(routes: Sequence[Route]) -> None:
    """A server that we start has one model: tell of a second at its address before the first has loaded."""
    from runner.engines.vllm import served_models  # noqa: PLC0415
    from store.errors import BadInput  # noqa: PLC0415

    for address in {route.base_url for route in routes}:
        wanted = [route for route in routes if route.base_url == address]
        if len(wanted) > 1 and await served_models(wanted[0]) is None:
            names = " and ".join(route.model for route in wanted)
            raise BadInput(
                f"{names} are to be served at {address} together; a vLLM server has one model.",
                hint="Run them one after the other, or give one a provider with another base_url.",
            )
