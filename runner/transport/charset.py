"""From the bytes of a reply to its text, by a byte order mark, the bytes themselves, or the charset declared.

JSON is UTF-8, and most servers send that whatever they declare, so valid UTF-8 is read as such. Gateways of
Chinese services also send GBK, GB18030, Big5 or UTF-16, with or without a word about it. Bytes that no rule
reads for certain raise Undecodable: a text with replacement characters in it is lost for good.
"""

from __future__ import annotations

import codecs
import re
from functools import lru_cache
from typing import NamedTuple

_CHARSET = re.compile(r"""charset\s*=\s*["']?\s*([^\s"';,]+)""", re.IGNORECASE)
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SUPERSETS = {
    "gb2312": ("gb18030",),
    "gbk": ("gb18030",),
    "gb18030": ("gb18030",),
    "hz": ("hz",),
    "big5": ("big5", "cp950", "big5hkscs"),
    "cp950": ("cp950", "big5hkscs"),
    "big5hkscs": ("big5hkscs",),
    "shift_jis": ("cp932",),
    "cp932": ("cp932",),
    "euc_jp": ("euc_jp",),
    "iso2022_jp": ("iso2022_jp",),
    "euc_kr": ("cp949",),
    "cp949": ("cp949",),
    "utf-16": ("utf-16-le", "utf-16-be"),
    "utf-16-le": ("utf-16-le",),
    "utf-16-be": ("utf-16-be",),
    "utf-32": ("utf-32-le", "utf-32-be"),
    "utf-32-le": ("utf-32-le",),
    "utf-32-be": ("utf-32-be",),
    # As browsers do: what is declared as one of these is Windows' extension of it.
    "ascii": ("cp1252",),
    "iso8859-1": ("cp1252",),
    "iso8859-9": ("cp1254",),
}
"""By Python's name of a charset that can be declared: what to read it as, in order."""
_SINGLE_BYTE = re.compile(r"ascii|iso8859-\d+|cp125\d|koi8-[ru]|mac-roman")
_ALIASES = {"utf8mb4": "utf-8", "utf8mb3": "utf-8", "unicode": "utf-16", "x-gbk": "gbk", "cp936": "gbk"}
_LOOKED_AT = 20_000
"""So many characters are enough to tell one charset from another."""
_FEWEST = 4
_COMMON = 0.9
_APART = 0.1
_MOST_CUTS = 4


class Undecodable(ValueError):
    """The bytes are not, or not for certain, a text; says why."""


class Decoded(NamedTuple):
    """A text. `is_cut`: a server that ended within a character left U+FFFD at the end of a string."""

    text: str
    is_cut: bool = False


@lru_cache(maxsize=256)
def declared_charset(content_type: str) -> str | None:
    """Python's name of the charset that a Content-Type declares; None if it declares none that is known."""
    found = _CHARSET.search(content_type)
    if found is None:
        return None
    name = found[1].lower()
    try:
        known = codecs.lookup(_ALIASES.get(name, name)).name
    except (LookupError, ValueError):
        return None
    # Python has codecs that are no charsets, such as rot13.
    return known if known == "utf-8" or known in _SUPERSETS or _SINGLE_BYTE.fullmatch(known) else None


def decode(body: bytes, content_type: str = "") -> Decoded:
    """The text of a body. Raises Undecodable."""
    for mark, codec in _BOMS:
        if body.startswith(mark):
            return Decoded(_strictly(body[len(mark) :], codec))
    if (unmarked := _by_zeros(body)) is not None:
        return Decoded(_strictly(body, unmarked))
    declared, utf8 = declared_charset(content_type), _attempt(body, "utf-8")
    if utf8 is not None and (declared is None or _surely_utf8(utf8, declared)):
        return Decoded(utf8)
    if declared is not None and declared != "utf-8":
        as_declared = _as_declared(body, declared)
        if as_declared is not None:
            return Decoded(as_declared)
    if utf8 is not None:
        return Decoded(utf8)
    cut = _cut_within_a_character(body)
    if cut is not None:
        return Decoded(cut, is_cut=True)
    detected = _detected(body)
    if detected is None:
        stated = f"declared as {declared}" if declared else "no charset declared"
        raise Undecodable(f"bytes that are no UTF-8, nor for certain any other charset ({stated})")
    return Decoded(detected)


