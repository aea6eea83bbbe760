"""Unpacks gzip that no header announced: gateways and stores of files pass it on as it is."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

_MAGIC = b"\x1f\x8b\x08"
_GZIP_BITS = zlib.MAX_WBITS | 16
_PART = 1 << 20
LONGEST_BODY = 8 << 20
"""Bytes of a reply, unpacked, that are read; a few MB compressed can be many GB."""


class BadGzip(ValueError):
    """What looks like gzip is none, is damaged, or ends before its end."""


class TooLong(ValueError):
    """A reply is longer than `LONGEST_BODY`, perhaps only once it is unpacked."""

    def __init__(self) -> None:
        super().__init__(f"the body is longer than {LONGEST_BODY >> 20} MB")


def is_gzip(start: bytes) -> bool:
    """Whether bytes that begin so are gzip; three tell."""
    return start.startswith(_MAGIC)


class Unpacker:
    """Unpacks what arrives piece by piece. Several members in a row are one file, as in RFC 1952."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(_GZIP_BITS)

    def parts(self, packed: bytes) -> Iterator[bytes]:
        """What this piece unpacks to, at most 1 MB at a time. Raises BadGzip."""
        try:
            while packed:
                if self._member.eof:
                    packed = packed.lstrip(b"\0")  # padding
                    if not packed:
                        return
                    self._member = zlib.decompressobj(_GZIP_BITS)
                if part := self._member.decompress(packed, _PART):
                    yield part
                packed = self._member.unconsumed_tail or self._member.unused_data
            while not self._member.eof and (part := self._member.decompress(b"", _PART)):
                yield part
        except zlib.error as error:
            raise BadGzip(f"the gzip data cannot be unpacked: {error}") from None

    def close(self) -> None:
        """There is no more. Raises BadGzip where there should be."""
        if not self._member.eof:
            raise BadGzip("the gzip data ends too early")


def unpacked(body: bytes) -> bytes:
    """A whole body that is gzip, unpacked; any other as it is. Raises BadGzip, TooLong."""
    if not is_gzip(body):
        return body
    unpacker, parts, size = Unpacker(), [], 0
    for part in unpacker.parts(body):
        size += len(part)
        if size > LONGEST_BODY:
            raise TooLong
        parts.append(part)
    unpacker.close()
    return b"".join(parts)
