"""A headless Chromium, driven over its debugging protocol on loopback; for the report's tests."""

from __future__ import annotations

import asyncio
import base64
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--hide-scrollbars",
    "--remote-debugging-port=0",
    "--remote-allow-origins=*",
)
PATIENCE_S = 60.0


def binary() -> str | None:
    """A Chromium of this machine, if there is one."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Page:
    """A page, with what it said on the console and asked of the network."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._next = 0
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.loaded = False

    async def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """A command of the protocol, and its result."""
        self._next += 1
        number = self._next
        await self._socket.send_json({"id": number, "method": method, "params": parameters})
        async with asyncio.timeout(PATIENCE_S):
            while True:
                message = await self._socket.receive_json()
                if message.get("id") == number:
                    assert "error" not in message, message["error"]
                    result: dict[str, Any] = message["result"]
                    return result
                self._note(message)

    def _note(self, message: dict[str, Any]) -> None:
        parameters = message.get("params", {})
        match message.get("method"):
            case "Runtime.exceptionThrown":
                self.complaints.append(str(parameters["exceptionDetails"]))
            case "Runtime.consoleAPICalled" if parameters["type"] in ("error", "warning", "assert"):
                self.complaints.append(str(parameters["args"]))
            case "Log.entryAdded":
                self.complaints.append(str(parameters["entry"]))
            case "Network.requestWillBeSent":
                self.requests.append(parameters["request"]["url"])
            case "Page.loadEventFired":
                self.loaded = True

    async def open(self, path: Path, *, width: int = 1280, height: int = 1600) -> None:
        """Load a file and wait until it is there."""
        for domain in ("Page", "Runtime", "Log", "Network"):
            await self.call(f"{domain}.enable")
        await self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        await self.call("Page.navigate", url=path.as_uri())
        async with asyncio.timeout(PATIENCE_S):
            while not self.loaded:
                self._note(await self._socket.receive_json())

    async def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page."""
        result = await self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    async def screenshot(self) -> bytes:
        """What is to be seen, as PNG."""
        return base64.b64decode((await self.call("Page.captureScreenshot", format="png"))["data"])

    async def pdf(self) -> bytes:
        """The page as printed."""
        return base64.b64decode((await self.call("Page.printToPDF", preferCSSPageSize=True))["data"])


@asynccontextmanager
async def page() -> AsyncIterator[Page]:
    """A fresh browser with one page; it ends with the block."""
    found = binary()
    assert found is not None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = await asyncio.create_subprocess_exec(
            found, *FLAGS, f"--user-data-dir={profile}", "about:blank",
            stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        try:
            port = await _port(_ready(Path(profile) / "DevToolsActivePort"), process)
            async with aiohttp.ClientSession() as session:
                async with session.get(f"http://127.0.0.1:{port}/json/list") as answer:
                    targets = await answer.json()
                target = next(t for t in targets if t["type"] == "page")
                async with session.ws_connect(target["webSocketDebuggerUrl"], max_msg_size=0) as socket:
                    yield Page(socket)
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()


def _ready(path: Path) -> Callable[[], str]:
    """What the browser has written about its port so far."""
    return lambda: path.read_text() if path.exists() else ""


async def _port(written: Callable[[], str], process: asyncio.subprocess.Process) -> int:
    async with asyncio.timeout(PATIENCE_S):
        while not written().strip():
            assert process.returncode is None, "Chromium ended before it was ready"
            await asyncio.sleep(0.05)
    return int(written().split()[0])
