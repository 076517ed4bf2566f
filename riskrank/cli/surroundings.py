"""What surrounds a process and would make a library it uses fail, or talk."""

import errno
import os
from collections.abc import Mapping, MutableMapping
from contextlib import suppress

from riskrank.errors import UsageError

# Descriptors a run opens beside its streams: modules, pipes to workers, a file in and a file out.
_DESCRIPTORS = 8
# More than a machine of today has cores, and fewer than a limit on processes stops.
_MOST_THREADS = 1024
# Folders that are made where they are missing: where they are no absolute paths, in the working directory.
_FOLDERS = ("HOME", "MPLCONFIGDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")


def settle(variables: MutableMapping[str, str]) -> None:
    """Take away what is of no use to a program that draws into files, and fails or writes elsewhere.

    A window system for pictures may be misspelt, and their style, which changes none of ours, be endless; a
    home that is no absolute path would be made here.
    """
    for name in ("MPLBACKEND", "MATPLOTLIBRC"):
        variables.pop(name, None)
    for name in _FOLDERS:
        if not os.path.isabs(variables.get(name, "/")):  # noqa: PTH117
            variables.pop(name, None)


def hush() -> None:
    """Let Matplotlib not tell where it keeps its fonts instead: no picture looks different for it."""
    import logging

    logging.getLogger("matplotlib").setLevel(logging.ERROR)


def import_matplotlib() -> None:
    """Import it from elsewhere: a ``matplotlibrc`` of the working directory may be broken or endless.

    No picture of ours looks different for it.
    """
    try:
        here = os.open(os.curdir, os.O_RDONLY)
    except OSError:  # a folder that may not be looked into, or Windows
        return
    try:
        os.chdir(os.sep)
        import matplotlib  # noqa: F401
    finally:
        os.fchdir(here)
        os.close(here)


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
    if given is None:
        return
    if not (given.isascii() and given.isdecimal() and len(given) < 20 and 1 <= int(given) <= _MOST_THREADS):
        raise UsageError(
            "POLARS_MAX_THREADS is no number of threads",
            found=f"POLARS_MAX_THREADS={given}",
            hint=f"unset it, or set it to a number from 1 to {_MOST_THREADS}",
        )
