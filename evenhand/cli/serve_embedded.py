"""`evenhand serve-embedded`: the embedded model alone, OpenAI-compatible, on loopback."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from runner.engines.embedded import EmbeddedServer


@click.command(
    epilog="""\b
Examples:
  evenhand serve-embedded --port 8080
  evenhand serve-embedded --gguf models/qwen2.5-7b-instruct-q4_k_m.gguf --threads 4
"""
)
@click.option(
    "--gguf",
    type=click.Path(path_type=Path),
    help="Serve this model file instead of the embedded one.",
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="On 127.0.0.1. [default: a free one]")
@click.option("--threads", type=click.IntRange(min=1), help="[default: chosen from the cores that are free]")
@click.option(
    "--context", type=click.IntRange(min=256), default=4096, show_default=True, help="Tokens a slot."
)
@click.option(
    "--slots", type=click.IntRange(min=1), default=1, show_default=True, help="Requests worked on at once."
)
def command(gguf: Path | None, port: int, threads: int | None, context: int, slots: int) -> None:
    """Serve the embedded model alone, OpenAI-compatible, on loopback, until Ctrl-C.

    `evenhand run` starts it by itself; this is for trying prompts by hand or with another program.
    """
    from runner.engines.embedded import serve_foreground  # noqa: PLC0415

    def say(server: EmbeddedServer) -> None:
        click.echo(f"{server.model_name} answers at {server.base_url} (Ctrl-C stops it).")

    serve_foreground(gguf, threads=threads, context=context, slots=slots, port=port, say=say)
