"""What surrounds a process and would make a library it uses fail, or talk."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping, MutableMapping
from contextlib import suppress

from riskrank.errors import UsageError

# Descriptors a run opens beside its streams: modules, pipes to workers, a file in and a file out.
_DESCRIPTORS = 8
_MOST_THREADS = 4096


def settle(variables: MutableMapping[str, str]) -> None:
    """Take away what is of no use to a program that draws into files, and fails or writes elsewhere.

    A window system for pictures may be misspelt; a home that is no absolute path would be made here.
    """
    variables.pop("MPLBACKEND", None)
    if not os.path.isabs(variables.get("HOME", "/")):  # noqa: PTH117
        variables.pop("HOME", None)


def hush() -> None:
    """Let Matplotlib not tell where it keeps its fonts instead: no picture looks different for it."""
    import logging

    logging.getLogger("matplotlib").setLevel(logging.ERROR)


def require_descriptors() -> None:
    """Fail early, and as such, where hardly any file can be opened: everything else would fail somehow.

    Raises
    ------
    OSError
    """
    opened = []
    try:
        for _ in range(_DESCRIPTORS):
            opened.append(os.open(os.devnull, os.O_RDONLY))
    finally:
        for descriptor in opened:
            os.close(descriptor)


def too_many_open(error: BaseException) -> tuple[str, str, str] | None:
    """What to say where no more files can be opened; None of any other error."""
    if not isinstance(error, OSError) or error.errno not in (errno.EMFILE, errno.ENFILE):
        return None
    limit = "none left"
    with suppress(ImportError, OSError):
        import resource

        limit = f"a limit of {resource.getrlimit(resource.RLIMIT_NOFILE)[0]:,} (ulimit -n)"
    return "no more files can be opened", limit, "raise the limit: ulimit -n 1024; or take fewer --jobs"


def require_threads(variables: Mapping[str, str]) -> None:
    """Refuse a number of threads at which Polars ends the process, with a page of its own.

    Raises
    ------
    UsageError
    """
    given = variables.get("POLARS_MAX_THREADS")
    if given is not None and not (given.isdecimal() and 1 <= int(given) <= _MOST_THREADS):
        raise UsageError(
            "POLARS_MAX_THREADS is no number of threads",
            found=f"POLARS_MAX_THREADS={given}",
            hint=f"unset it, or set it to a number from 1 to {_MOST_THREADS}",
        )
