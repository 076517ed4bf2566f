"""What the first bytes of a file tell, before it is read."""

import contextlib
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import zstandard

from riskrank.scores.files.json_objects import json_object

# Enough of a file to tell who wrote it; one record of a judge may hold several answers in full.
_SIZE = 1 << 18


def first_bytes(path: Path) -> bytes:
    """The beginning of a file without compression, mark and blanks; nothing of a pipe, or where it fails."""
    try:
        if not path.is_file():
            return b""
        with path.open("rb") as file:
            return head_of(file.read(_SIZE), _SIZE).removeprefix(b"\xef\xbb\xbf").lstrip()
    except OSError:
        return b""


def first_record(path: Path) -> dict[str, Any]:
    """The object in the first line of a file; an empty one if there is none."""
    return json_object(first_bytes(path).partition(b"\n")[0]) or {}


def holds(path: Path, *keys: str) -> bool:
    """Whether the beginning of a JSON file has all these keys."""
    head = first_bytes(path)
    return head[:1] in (b"{", b"[") and all(f'"{key}"'.encode() in head for key in keys)


def holding(*keys: str) -> Callable[[Path], bool]:
    """What tells JSON files whose beginning has all these keys."""
    return lambda path: holds(path, *keys)


def head_of(head: bytes, size: int) -> bytes:
    """The beginning of some bytes without their compression."""
    if head[:2] == b"\x1f\x8b":
        with contextlib.suppress(zlib.error):
            return zlib.decompressobj(31).decompress(head, size)
    if head[:4] == b"\x28\xb5\x2f\xfd":
        with contextlib.suppress(zstandard.ZstdError):
            return zstandard.ZstdDecompressor().stream_reader(head).read(size)
    return head


def sniffed(data: bytes) -> str | None:
    """Format of a score table by its first bytes, compressed or not; None where they leave a doubt."""
    head = head_of(data[:4096], 4096)
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
