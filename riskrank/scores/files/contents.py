"""Read and decompress the bytes of a file, pipe, URL or archive member within a budget."""

import hashlib
import io
import os
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import urlsplit

import zstandard

from riskrank.errors import InputError, RiskrankError, UsageError, did_you_mean
from riskrank.scores.files import guards
from riskrank.scores.files.parsing import json_object, parse_json
from riskrank.scores.files.source import excerpt, is_url

# Bytes per read of a stream of unknown length.
_CHUNK = 1 << 20
# Bytes that identify the writer of a file; one judge record may contain several full answers.
_HEAD_SIZE = 1 << 18
_KEY = re.compile(rb'"([^"\\]+)"\s*:')
_GZIP = b"\x1f\x8b"
# A Zstandard frame, or a skippable frame, which parallel compressors write before each frame.
_ZSTD = re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18")
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
# Bytes per step: each may expand 40,000-fold with Zstandard, so a bomb is detected within 40 MB.
_STEP = 1 << 10
# Cells charged to the budget per member, because starting one is as slow as parsing many numbers.
_CELLS_PER_MEMBER = 16
# First bytes of Parquet and zip files, whose readers check the budget themselves.
_BINARY = (b"PA", b"PK")

INFLATE, GUNZIP = partial(zlib.decompressobj, -15), partial(zlib.decompressobj, 31)
# Compression methods of members of zip archives.
_STORED, _DEFLATED, _ZSTANDARD = 0, 8, 93
_LOCAL_HEADER = struct.Struct("<4s22xHH")


def read_bytes(path: str, budget: guards.Budget) -> bytes:
    """Return the bytes of a file, pipe or URL.

    Raises
    ------
    InputError
        If the file cannot be read, is a device, or exceeds the budget.
    """
    if is_url(path):
        with connect_store(path) as store:
            size = store.info(path).get("size")
            if size is not None and size <= budget.limit:
                return bytes(store.cat_file(path))
            with store.open(path, "rb") as stream:
                return read_stream(stream, path, budget)
    try:
        with Path(path).open("rb") as file:
            data = read_stream(file, path, budget)
        if data.startswith(b"version https://git-lfs.github.com/spec/"):
            hint = "run git lfs pull; in CI, check out with LFS (actions/checkout: lfs: true)"
            problem = f"{path}: a Git LFS pointer, not the file itself"
            raise InputError(problem, found=excerpt(data.partition(b"\n")[0]), hint=hint)
        return data
    except FileNotFoundError:
        folder = Path(path).parent
        if Path(path).is_symlink():
            target = f"a link to {Path(path).readlink()}"
            hint = "restore the target of the link, or name another file"
            raise InputError(f"{path}: the link has no target", found=target, hint=hint) from None
        siblings = [str(folder / entry.name) for entry in folder.iterdir()] if folder.is_dir() else []
        try:
            directory = str(folder.resolve())
        except FileNotFoundError:
            directory = "a directory that was deleted"
        detail = f"nothing at that path in directory {directory}"
        hint = did_you_mean(path, siblings, fallback="check the path")
        raise InputError(f"{path}: no such file", found=detail, hint=hint) from None
    except IsADirectoryError:
        hint = f"name the files in it, for example '{path.rstrip('/')}/*.csv'; {guards.HARNESS_HINT}"
        raise InputError(f"{path}: this is a directory, not a file", found="a directory", hint=hint) from None
    except (OSError, ValueError) as error:  # ValueError: a null character in the name
        hint = "check its name and its permissions"
        raise guards.unreadable_error(f"{path}: the file", error, hint) from None


def digest_file(path: str) -> str:
    """Return the SHA-256 digest of a local file, which is read in chunks; see `read_bytes` for the errors."""
    try:
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        read_bytes(path, guards.Budget())
        raise


def read_stream(stream: BinaryIO, label: str, budget: guards.Budget) -> bytes:
    """Return all bytes of a stream, read in chunks to avoid reserving memory in advance.

    Raises
    ------
    InputError
        If the stream exceeds the budget, or is a device without an end.
    """
    size = _stream_size(stream, label, budget)
    limit = budget.limit if size else budget.piped
    if size > limit:
        raise guards.too_large_error(label, limit)
    content = stream.read(max(size + 1, _CHUNK))  # reads a whole file without a copy
    chunk = stream.read(_CHUNK)
    if chunk:
        buffer = io.BytesIO()
        buffer.write(content)
        while chunk and buffer.tell() <= limit:
            buffer.write(chunk)
            chunk = stream.read(_CHUNK)
        content = buffer.getvalue()
    if len(content) > limit:
        raise guards.too_large_error(label, limit)
    return content


