"""Decompression of gzip and Zstandard within a budget, and conversion of UTF-16 to UTF-8."""

import contextlib
import io
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import zstandard

from riskrank.scores.files import guards
from riskrank.scores.files.json_objects import parse_json

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


def decompress(label: str, data: bytes, budget: guards.Budget) -> bytes:
    """Decompress gzip or Zstandard data and convert UTF-16 to UTF-8, as detected from the first bytes.

    Other data are returned unchanged.

    Raises
    ------
    InputError
        If the data are truncated or corrupt, or exceed the budget.
    """
    start = GUNZIP if data[:2] == _GZIP else zstd_factory() if _ZSTD.match(data) else None
    plain = decompress_members(label, data, budget, start) if start else data
    if _is_utf_16(plain):
        with contextlib.suppress(UnicodeDecodeError):
            plain = plain.decode("utf-16").encode()
    if (start and plain[:2] not in _BINARY) or plain[:64].lstrip(b"\xef\xbb\xbf\r\n\t ")[:1] in (b"{", b"["):
        budget.charge_text(label, len(data), plain)
    return plain


def _is_utf_16(data: bytes) -> bool:
    """Return whether data begin with a UTF-16 byte order mark and contain the expected zero bytes."""
    return data[:2] in _UTF_16 and b"\0" in data[:4096]


def decompress_members(
    label: str, data: bytes, budget: guards.Budget, start: Callable[[], Any], *, once: bool = False
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
    problem, buffer = f"{label}: the file cannot be decompressed", io.BytesIO()
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
        raise guards.broken_file_error(problem, str(error) or "no memory") from None
    if data and not stream.eof:
        raise guards.broken_file_error(problem, "the compressed data ends too early")
    return buffer.getvalue()


def decompress_head(head: bytes, size: int) -> bytes:
    """Return up to `size` decompressed bytes from the beginning of a file, converted to UTF-8."""
    with contextlib.suppress(zlib.error, zstandard.ZstdError):
        if head[:2] == _GZIP:
            head = GUNZIP().decompress(head, size)
        elif _ZSTD.match(head):
            head = zstandard.ZstdDecompressor().stream_reader(head, read_across_frames=True).read(size)
    return head.decode("utf-16", "ignore").encode() if _is_utf_16(head) else head


_STORED, _DEFLATED, _ZSTANDARD = 0, 8, 93
_LOCAL_HEADER = struct.Struct("<4s22xHH")


class ZipMembers:
    """An open zip archive.

    Attributes
    ----------
    names : tuple of str
        Distinct member names in archive order; if a name is repeated, the last member is read.
    """

    def __init__(self, path: Path, file: BinaryIO, budget: guards.Budget) -> None:
        self._path = path
        self._file = file
        self._budget = budget
        try:
            # Only the directory is read here: zipfile supports Zstandard only from Python 3.14.
            self._members = {entry.filename: entry for entry in zipfile.ZipFile(file).infolist()}
        except (zipfile.BadZipFile, OSError, ValueError, struct.error, NotImplementedError) as error:
            raise self._broken(str(error)) from None
        self.names = tuple(self._members)

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def json(self, name: str, *, max_bytes: int | None = None) -> Any:
        """Parse a member as JSON.

        Parameters
        ----------
        name : str
        max_bytes : int, optional
            Maximum size, if lower than the limit of the budget.

        Raises
        ------
        InputError
            If the member is truncated, corrupt, too large, encrypted, or not JSON.
        """
        label = f"{self._path}: {name}"
        limit = self._budget.limit if max_bytes is None else min(max_bytes, self._budget.limit)
        data = self._bytes(label, name, limit)
        self._budget.charge_text(label, self._members[name].compress_size, data)
        return parse_json(label, data)

    def _bytes(self, label: str, name: str, limit: int) -> bytes:
        """Return the decompressed content of a member."""
        entry = self._members[name]
        # The directory may be wrong; sizes are checked again during decompression.
        if max(entry.compress_size, entry.file_size) > limit:
            raise guards.too_large_error(label, limit)
        self._budget.charge(label, entry.compress_size, entry.file_size)
        try:
            self._file.seek(entry.header_offset)
            magic, name_size, extra_size = _LOCAL_HEADER.unpack(self._file.read(_LOCAL_HEADER.size))
            self._file.seek(name_size + extra_size, 1)
            data = self._file.read(entry.compress_size)
        except (OSError, ValueError, struct.error) as error:
            raise self._broken(str(error)) from None
        if magic != b"PK\x03\x04" or len(data) < entry.compress_size:
            raise self._broken(f"member {name} is not at the position in the directory")
        if entry.flag_bits & 1:
            raise self._broken(f"member {name} is encrypted")
        if entry.compress_type == _STORED:
            return data
        if entry.compress_type in (_DEFLATED, _ZSTANDARD):
            is_deflated = entry.compress_type == _DEFLATED
            start = INFLATE if is_deflated else zstd_factory()
            try:
                return decompress_members(
                    label, data, guards.Budget(entry.file_size), start, once=is_deflated
                )
            except guards.BeyondLimitError:
                raise self._broken(f"member {name} is longer than stated in the directory") from None
        raise self._broken(f"member {name} has the unsupported compression method {entry.compress_type}")

    def _broken(self, reason: str) -> guards.BrokenFileError:
        """Return the error for an archive that cannot be read."""
        return guards.broken_file_error(
            f"{self._path}: the archive cannot be read", reason or "not a zip archive"
        )


@contextmanager
def open_members(path: Path, budget: guards.Budget) -> Iterator[ZipMembers]:
    """Open an archive for reading single members within a budget."""
    with path.open("rb") as file:
        yield ZipMembers(path, file, budget)
