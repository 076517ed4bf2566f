"""Files that others made: read whole, decompressed and parsed, and never more of them than allowed."""

import io
import json
import tomllib
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import zstandard

from riskrank.scores.files.contents import read_bytes
from riskrank.scores.files.json_objects import reason_of
from riskrank.scores.files.limits import BrokenFileError, Room, cut_short, empty

_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
# Bytes taken at a time: each may unpack to some 40,000 with Zstandard, so a bomb is noticed within 40 MB.
_CHUNK = 1 << 10
# Bytes of a line or a field: no answer that is scored is longer.
LONGEST_FIELD = 1 << 24
# First bytes of Parquet and of archives, whose own readers tell how much is in them.
_BINARY = (b"PA", b"PK")


def read_bounded(path: str | Path, limit: int) -> bytes:
    """The bytes of a file as they are on disk.

    Raises
    ------
    InputError
        If the file is missing, unreadable, empty, or larger than `limit` bytes.
    """
    data = read_bytes(str(path), limit)
    if not data.strip():
        raise empty(str(path), f"{len(data)} bytes")
    return data


def decompressed(label: str, data: bytes, room: Room) -> bytes:
    """Undo gzip and Zstandard, told by their first bytes; other data stays as it is.

    Parameters
    ----------
    label : str
    data : bytes
    room : Room
        What it may unpack to.

    Raises
    ------
    InputError
        If the data is cut short or corrupt, or holds more than there is room for.
    """
    packed = data[:2] == _GZIP or data[:4] == _ZSTD
    start = GUNZIP if data[:2] == _GZIP else unzstd()
    plain = unpacked(label, data, room, start) if packed else data
    if plain[:1] in (b"{", b"[") or (packed and plain[:2] not in _BINARY):
        room.take_text(label, len(data), plain)
    return plain


def endless(data: bytes, *marks: bytes) -> int | None:
    """Where a line or field begins that no mark ends in time; looked for in steps of the longest."""
    start = 0
    while len(data) - start > LONGEST_FIELD:
        found = max(data.rfind(mark, start, start + LONGEST_FIELD) for mark in marks)
        if found < 0:
            return start
        start = found + 1
    return None


def unpacked(
    label: str,
    data: bytes,
    room: Room,
    start: Callable[[], Any],
    *,
    bare: bool = False,
) -> bytes:
    """Undo a compression, member after member, in pieces none of which unpacks to very much.

    Parameters
    ----------
    label : str
    data : bytes
    room : Room
        What it may unpack to.
    start : callable
        Gives what undoes one member: `INFLATE`, `GUNZIP` or `unzstd()`.
    bare : bool
        Whether what follows the first member is none of it.
    """
    parts: list[bytes] = []
    size = at = 0
    stream = start()
    try:
        while at < len(data) and not (bare and stream.eof):
            if stream.eof:
                stream = start()
            piece = data[at : at + _CHUNK]
            parts.append(stream.decompress(piece))
            at += len(piece) - len(stream.unused_data)
            size += len(parts[-1])
            room.take(label, len(data), size)
    except (zlib.error, zstandard.ZstdError, MemoryError) as error:
        raise _corrupt(label, str(error) or type(error).__name__) from None
    if data and not stream.eof:
        raise _corrupt(label, "the compressed data ends too early")
    return b"".join(parts)


INFLATE, GUNZIP = partial(zlib.decompressobj, -15), partial(zlib.decompressobj, 31)


def unzstd() -> Callable[[], Any]:
    """What undoes frames of Zstandard: one for all of them, as to make one takes longer than a frame."""
    return zstandard.ZstdDecompressor().decompressobj


def parse_json(
    label: str, data: bytes, *, hook: Callable[[list[tuple[str, object]]], object] | None = None
) -> Any:
    """Parse a JSON document; NaN and Infinity are numbers, as Python writes them.

    Parameters
    ----------
    label : str
    data : bytes
    hook : callable, optional
        Makes an object of its names and values.

    Raises
    ------
    InputError
        If the text is not UTF-8, not JSON, or nested too deeply.
    """
    try:
        return json.loads(data, object_pairs_hook=hook)
    except (ValueError, RecursionError) as error:
        raise _no_json(f"{label}: the file", data, error) from None


def parse_lines(label: str, data: bytes) -> Iterator[tuple[int, Any]]:
    """Parse JSON lines one by one; what cannot be parsed comes as an error in the value's place.

    Yields
    ------
    number : int
        Line, counted from 1; blank lines are passed over.
    value : object
    """
    for number, ended in enumerate(io.BytesIO(data), start=1):
        line = ended.removesuffix(b"\n")
        if not line.strip():
            continue
        try:
            yield number, json.loads(line)
        except (ValueError, RecursionError) as error:
            yield number, _no_json(f"{label}: line {number}", line, error)


def _corrupt(label: str, reason: str) -> BrokenFileError:
    return cut_short(f"{label}: the file cannot be decompressed", reason)


def _no_json(what: str, data: bytes, error: Exception) -> BrokenFileError:
    found = reason_of(error)[:200]
    if isinstance(error, UnicodeDecodeError):
        found = f"byte 0x{data[error.start]:02x} at {error.start}, which is not UTF-8"
    return cut_short(f"{what} is not valid JSON", found)


# Steps down into tables that a text may ask for: the dots of its longest line for every line and every dot.
_MOST_STEPS = 5_000_000
# Levels of tables and lists; nothing that is read has more than four.
_DEEPEST = 32


def parsed_toml(content: bytes) -> dict[str, Any]:
    """Parse a document.

    Raises
    ------
    ValueError
        If it is no TOML or no UTF-8, nests too deeply, or holds a number of thousands of digits, which could
        not be shown in a message.
    """
    text = content.decode("utf-8-sig")
    # A name with dots costs the square of them, and a table with dots in its name that of every line below.
    dots = [line.count(".") for line in text.split("\n") if not line.lstrip().startswith("#")]
    if max(dots, default=0) * (len(dots) + sum(dots)) > _MOST_STEPS:
        raise ValueError(f"a line with {max(dots):,} dots")
    try:
        document = tomllib.loads(text)
        repr(document)
    except (ValueError, RecursionError) as error:
        raise ValueError(reason_of(error)) from None
    if _is_deeper(document, _DEEPEST):
        raise ValueError("values nested too deeply")
    return document


def _is_deeper(value: object, levels: int) -> bool:
    if not isinstance(value, Mapping | list):
        return False
    below = value.values() if isinstance(value, Mapping) else value
    return levels == 0 or any(_is_deeper(one, levels - 1) for one in below)
