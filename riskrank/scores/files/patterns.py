"""Glob patterns, in which ``**`` follows links to folders but never in circles."""

import glob
import os
from collections.abc import Callable, Iterator

from riskrank.errors import InputError

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
        for folder, entries in folders_below(start, _is_hidden):
            inside = [os.path.join(folder, one.name) for one in entries if not _is_hidden(one.name)]
            beside = [folder] if folder else []
            within = os.path.join(glob.escape(folder), after)
            found |= dict.fromkeys(matches(within) if after else beside + inside)
    return sorted(found)


def _split(pattern: str) -> tuple[str, bool, str]:
    """What stands before the first ``**``, whether there is one, and what stands after it."""
    parts = pattern.split(os.sep)
    if _DEEP not in parts:
        return pattern, False, ""
    at = parts.index(_DEEP)
    before = os.sep.join(parts[:at])
    return (before or os.sep if at else "", True, os.sep.join(parts[at + 1 :]))


def folders_below(
    folder: str,
    is_hidden: Callable[[str], bool],
    closed: Callable[[str, OSError], InputError] | None = None,
) -> Iterator[tuple[str, list[os.DirEntry[str]]]]:
    """A folder and all below it but hidden ones, each with what lies in it.

    One that lies within itself, by way of a link, is not entered again.

    Parameters
    ----------
    folder : str
    is_hidden : callable
        Tells by the name of a folder whether it is passed over.
    closed : callable, optional
        Makes an error of a folder that cannot be read, which is passed over otherwise.
    """
    waiting: list[tuple[str, tuple[tuple[int, int], ...]]] = [(folder, ())]
    while waiting:
        place, above = waiting.pop()
        try:
            status = os.stat(place or os.curdir)
            here = (status.st_dev, status.st_ino)
            if here in above:
                continue
            with os.scandir(place or os.curdir) as found:
                entries = list(found)
            inside = [entry.name for entry in entries if not is_hidden(entry.name) and entry.is_dir()]
        except OSError as error:
            if closed is not None:
                raise closed(place, error) from None
            continue
        yield place, entries
        waiting += ((os.path.join(place, name), (*above, here)) for name in inside)


def _is_hidden(name: str) -> bool:
    return name.startswith(".")
