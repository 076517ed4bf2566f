"""Detection of symbolic links that lead out of a repository checkout."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

_MAGIC = re.compile(r"[*?\[{]")


def escaping_link(text: str) -> str | None:
    """Return the first path that leads out of the working directory through a link, or None.

    `text` is a path, a glob pattern or a folder, as given on the command line.

    A link to a hidden location inside the directory also counts. The GitHub Action uses this check for files
    in a pull request.
    """
    from riskrank.scores.files.paths import possible_paths

    root = Path.cwd().resolve()
    for path in (path for name in possible_paths(text) for path in _openable_paths(name)):
        absolute, real = Path(os.path.abspath(path)), Path(os.path.realpath(path))  # noqa: PTH100 (keeps links)
        if not absolute.is_relative_to(root) or absolute == real:
            continue
        if not real.is_relative_to(root) or any(part[0] == "." for part in real.relative_to(root).parts):
            return path
    return None


def _openable_paths(name: str) -> Iterator[str]:
    """Yield the paths that a name may open: the path itself, matches of a glob pattern, and log files.

    Paths are generated lazily, so that the caller can stop before a forbidden folder is entered.
    """
    from riskrank.scores.files.paths import LOGS, expand_pattern

    first = _MAGIC.search(name)
    if first:
        front = os.path.dirname(name[: first.start()]) or os.curdir  # noqa: PTH120
        yield from _walk_files(front) if "**" in name else (front,)
    yield from _walk_files(name)
    yield from (f"{name}{end}" for end in LOGS)
    for path in expand_pattern(name) if first else ():
        yield from _walk_files(path)


def _walk_files(name: str) -> Iterator[str]:
    """Yield a path and all non-hidden files below it.

    Links are followed, and link cycles are detected.
    """
    stack, seen = [name], set[str]()
    while stack:
        path = stack.pop()
        yield path
        try:
            real_path = os.path.realpath(path)
            if real_path in seen:
                continue
            seen.add(real_path)
            with os.scandir(path) as entries:
                stack += [item.path for item in entries if item.is_dir() or not item.name.startswith(".")]
        except (OSError, ValueError):  # not a folder, or not readable
            continue
