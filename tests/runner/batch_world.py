"""A scripted batch server on loopback, as OpenAI documents the interface, that can go wrong on demand."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from runner_world import completion, providers

import store
from runner.batch.run import run_batch
from runner.lifecycle.options import Asked, RunOptions, RunSummary

Make = Callable[[dict[str, Any]], Any]


def line(custom_id: str, body: Any = None, code: int = 200, error: Any = None) -> dict[str, Any]:
    """A line of an output or error file."""
    response = None if body is None else {"status_code": code, "request_id": "r", "body": body}
    return {"id": "b", "custom_id": custom_id, "response": response, "error": error}


def all_answered(requests: list[dict[str, Any]]) -> tuple[list[Any], list[Any]]:
    """Every request answered."""
    return [line(one["custom_id"], completion()) for one in requests], []


@dataclass
class BatchServer:
    """`outcome(requests)` gives (lines of the output file, lines of the error file); a line may be bytes."""

    outcome: Callable[[list[dict[str, Any]]], tuple[list[Any], list[Any]]] = all_answered
    ends_as: str = "completed"
    polls: int = 1
    """How often a batch is in progress before it has ended."""
    errors: Any = None
    faults: list[tuple[str, Any]] = field(default_factory=list)
    """(beginning of "METHOD path", reply): each is given once, to the first call that fits. A reply is a
    status, or "lost" (done, but the connection breaks before the reply), or "cut" (a file half sent)."""
    most_open: int | None = None
    """Batches beyond are failed: too many tokens enqueued."""
    files: dict[str, bytes] = field(default_factory=dict)
    batches: dict[str, dict[str, Any]] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)
    base_url: str = ""
    late: int = 0
    """How often an ended batch is looked at before it names these files:"""
    late_files: Sequence[str] = ("output_file_id", "error_file_id")
    counts: Callable[[dict[str, int]], Any] = dict
    """What is shown of the counts."""
    held: asyncio.Event | None = None
    """While set to an unset event, content is not given."""

    def count(self, beginning: str) -> int:
        """Calls so far that begin so."""
        return sum(call.startswith(beginning) for call in self.calls)

    def requests(self) -> list[dict[str, Any]]:
        """Everything that batches (not failed ones) ask."""
        return [
            one
            for batch in self.batches.values()
            if batch["status"] != "failed"
            for one in self.of_file(batch["input_file_id"])
        ]

    def of_file(self, file_id: str) -> list[dict[str, Any]]:
        """The requests of an uploaded file."""
        return [json.loads(text) for text in self.files[file_id].splitlines()]

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Any call."""
        path = request.path.removeprefix("/v1")
        call = f"{request.method} {path}"
        self.calls.append(call)
        self.keys.add(request.headers.get("Authorization", ""))
        fault = next((one for one in self.faults if call.startswith(one[0])), None)
        if fault is not None:
            self.faults.remove(fault)
            if isinstance(fault[1], int):
                shown = {
                    "error": {"message": f"status {fault[1]} for {request.headers.get('Authorization')}"}
                }
                await request.read()
                return web.json_response(shown, status=fault[1])
        what = None if fault is None else fault[1]
        if path == "/files":
            found: web.StreamResponse = await self._upload(request)
        elif path == "/batches" and request.method == "POST":
            found = self._submit(await request.json())
        elif path == "/batches":
            found = self._list(request.query)
        elif path.endswith("/content"):
            found = await self._content(request, path.split("/")[2], cut=what == "cut")
        else:
            found = self._look(path.split("/")[2])
        if what == "lost":
            assert request.transport is not None
            request.transport.close()
        return found

    async def _upload(self, request: web.Request) -> web.Response:
        form = await request.post()
        assert form["purpose"] == "batch"
        sent = form["file"]
        assert isinstance(sent, web.FileField)
        assert sent.filename.endswith(".jsonl")
        file_id = f"file-in-{len(self.files)}"
        self.files[file_id] = sent.file.read()
        return web.json_response({"id": file_id, "object": "file"})

    def _submit(self, body: dict[str, Any]) -> web.Response:
        assert body["completion_window"] == "24h"
        assert body["endpoint"] == "/v1/chat/completions"
        requests = self.of_file(body["input_file_id"])
        batch = {
            "id": f"batch_{len(self.batches)}",
            "input_file_id": body["input_file_id"],
            "metadata": body["metadata"],
            "status": "validating",
            "output_file_id": None,
            "error_file_id": None,
            "errors": None,
            "request_counts": {"total": len(requests), "completed": 0, "failed": 0},
            "polls": 0,
        }
        going = [one for one in self.batches.values() if one["status"] in ("validating", "in_progress")]
        if self.most_open is not None and len(going) >= self.most_open:
            batch["status"] = "failed"
            batch["errors"] = {"data": [{"code": "token_limit_exceeded", "message": "Enqueued token limit"}]}
        self.batches[batch["id"]] = batch
        return web.json_response(batch)

    def _list(self, query: Any) -> web.Response:
        newest = list(reversed(self.batches.values()))
        ids = [batch["id"] for batch in newest]
        start = ids.index(query["after"]) + 1 if "after" in query else 0
        page = newest[start : start + 2]  # small pages, whatever is asked for
        return web.json_response({"data": page, "has_more": start + 2 < len(newest)})

    def _look(self, batch_id: str) -> web.Response:
        batch = self.batches.get(batch_id)
        if batch is None:
            return web.json_response({"error": {"message": "No such batch"}}, status=404)
        if batch["status"] in ("validating", "in_progress"):
            batch["polls"] += 1
            batch["status"] = "in_progress"
            if batch["polls"] > self.polls:
                self._end(batch)
        shown = {**batch, "request_counts": self.counts(batch["request_counts"])}
        if batch["status"] not in ("validating", "in_progress"):
            batch["looks"] = batch.get("looks", 0) + 1
            if batch["looks"] <= self.late:
                shown.update(dict.fromkeys(self.late_files))
        return web.json_response(shown)

    def _end(self, batch: dict[str, Any]) -> None:
        batch["status"] = self.ends_as
        if self.ends_as == "failed":
            batch["errors"] = self.errors
            return
        output, errors = self.outcome(self.of_file(batch["input_file_id"]))
        for name, lines in (("output_file_id", output), ("error_file_id", errors)):
            if lines:
                batch[name] = f"file-out-{len(self.files)}"
                texts = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in lines]
                self.files[batch[name]] = b"\n".join(texts) + b"\n"
        batch["request_counts"].update(completed=len(output), failed=len(errors))

    async def _content(self, request: web.Request, file_id: str, *, cut: bool) -> web.StreamResponse:
        if file_id not in self.files:
            return web.json_response({"error": {"message": "No such file"}}, status=404)
        data = self.files[file_id]
        response = web.StreamResponse()
        response.enable_chunked_encoding()
        await response.prepare(request)
        await response.write(data[: len(data) // 2])
        if cut:
            assert request.transport is not None
            request.transport.close()
            return response
        if self.held is not None:
            await self.held.wait()
        await response.write(data[len(data) // 2 :])
        await response.write_eof()
        return response


@contextlib.asynccontextmanager
async def serving(**script: Any) -> AsyncIterator[BatchServer]:
    """A server while the block runs."""
    server = BatchServer(**script)
    app = web.Application(client_max_size=2**28)
    app.router.add_route("*", "/{path:.*}", server.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    server.base_url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    try:
        yield server
    finally:
        await runner.cleanup()


async def ask_by_batch(
    study: store.Study,
    server: BatchServer,
    selection: store.Selection | None = None,
    *,
    settings: dict[str, Any] | None = None,
    table: dict[str, Any] | None = None,
    within_s: float = 20,
    late_s: float = 0.1,
    **options: Any,
) -> RunSummary:
    """Run the model `judge` by batches of this server."""
    given = {"base_url": server.base_url, "batch": True, **(table or {})}
    entry = providers(a=given).resolve("judge")
    asked = [Asked(entry.settings(**(settings or {})), entry)]
    options = {"monitor": "none", "serve_sql": False, **options}
    work = run_batch(study, asked, selection, RunOptions(**options), poll_s=0.02, late_s=late_s)
    return await asyncio.wait_for(work, within_s)
