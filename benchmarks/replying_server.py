"""A loopback server that costs next to nothing: one completion, with an id of its own, whatever is asked.

The benchmarks compare clients, so the server must never be what is waited for. It reads no JSON and answers
from one prepared block of bytes, into which only the id is written. Alone,
`python -m benchmarks.replying_server [DELAY_S]` prints its port.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import sys
from typing import cast

ANSWER = {
    "id": "chatcmpl-%012d",
    "object": "chat.completion",
    "created": 1700000000,
    "model": "judge-1",
    "system_fingerprint": "fp_1",
    "choices": [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "content": '{"罪名": "盗窃罪", "是否有罪": true, "刑罚类型": "有期徒刑", "刑期": 10}',
            },
            "finish_reason": "stop",
            "logprobs": None,
        }
    ],
    "usage": {
        "prompt_tokens": 2100,
        "completion_tokens": 40,
        "total_tokens": 2140,
        "prompt_tokens_details": {"cached_tokens": 1024},
    },
}


def _response() -> bytes:
    body = json.dumps(ANSWER, ensure_ascii=False).encode()
    length = len(body) - len("%012d") + 12
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    return head.encode() + body


class Replying(asyncio.Protocol):
    """Counts bytes up to the end of each request and sends the answer."""

    before, after = _response().split(b"%012d")
    numbers = itertools.count()
    delay_s = 0.0

    def __init__(self) -> None:
        self.buffer = bytearray()
        self.transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self.transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """Answer every request that is whole."""
        self.buffer += data
        while True:
            end = self.buffer.find(b"\r\n\r\n")
            if end < 0:
                return
            head = bytes(self.buffer[:end]).lower()
            at = head.find(b"content-length:")
            length = int(head[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
            if len(self.buffer) < end + 4 + length:
                return
            del self.buffer[: end + 4 + length]
            if self.delay_s:
                asyncio.get_running_loop().call_later(self.delay_s, self._answer)
            else:
                self._answer()

    def _answer(self) -> None:
        if not self.transport.is_closing():
            self.transport.write(b"%b%012d%b" % (self.before, next(self.numbers), self.after))


async def _main() -> None:
    Replying.delay_s = float(sys.argv[1]) if len(sys.argv) > 1 else 0.0
    server = await asyncio.get_running_loop().create_server(Replying, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    import uvloop

    uvloop.run(_main())