def for_people(body: bytes, content_type: str = "") -> str:
    """The text of a body to show in a message, where a character that cannot be read does no harm."""
    try:
        return decode(body, content_type).text
    except Undecodable:
        return body.decode("utf-8", "replace")


def _attempt(body: bytes, codec: str) -> str | None:
    try:
        return body.decode(codec)
    except UnicodeDecodeError:
        return None


def _strictly(body: bytes, codec: str) -> str:
    text = _attempt(body, codec)
    if text is None:
        raise Undecodable(f"bytes that are no {codec.upper()}, though they begin as such")
    return text


def _by_zeros(body: bytes) -> str | None:
    """UTF-16 or UTF-32 without a mark: JSON begins with an ASCII character, whose other bytes are 0."""
    zeros = "".join("0" if byte == 0 else "x" for byte in body[:4])
    return {"x000": "utf-32-le", "000x": "utf-32-be", "x0x0": "utf-16-le", "0x0x": "utf-16-be"}.get(zeros)


def _surely_utf8(text: str, declared: str) -> bool:
    """Whether valid UTF-8 is UTF-8 though another charset is declared.

    Words of a single-byte charset hardly ever are. Of two-byte charsets a few pairs are, all of them between
    U+0080 and U+07FF, where no Chinese character stands.
    """
    if declared == "utf-8" or text.isascii() or _SINGLE_BYTE.fullmatch(declared):
        return True
    return any(character > "\u07ff" for character in text)


def _as_declared(body: bytes, declared: str) -> str | None:
    if _SINGLE_BYTE.fullmatch(declared):
        # Such a charset reads any bytes at all, and is what servers declare without knowing.
        chinese = _detected(body)
        if chinese is not None:
            return chinese
    for codec in _SUPERSETS.get(declared, (declared,)):
        text = _attempt(body, codec)
        if text is not None and not (_SINGLE_BYTE.fullmatch(declared) and _has_controls(text)):
            return text
    return None


def _has_controls(text: str) -> bool:
    return re.search("[\x80-\x9f]", text) is not None


def _cut_within_a_character(body: bytes) -> str | None:
    """UTF-8 but for strings that end within a character, as where a limit of tokens cut it; else None."""
    parts, start = [], 0
    for _ in range(_MOST_CUTS + 1):
        try:
            parts.append(body[start:].decode())
        except UnicodeDecodeError as error:
            end = start + error.end
            begun = body[start + error.start : end]
            if begun[0] < 0xE0 or body[end : end + 1] != b'"':
                return None
            parts += [body[start : start + error.start].decode(), "\ufffd"]
            start = end
        else:
            text = "".join(parts)
            others = any(character > "\u07ff" and character != "\ufffd" for character in text)
            return text if others else None
    return None


def _detected(body: bytes) -> str | None:
    """The text of Chinese in GB18030 or Big5, told by how common its characters are; None where unsure."""
    found = {
        codec: (text, _share_of_common(text, codec, last))
        for codec, last in (("gb18030", 0xD7), ("big5", 0xC6))
        if (text := _attempt(body, codec)) is not None
    }
    ranked = sorted(found.values(), key=lambda one: -one[1])
    if not ranked or ranked[0][1] < _COMMON or (len(ranked) > 1 and ranked[0][1] - ranked[1][1] < _APART):
        return None
    return None if _all_hangul(body) else ranked[0][0]


def _share_of_common(text: str, codec: str, last: int) -> float:
    """The share of the commonest characters, which both charsets have first, up to a lead byte of `last`."""
    sample = [character for character in text[:_LOOKED_AT] if not character.isascii()]
    if len(sample) < _FEWEST:
        return 0.0
    national = "gb2312" if codec == "gb18030" else codec
    first = 0xB0 if national == "gb2312" else 0xA4
    common = 0
    for character in sample:
        encoded = character.encode(national, "ignore")
        common += len(encoded) == 2 and (first <= encoded[0] <= last or 0xA1 <= encoded[0] <= 0xA3)
    return common / len(sample)


def _all_hangul(body: bytes) -> bool:
    """Korean in EUC-KR, whose syllables stand where GB2312 has its commonest characters."""
    text = _attempt(body, "euc_kr")
    if text is None:
        return False
    letters = [character for character in text if not character.isascii() and character.isalpha()]
    return bool(letters) and all("\uac00" <= character <= "\ud7a3" for character in letters)