def _stream_size(stream: BinaryIO, label: str, budget: guards.Budget) -> int:
    """Return the size of a stream in bytes, or 0 if its length is unknown, as for a pipe.

    Raises
    ------
    InputError
        If the stream is a device, or a sparse file whose size exceeds the budget.
    """
    try:
        descriptor = stream.fileno()
    except (OSError, ValueError, AttributeError):  # a stream in memory
        return 0
    status = os.fstat(descriptor)
    is_device = stat.S_ISBLK(status.st_mode) or (stat.S_ISCHR(status.st_mode) and not stream.isatty())
    if is_device and stream.read(1):  # /dev/null is reported as empty
        detail = "a device that may send data without end"
        raise InputError(f"{label}: this is a device, not a file", found=detail, hint="name a file or a pipe")
    if not stat.S_ISREG(status.st_mode):
        return 0
    with suppress(OSError, AttributeError):  # the system does not support sparse files
        start = os.lseek(descriptor, 0, os.SEEK_CUR)
        hole = os.lseek(descriptor, start, os.SEEK_HOLE)
        os.lseek(descriptor, start, os.SEEK_SET)
        if hole < status.st_size:
            budget.charge(label, 512 * status.st_blocks, status.st_size)
    return status.st_size


def first_bytes(path: Path) -> bytes:
    """Return the beginning of a file, decompressed, without byte order mark and leading spaces.

    The result is empty if the file cannot be read.
    """
    try:
        if not path.is_file():
            return b""
        with path.open("rb") as file:
            head = decompress_head(file.read(_HEAD_SIZE), _HEAD_SIZE)
        return head.removeprefix(b"\xef\xbb\xbf").lstrip()
    except OSError:
        return b""


def head_names(path: Path) -> tuple[str, ...]:
    """Return names in a file by which its format can be detected.

    They are the keys of a JSON file or the header cells of a CSV file, and the name of the folder.
    """
    try:
        status = path.stat()
    except OSError:
        return ()
    return _head_names(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=256)
def _head_names(path: Path, _time: int, _size: int) -> tuple[str, ...]:
    """Return the result of `head_names`, cached until the file's modification time or size changes."""
    head = first_bytes(path)
    line = head.partition(b"\n")[0]
    if head[:1] in (b"{", b"["):
        text = line if json_object(line) else head
        listed = re.search(rb'"columns"\s*:\s*\[([^\]]*)\]', text)
        names = _KEY.findall(text) + (re.findall(rb'"([^"]*)"', listed[1]) if listed else [])
    else:
        names = [cell.strip(b' "\r') for cell in line.split(b",")]
    return (*dict.fromkeys(name.decode(errors="replace") for name in names), f"{path.parent.name}/")


@contextmanager
def connect_store(url: str) -> Iterator[Any]:
    """Open the file system of a URL for a ``with`` block; convert its exceptions to InputError."""
    try:
        yield _file_system(url)
    except RiskrankError:
        raise
    except FileNotFoundError as error:
        hint = "check the path"
        if url.startswith("s3"):
            hint = "check bucket and path; set AWS_ENDPOINT_URL for a custom server"
        detail = guards.error_reason(error)
        raise InputError(f"{url}: there is no such file", found=detail, hint=hint) from None
    except Exception as error:  # each store defines its own exceptions
        detail = f"{type(error).__name__}: {guards.error_reason(error)}"
        hint = "check the address and the network; download the file, and read the copy"
        if url.startswith("s3"):
            hint = "check credentials, region and endpoint (AWS_ACCESS_KEY_ID, AWS_ENDPOINT_URL)"
        raise guards.unreadable_error(f"{url}: the file", detail, hint) from None


