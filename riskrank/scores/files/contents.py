"""Read the bytes of a file, pipe or URL within a budget, or only the beginning of a file."""

import io
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from riskrank.errors import InputError, RiskrankError, UsageError, did_you_mean
from riskrank.scores.files.compression import decompress_head
from riskrank.scores.files.guards import HARNESS_HINT, Budget, error_reason, too_large_error, unreadable_error
from riskrank.scores.files.json_objects import json_object
from riskrank.scores.files.source import is_url

# Bytes per read of a stream of unknown length.
_CHUNK = 1 << 20
# Bytes that identify the writer of a file; one judge record may contain several full answers.
_HEAD_SIZE = 1 << 18
_KEY = re.compile(rb'"([^"\\]+)"\s*:')


def read_bytes(path: str, budget: Budget) -> bytes:
    """Return the bytes of a file, pipe or URL.

    Raises
    ------
    InputError
        If the file cannot be read, is a device, or exceeds the budget.
    """
    if is_url(path):
        return read_url(path, lambda stream: read_stream(stream, path, budget), budget.limit)
    try:
        with Path(path).open("rb") as file:
            return read_stream(file, path, budget)
    except FileNotFoundError:
        folder = Path(path).parent
        if Path(path).is_symlink():
            target = f"a link to {Path(path).readlink()}"
            hint = "restore the file that the link names, or name another file"
            raise InputError(f"{path}: the link leads to no file", found=target, hint=hint) from None
        siblings = [str(folder / entry.name) for entry in folder.iterdir()] if folder.is_dir() else []
        raise InputError(
            f"{path}: no such file",
            found=f"nothing at that path in directory {_resolve_folder(folder)}",
            hint=did_you_mean(path, siblings, fallback="check the path"),
        ) from None
    except IsADirectoryError:
        hint = f"name the files in it, for example '{path.rstrip('/')}/*.csv'; {HARNESS_HINT}"
        raise InputError(f"{path}: this is a directory, not a file", found="a directory", hint=hint) from None
    except (OSError, ValueError) as error:  # ValueError: a null character in the name
        raise unreadable_error(f"{path}: the file", error, "check its name and its permissions") from None


def require_file(path: str) -> None:
    """Raise InputError if a file cannot be opened. The content of the file is not read."""
    try:
        with Path(path).open("rb"):
            return
    except OSError:
        read_bytes(path, Budget())


def read_stream(stream: BinaryIO, label: str, budget: Budget) -> bytes:
    """Return all bytes of a stream, read in chunks to avoid reserving memory in advance.

    Raises
    ------
    InputError
        If the stream exceeds the budget, or is a device without an end.
    """
    size = _size(stream, label, budget)
    limit = budget.limit if size else budget.piped
    if size > limit:
        raise too_large_error(label, limit)
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
        raise too_large_error(label, limit)
    return content


def _size(stream: BinaryIO, label: str, budget: Budget) -> int:
    """Return the size of a file in bytes, or 0 for streams of unknown length."""
    try:
        descriptor = stream.fileno()
    except (OSError, ValueError, AttributeError):  # a stream in memory
        return 0
    status = os.fstat(descriptor)
    is_device = stat.S_ISBLK(status.st_mode) or (stat.S_ISCHR(status.st_mode) and not stream.isatty())
    if is_device and stream.read(1):  # /dev/null is reported as empty
        raise InputError(
            f"{label}: this is a device, not a file",
            found="a device that may send data without end",
            hint="name a file or a pipe",
        )
    if not stat.S_ISREG(status.st_mode):
        return 0
    with suppress(OSError, AttributeError):  # the system does not support sparse files
        start = os.lseek(descriptor, 0, os.SEEK_CUR)
        hole = os.lseek(descriptor, start, os.SEEK_HOLE)
        os.lseek(descriptor, start, os.SEEK_SET)
        if hole < status.st_size:
            budget.charge(label, 512 * status.st_blocks, status.st_size)
    return status.st_size


