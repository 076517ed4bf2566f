"""Decompression of gzip and Zstandard within a budget, and conversion of UTF-16 to UTF-8."""

import contextlib
import io
import re
import zlib
from collections.abc import Callable
from functools import partial
from typing import Any

import zstandard

from riskrank.scores.files.guards import Budget, broken_file_error

_GZIP = b"\x1f\x8b"
# A Zstandard frame, or a skippable frame, which parallel compressors write before each frame.
_ZSTD = re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18")
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
# Bytes per step: each may expand 40,000-fold with Zstandard, so a bomb is detected within 40 MB.
_CHUNK = 1 << 10
# Cells charged to the budget per member, because starting one is as slow as parsing many numbers.
_CELLS_PER_MEMBER = 16
# First bytes of Parquet and zip files, whose readers check the budget themselves.
_BINARY = (b"PA", b"PK")

INFLATE, GUNZIP = partial(zlib.decompressobj, -15), partial(zlib.decompressobj, 31)


def zstd_factory() -> Callable[[], Any]:
    """Return a function that creates Zstandard decompressors."""
    return zstandard.ZstdDecompressor().decompressobj


def decompress(label: str, data: bytes, budget: Budget) -> bytes:
    """Decompress gzip or Zstandard data and convert UTF-16 to UTF-8, as detected from the first bytes.

    Other data are returned unchanged.

    Raises
    ------
    InputError
        If the data are truncated or corrupt, or exceed the budget.
    """
    packed = data[:2] == _GZIP or _ZSTD.match(data)
    plain = (
        decompress_members(label, data, budget, GUNZIP if data[:2] == _GZIP else zstd_factory())
        if packed
        else data
    )
    if _is_utf_16(plain):
        with contextlib.suppress(UnicodeDecodeError):
            plain = plain.decode("utf-16").encode()
    if (packed and plain[:2] not in _BINARY) or plain[:64].lstrip(b"\xef\xbb\xbf\r\n\t ")[:1] in (b"{", b"["):
        budget.charge_text(label, len(data), plain)
    return plain


def _is_utf_16(data: bytes) -> bool:
    """Return whether data begin with a UTF-16 byte order mark and contain the expected zero bytes."""
    return data[:2] in _UTF_16 and b"\0" in data[:4096]


def decompress_members(
    label: str, data: bytes, budget: Budget, start: Callable[[], Any], *, once: bool = False
) -> bytes:
    """Decompress all members of a compressed file and concatenate them.

    Parameters
    ----------
    label : str
        Name of the file in messages.
    data : bytes
    budget : Budget
        Checked after each chunk, so that a decompression bomb is rejected early.
    start : callable
        Creates the decompressor of one member: `INFLATE`, `GUNZIP` or `zstd_factory()`.
    once : bool
        Whether to stop after the first member.

    Raises
    ------
    InputError
        If the data are truncated or corrupt, or exceed the budget.
    """
    buffer = io.BytesIO()
    position, members, stream = 0, 1, start()
    try:
        while position < len(data) and not (once and stream.eof):
            chunk = data[position : position + _CHUNK]
            if stream.eof:
                padding = len(chunk) - len(chunk.lstrip(b"\0")) if start is GUNZIP else 0
                position += padding
                if padding:
                    continue
                stream, members = start(), members + 1
            buffer.write(stream.decompress(chunk))
            position += len(chunk) - len(stream.unused_data)
            budget.charge(label, position, buffer.tell(), _CELLS_PER_MEMBER * members)
    except (zlib.error, zstandard.ZstdError, MemoryError) as error:
        raise broken_file_error(
            f"{label}: the file cannot be decompressed", str(error) or "no memory"
        ) from None
    if data and not stream.eof:
        raise broken_file_error(
            f"{label}: the file cannot be decompressed", "the compressed data ends too early"
        )
    return buffer.getvalue()


def decompress_head(head: bytes, size: int) -> bytes:
    """Return up to `size` decompressed bytes from the beginning of a file, converted to UTF-8."""
    with contextlib.suppress(zlib.error, zstandard.ZstdError):
        if head[:2] == _GZIP:
            head = GUNZIP().decompress(head, size)
        elif _ZSTD.match(head):
            head = zstandard.ZstdDecompressor().stream_reader(head, read_across_frames=True).read(size)
    return head.decode("utf-16", "ignore").encode() if _is_utf_16(head) else head
