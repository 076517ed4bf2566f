"""Glob patterns, in which ``**`` follows links to folders but never in circles."""

import glob
import os
from collections.abc import Iterator

_DEEP = "**"


def matches(pattern: str) -> list[str]:
    """The files and folders a pattern matches, sorted, each once.

    As :func:`glob.glob`, which would go round in a folder that links to itself until the system stops it.
    """
    before, deep, after = _split(pattern)
    if not deep:
        return sorted(glob.glob(pattern))
    found: dict[str, None] = {}
    for start in glob.glob(before) if before else [""]:
        for folder in _folders(start, ()):
            if not after:
                found |= dict.fromkeys(_entries(folder))
                continue
            found |= dict.fromkeys(matches(os.path.join(glob.escape(folder), after)))
    return sorted(found)


def _split(pattern: str) -> tuple[str, bool, str]:
    """What stands before the first ``**``, whether there is one, and what stands after it."""
    parts = pattern.split(os.sep)
    if _DEEP not in parts:
        return pattern, False, ""
    at = parts.index(_DEEP)
    before = os.sep.join(parts[:at])
    return (before or os.sep if at else "", True, os.sep.join(parts[at + 1 :]))


def _folders(folder: str, above: tuple[tuple[int, int], ...]) -> Iterator[str]:
    """A folder and all below it but hidden ones; one that lies within itself is not entered again."""
    try:
        status = os.stat(folder or os.curdir)
        here = (status.st_dev, status.st_ino)
        if here in above:
            return
        with os.scandir(folder or os.curdir) as entries:
            names = sorted(
                entry.name for entry in entries if entry.is_dir() and not entry.name.startswith(".")
            )
    except OSError:  # no folder, or a closed one, which glob passes over too
        return
    yield folder
    for name in names:
        yield from _folders(os.path.join(folder, name), (*above, here))


def _entries(folder: str) -> list[str]:
    found = [folder] if folder else []
    with os.scandir(folder or os.curdir) as entries:
        names = [entry.name for entry in entries if not entry.name.startswith(".")]
    return found + [os.path.join(folder, name) for name in names]
