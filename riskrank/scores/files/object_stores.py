"""Files in object stores, and wherever else fsspec reaches: ``s3://``, ``gs://``, ``https://``.

Credentials, regions and endpoints are those of the environment (``AWS_ENDPOINT_URL`` for a server that
speaks S3), as every other tool of the store finds them.
"""

import glob
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from riskrank.errors import InputError, RiskrankError, UsageError
from riskrank.scores.files.folders import no_match
from riskrank.scores.files.guards import reason_of, unreadable
from riskrank.scores.files.source import is_url


def expand_url(url: str) -> list[str]:
    """The addresses a pattern matches, in order; an address without a pattern is itself.

    Raises
    ------
    InputError
        If nothing matches, or the store cannot be reached.
    """
    scheme = urlsplit(url).scheme
    if scheme in ("http", "https") or not glob.has_magic(url):
        return [url]
    with _reached(url) as store:
        entries = store.glob(url, detail=True)
        found = sorted(str(path) for path, entry in entries.items() if entry.get("type") == "file")
    if not found:
        raise no_match(url, "bucket and folder")
    return [path if is_url(path) else f"{scheme}://{path.removeprefix('/')}" for path in found]


def read_url(url: str, read: Callable[[BinaryIO], bytes], limit: int) -> bytes:
    """The bytes behind an address.

    Parameters
    ----------
    url : str
    read : callable
        Reads a stream of unknown length, and no more of it than allowed.
    limit : int
        Bytes that are fetched at once, where the store says that there are no more.

    Raises
    ------
    InputError
        If there is nothing, or it cannot be reached.
    UsageError
        If the package for that kind of address is not installed.
    """
    with _reached(url) as store:
        size = store.info(url).get("size")
        if size is not None and size <= limit:
            return bytes(store.cat_file(url))
        with store.open(url, "rb") as stream:
            return read(stream)


@contextmanager
def _reached(url: str) -> Iterator[Any]:
    """The store an address is in, while it is asked; what is wrong with it is said."""
    try:
        yield _file_system(url)
    except RiskrankError:
        raise
    except FileNotFoundError as error:
        hint = "check bucket and path; a server of one's own is named in AWS_ENDPOINT_URL"
        raise InputError(f"{url}: there is no such file", found=reason_of(error), hint=hint) from None
    except Exception as error:  # every store has exceptions of its own
        found = f"{type(error).__name__}: {reason_of(error)}"
        hint = "check credentials, region and endpoint (AWS_ACCESS_KEY_ID, AWS_ENDPOINT_URL)"
        raise unreadable(f"{url}: the file", found, hint) from None


def _file_system(url: str) -> Any:
    scheme = urlsplit(url).scheme
    try:
        import fsspec

        return fsspec.core.url_to_fs(url)[0]
    except ImportError as error:
        what = f"{url}: reading from {scheme}:// needs a package"
        hint = (
            "pip install 'riskrank[s3]'" if scheme == "s3" else f"install what fsspec needs for {scheme}://"
        )
        raise UsageError(what, found=reason_of(error), hint=hint) from None
    except ValueError as error:
        raise UsageError(
            f"{url}: {scheme}:// is no kind of address that can be read",
            found=reason_of(error),
            hint="write s3://bucket/path, gs://bucket/path or https://…, or copy the file here",
        ) from None
