"""Frames of gzip and Zstandard, undone in pieces none of which unpacks to very much; and UTF-16."""

import contextlib
import io
import re
import zlib
from collections.abc import Callable
from functools import partial
from typing import Any

import zstandard

from riskrank.scores.files.guards import Budget, cut_short

_GZIP = b"\x1f\x8b"
# A frame of Zstandard, or one that is to be skipped, as parallel compressors write before each frame.
_ZSTD = re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18")
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
# Bytes taken at a time: each may unpack to some 40,000 with Zstandard, so a bomb is noticed within 40 MB.
_PIECE = 1 << 10
# Cells of the budget for each member: to begin one takes as long as many numbers.
_OF_A_MEMBER = 16
# First bytes of Parquet and of archives, whose own readers tell how much is in them.
_BINARY = (b"PA", b"PK")

INFLATE, GUNZIP = partial(zlib.decompressobj, -15), partial(zlib.decompressobj, 31)


def unzstd() -> Callable[[], Any]:
    """Return what undoes frames of Zstandard; making it takes longer than undoing one."""
    return zstandard.ZstdDecompressor().decompressobj


def decompress(label: str, data: bytes, budget: Budget) -> bytes:
    """Undo gzip and Zstandard, and turn UTF-16 into UTF-8, by the first bytes; other data stays as it is.

    Raises
    ------
    InputError
        If the data is cut short or corrupt, or holds more than the budget.
    """
    packed = data[:2] == _GZIP or _ZSTD.match(data)
    found = unpack(label, data, budget, GUNZIP if data[:2] == _GZIP else unzstd()) if packed else data
    if found[:2] in _UTF_16:
        with contextlib.suppress(UnicodeDecodeError):
            found = found.decode("utf-16").encode()
    if (packed and found[:2] not in _BINARY) or found[:64].lstrip(b"\xef\xbb\xbf\r\n\t ")[:1] in (b"{", b"["):
        budget.take_text(label, len(data), found)
    return found


def unpack(label: str, data: bytes, budget: Budget, start: Callable[[], Any], *, bare: bool = False) -> bytes:
    """Undo a compression, member after member.

    Parameters
    ----------
    label : str
    data : bytes
    budget : Budget
        Is asked after each piece for the bytes so far, so that a bomb is refused before it is whole.
    start : callable
        Returns what undoes one member: `INFLATE`, `GUNZIP` or `unzstd()`.
    bare : bool
        Whether what follows the first member is none of it.
    """
    held = io.BytesIO()
    at, members, stream = 0, 1, start()
    try:
        while at < len(data) and not (bare and stream.eof):
            piece = data[at : at + _PIECE]
            if stream.eof:
                padding = len(piece) - len(piece.lstrip(b"\0")) if start is GUNZIP else 0
                at += padding
                if padding:
                    continue
                stream, members = start(), members + 1
            held.write(stream.decompress(piece))
            at += len(piece) - len(stream.unused_data)
            budget.take(label, at, held.tell(), _OF_A_MEMBER * members)
    except (zlib.error, zstandard.ZstdError, MemoryError) as error:
        raise cut_short(f"{label}: the file cannot be decompressed", str(error) or "no memory") from None
    if data and not stream.eof:
        raise cut_short(f"{label}: the file cannot be decompressed", "the compressed data ends too early")
    return held.getvalue()


def decompress_beginning(head: bytes, size: int) -> bytes:
    """Return the beginning of some bytes without their compression, as UTF-8."""
    with contextlib.suppress(zlib.error, zstandard.ZstdError):
        if head[:2] == _GZIP:
            head = GUNZIP().decompress(head, size)
        elif _ZSTD.match(head):
            head = zstandard.ZstdDecompressor().stream_reader(head, read_across_frames=True).read(size)
    return head.decode("utf-16", "ignore").encode() if head[:2] in _UTF_16 else head
