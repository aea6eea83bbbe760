"""One chat completion: bytes out, an answer or a fault back. No retries, no limits: those are the lane's."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass

import aiohttp

from runner.transport.outcome import Answer, Fault, Kind
from runner.transport.posting import LONGEST_BODY, NoHttp, Poster, SecondReply, TooLong
from runner.transport.redact import Redactor
from runner.transport.reply import read

_NO_HEADERS: Mapping[str, str] = {}


@dataclass(slots=True)
class Sent:
    """What one request came to. `latency_s` is from sending to the last byte, or to the fault."""

    result: Answer | Fault
    headers: Mapping[str, str]
    latency_s: float


async def complete(poster: Poster, body: bytes, redactor: Redactor) -> Sent:
    """Send one body and read the reply. Raises nothing but CancelledError."""
    address = poster.address
    exchange = address.deadlines.start()
    started = time.perf_counter()
    try:
        reply = await poster.post(body, exchange)
        result = read(reply.status, reply.headers, reply.body, redactor, str(address.url))
    except asyncio.CancelledError:
        if not exchange.given_up():
            raise
        result = Fault(Kind.TIMEOUT, str(exchange.too_late))
    except TimeoutError:
        message = f"no connection within {address.connect.sock_connect:g} s"
        result = Fault(Kind.TIMEOUT, message, unreached=True)
    except TooLong:
        result = Fault(Kind.BAD_BODY, f"the body is longer than {LONGEST_BODY >> 20} MB")
    except aiohttp.ClientPayloadError as error:
        result = Fault(Kind.BAD_BODY, redactor.clean(f"the body broke off: {_says(error)}"))
    except SecondReply:
        result = Fault(Kind.CONNECTION, "the server sent its reply to an earlier query once more")
    except NoHttp as error:
        result = Fault(Kind.BAD_BODY, redactor.clean(f"no HTTP: {error}"))
    except aiohttp.ClientConnectorCertificateError as error:
        why = redactor.clean(str(error.certificate_error))
        message = f"its certificate is not trusted; SSL_CERT_FILE may name authorities of your own: {why}"
        result = Fault(Kind.CONNECTION, message, unreached=True)
    except (aiohttp.ClientError, OSError, asyncio.IncompleteReadError, ValueError) as error:
        unreached = isinstance(error, aiohttp.ClientConnectorError)
        result = Fault(Kind.CONNECTION, redactor.clean(_says(error)), unreached=unreached)
    finally:
        address.deadlines.end(exchange)
    return Sent(result, exchange.headers or _NO_HEADERS, time.perf_counter() - started)


def _says(error: BaseException) -> str:
    text = str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