def _resolve_folder(folder: Path) -> str:
    """Return the absolute path of a folder, or a description if the folder was deleted."""
    try:
        return str(folder.resolve())
    except FileNotFoundError:
        return "a directory that was deleted"


def first_bytes(path: Path) -> bytes:
    """Return the decompressed beginning of a file without byte order mark and leading whitespace.

    Return no bytes if the file cannot be read.
    """
    try:
        if not path.is_file():
            return b""
        with path.open("rb") as file:
            head = decompress_head(file.read(_HEAD_SIZE), _HEAD_SIZE)
        return head.removeprefix(b"\xef\xbb\xbf").lstrip()
    except OSError:
        return b""


def has_keys(path: Path, *keys: str) -> bool:
    """Return True if the beginning of a JSON file contains all keys."""
    head = first_bytes(path)
    return head[:1] in (b"{", b"[") and all(f'"{key}"'.encode() in head for key in keys)


def head_names(path: Path) -> tuple[str, ...]:
    """Return the names at the beginning of a file.

    These are the keys of a JSON file or the header cells of a CSV file, and the name of the folder.
    """
    try:
        status = path.stat()
    except OSError:
        return ()
    return _head_names(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=256)
def _head_names(path: Path, _time: int, _size: int) -> tuple[str, ...]:
    """Return the names at the beginning of an unchanged file; see `head_names`."""
    head = first_bytes(path)
    line = head.partition(b"\n")[0]
    if head[:1] in (b"{", b"["):
        text = line if json_object(line) else head
        listed = re.search(rb'"columns"\s*:\s*\[([^\]]*)\]', text)
        names = _KEY.findall(text) + (re.findall(rb'"([^"]*)"', listed[1]) if listed else [])
    else:
        names = [cell.strip(b' "\r') for cell in line.split(b",")]
    return (*dict.fromkeys(name.decode(errors="replace") for name in names), f"{path.parent.name}/")


def read_url(url: str, read: Callable[[BinaryIO], bytes], limit: int) -> bytes:
    """Return the bytes of a URL.

    Parameters
    ----------
    url : str
    read : callable
        Reads a stream of unknown length up to the limit.
    limit : int
        Maximum bytes to fetch at once if the store reports the size.

    Raises
    ------
    InputError
        If the file does not exist, or cannot be reached.
    UsageError
        If the package for this kind of URL is not installed.
    """
    with connect_store(url) as store:
        size = store.info(url).get("size")
        if size is not None and size <= limit:
            return bytes(store.cat_file(url))
        with store.open(url, "rb") as stream:
            return read(stream)


@contextmanager
def connect_store(url: str) -> Iterator[Any]:
    """Yield the file system of a URL, and convert its exceptions to InputError."""
    try:
        yield _file_system(url)
    except RiskrankError:
        raise
    except FileNotFoundError as error:
        hint = "check bucket and path; set AWS_ENDPOINT_URL for a custom server"
        raise InputError(f"{url}: there is no such file", found=error_reason(error), hint=hint) from None
    except Exception as error:  # each store defines its own exceptions
        detail = f"{type(error).__name__}: {error_reason(error)}"
        hint = "check credentials, region and endpoint (AWS_ACCESS_KEY_ID, AWS_ENDPOINT_URL)"
        raise unreadable_error(f"{url}: the file", detail, hint) from None


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
        hint = (
            "pip install 'riskrank[s3]'" if scheme == "s3" else f"install what fsspec needs for {scheme}://"
        )
        raise UsageError(problem, found=error_reason(error), hint=hint) from None
    except ValueError as error:
        raise UsageError(
            f"{url}: {scheme}:// URLs cannot be read",
            found=error_reason(error),
            hint="write s3://bucket/path, gs://bucket/path or https://…, or copy the file here",
        ) from None
