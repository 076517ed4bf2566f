"""What the first bytes of a file tell, before it is read."""

from __future__ import annotations

import contextlib
import zlib
from pathlib import Path

import zstandard

# Bytes of a file by which its format is told.
SIZE = 4096


def first_bytes(path: str | Path, size: int = SIZE) -> bytes:
    """The beginning of a file without its compression; nothing where it cannot be read."""
    try:
        with Path(path).open("rb") as file:
            return head_of(file.read(size), size)
    except OSError:
        return b""


def head_of(head: bytes, size: int = SIZE) -> bytes:
    """The beginning of some bytes without their compression."""
    if head[:2] == b"\x1f\x8b":
        with contextlib.suppress(zlib.error):
            return zlib.decompressobj(31).decompress(head, size)
    if head[:4] == b"\x28\xb5\x2f\xfd":
        with contextlib.suppress(zstandard.ZstdError):
            return zstandard.ZstdDecompressor().decompressobj().decompress(head)[:size]
    return head


def sniffed(data: bytes) -> str | None:
    """Format of a score table by its first bytes, compressed or not; None where they leave a doubt."""
    head = head_of(data[:SIZE])
    if head[:4] == b"PAR1":
        return "parquet"
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if head[:4] == b"PK\x03\x04":
        return "xlsx"
    if text[:1] in (b"{", b"["):
        return "jsonl" if text[:1] == b"{" else "json"
    line = text.partition(b"\n")[0]
    if not text or any(line.count(mark) >= 2 for mark in (b",", b";", b"\t")):
        return "csv"  # its separator is found in the header; nothing at all is called empty there
    return None
