"""Files in object stores and other locations supported by fsspec: ``s3://``, ``gs://``, ``https://``.

Credentials, regions and endpoints come from the environment (``AWS_ENDPOINT_URL`` for S3-compatible servers).
"""

import glob
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from riskrank.errors import InputError, RiskrankError, UsageError
from riskrank.scores.files.folders import no_match_error
from riskrank.scores.files.guards import error_reason, unreadable_error
from riskrank.scores.files.source import is_url


def expand_url(url: str) -> list[str]:
    """Return the URLs that match a pattern, sorted; a URL without a pattern is returned unchanged.

    Raises
    ------
    InputError
        If nothing matches, or the store cannot be reached.
    """
    scheme = urlsplit(url).scheme
    if scheme in ("http", "https") or not glob.has_magic(url):
        return [url]
    with _connect(url) as store:
        entries = store.glob(url, detail=True)
        paths = sorted(str(path) for path, entry in entries.items() if entry.get("type") == "file")
    if not paths:
        raise no_match_error(url, "bucket and folder")
    return [path if is_url(path) else f"{scheme}://{path.removeprefix('/')}" for path in paths]


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
    with _connect(url) as store:
        size = store.info(url).get("size")
        if size is not None and size <= limit:
            return bytes(store.cat_file(url))
        with store.open(url, "rb") as stream:
            return read(stream)


@contextmanager
def _connect(url: str) -> Iterator[Any]:
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