def _file_system(url: str) -> Any:
    """Return the fsspec file system of a URL.

    Raises
    ------
    UsageError
        If the package for this kind of URL is not installed.
    """
    scheme = urlsplit(url).scheme
    try:
        import fsspec

        return fsspec.core.url_to_fs(url)[0]
    except ImportError as error:
        problem = f"{url}: reading from {scheme}:// needs a package"
        hint = f"install what fsspec needs for {scheme}://"
        hint = "pip install 'riskrank[s3]'" if scheme == "s3" else hint
        raise UsageError(problem, found=guards.error_reason(error), hint=hint) from None
    except ValueError as error:
        detail = guards.error_reason(error)
        hint = "write s3://bucket/path, gs://bucket/path or https://…, or copy the file here"
        raise UsageError(f"{url}: {scheme}:// URLs cannot be read", found=detail, hint=hint) from None


def zstd_factory() -> Callable[[], Any]:
    """Return a function that creates Zstandard decompressors."""
    return zstandard.ZstdDecompressor().decompressobj


def decompress(label: str, data: bytes, budget: guards.Budget) -> bytes:
    """Return data without gzip or Zstandard compression, and as UTF-8 instead of UTF-16.

    The encodings are detected from the first bytes. Other data are returned unchanged.

    Raises
    ------
    InputError
        If the data are truncated or corrupt, or exceed the budget.
    """
    start = GUNZIP if data[:2] == _GZIP else zstd_factory() if _ZSTD.match(data) else None
    plain = decompress_members(label, data, budget, start) if start else data
    if _is_utf_16(plain):
        with suppress(UnicodeDecodeError):
            plain = plain.decode("utf-16").encode()
    guards.require_content(label, plain)
    if (start and plain[:2] not in _BINARY) or plain[:64].lstrip(b"\xef\xbb\xbf\r\n\t ")[:1] in (b"{", b"["):
        budget.charge_text(label, len(data), plain)
    return plain


def _is_utf_16(data: bytes) -> bool:
    """Return True if data are UTF-16 text: a byte order mark, then zero bytes where expected."""
    return data[:2] in _UTF_16 and b"\0" in data[:4096]


def decompress_members(
    label: str, data: bytes, budget: guards.Budget, start: Callable[[], Any], *, once: bool = False
) -> bytes:
    """Decompress a file that may consist of several compressed members, and concatenate them.

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
            chunk = data[position : position + _STEP]
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
    """Decompress the beginning of a file, and return up to `size` bytes of it.

    `head` may also be plain. UTF-16 is converted to UTF-8.
    """
    with suppress(zlib.error, zstandard.ZstdError):
        if head[:2] == _GZIP:
            head = GUNZIP().decompress(head, size)
        elif _ZSTD.match(head):
            head = zstandard.ZstdDecompressor().stream_reader(head, read_across_frames=True).read(size)
    return head.decode("utf-16", "ignore").encode() if _is_utf_16(head) else head


class ZipMembers:
    """An open zip archive.

    Attributes
    ----------
    names : tuple of str
        Distinct member names in archive order; if a name is repeated, the last member is read.
    """

    def __init__(self, path: Path, file: BinaryIO, budget: guards.Budget) -> None:
        """Read the directory of the archive; raise InputError if this fails."""
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
        """Return True if the archive has a member of this name."""
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
        """Return the decompressed content of an archive member, up to `limit` bytes.

        `label` names the member in messages.
        """
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
            raise self._broken(f"member {name} is not where the archive says")
        if entry.flag_bits & 1:
            raise self._broken(f"member {name} is encrypted")
        if entry.compress_type == _STORED:
            return data
        if entry.compress_type in (_DEFLATED, _ZSTANDARD):
            is_deflated = entry.compress_type == _DEFLATED
            start = INFLATE if is_deflated else zstd_factory()
            try:
                budget = guards.Budget(entry.file_size)
                return decompress_members(label, data, budget, start, once=is_deflated)
            except guards.BeyondLimitError:
                raise self._broken(f"member {name} is longer than the archive says") from None
        raise self._broken(f"member {name} has the unsupported compression method {entry.compress_type}")

    def _broken(self, reason: str) -> guards.BrokenFileError:
        """Return the error for an archive that cannot be read, for the given reason."""
        problem = f"{self._path}: the archive cannot be read"
        return guards.broken_file_error(problem, reason or "not a zip archive")
