"""What an error of a connection means, in words: which address was not reached and why, or what broke off."""

from __future__ import annotations

import os
import ssl

import aiohttp

from runner.transport.address import Address
from runner.transport.outcome import Fault, Kind
from runner.transport.redact import Redactor
from runner.transport.reply import CHAT_PATH


def connection_fault(error: Exception, address: Address, redactor: Redactor) -> Fault:
    """The fault that an error of aiohttp or of the system is."""
    if isinstance(error, aiohttp.ClientPayloadError):
        return Fault(Kind.BAD_BODY, redactor.clean(f"the body broke off: {_says(error)}"))
    base = str(address.url.with_query(None)).removesuffix(CHAT_PATH)
    if (why := _why_unreached(error, address)) is not None:
        kind = Kind.TIMEOUT if isinstance(error, TimeoutError) else Kind.CONNECTION
        return Fault(kind, redactor.clean(f"{base} cannot be reached: {why}"), unreached=True)
    if isinstance(error, aiohttp.ClientResponseError):
        return Fault(Kind.BAD_BODY, redactor.clean(f"{base} does not speak HTTP: {error.message}"))
    kind = Kind.TIMEOUT if isinstance(error, TimeoutError) else Kind.CONNECTION
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return Fault(kind, redactor.clean(f"{base} closed the connection without a reply"))
    if isinstance(error, ConnectionError | aiohttp.ClientOSError):
        return Fault(kind, redactor.clean(f"the connection to {base} broke off: {_reason(error).lower()}"))
    return Fault(kind, redactor.clean(f"{base}: {_says(error)}"))


def _why_unreached(error: Exception, address: Address) -> str | None:
    """Why no connection was made; None where one was."""
    match error:
        case aiohttp.ConnectionTimeoutError():
            return f"no connection within {address.connect.sock_connect:g} s"
        case aiohttp.ClientConnectorDNSError():
            return f"the name of its host cannot be looked up (DNS: {_reason(error.os_error)})"
        case aiohttp.ClientConnectorCertificateError():
            return (
                "its certificate is not trusted; SSL_CERT_FILE may name authorities of your own: "
                f"{error.certificate_error}"
            )
        case aiohttp.ClientConnectorSSLError():
            return f"no TLS there, or none that both sides speak ({_reason(error.os_error)})"
        case aiohttp.ClientProxyConnectionError():
            return f"its proxy {address.proxy} cannot be reached: {_reason(error.os_error)}"
        case aiohttp.ClientHttpProxyError():
            return f"its proxy {address.proxy} refused ({error.status}): {error.message}"
        case aiohttp.ClientConnectorError():
            return _reason(error.os_error)
    return None


def _reason(error: OSError) -> str:
    """An error of the system in its own words, such as "connection refused"."""
    if isinstance(error, ssl.SSLError):  # its errno is OpenSSL's, not the system's
        return (error.reason or str(error)).lower().replace("_", " ")
    if isinstance(error.errno, int) and error.errno > 0 and not isinstance(error, aiohttp.ClientError):
        try:
            return os.strerror(error.errno).lower()
        except (ValueError, OverflowError):
            pass
    return error.strerror or str(error) or type(error).__name__


def _says(error: BaseException) -> str:
    text = str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
