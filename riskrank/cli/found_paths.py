"""Links that a checkout may bring to lead out of itself."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

_MAGIC = re.compile(r"[*?\[{]")


def leading_out(text: str) -> str | None:
    """Return what a text opens by a link out of the working directory or to a hidden place, None if nothing.

    The GitHub Action checks by it what the files of a pull request may lead to.
    """
    from riskrank.scores.files.paths import possible_names

    here = Path.cwd().resolve()
    for one in (one for name in possible_names(text) for one in _opened(name)):
        named, real = Path(os.path.abspath(one)), Path(os.path.realpath(one))  # noqa: PTH100 (links stay)
        if not named.is_relative_to(here) or named == real:
            continue
        if not real.is_relative_to(here) or any(part[0] == "." for part in real.relative_to(here).parts):
            return one
    return None


def _opened(name: str) -> Iterator[str]:
    """What a name may open, one by one: what the caller refuses is not looked into."""
    from riskrank.scores.files.paths import LOGS, matched

    first = _MAGIC.search(name)
    if first:
        front = os.path.dirname(name[: first.start()]) or os.curdir  # noqa: PTH120
        yield from _with_all_below(front) if "**" in name else (front,)
    yield from _with_all_below(name)
    yield from (f"{name}{end}" for end in LOGS)
    for one in matched(name) if first else ():
        yield from _with_all_below(one)


def _with_all_below(name: str) -> Iterator[str]:
    """A file, or a folder and what is in it but hidden files; links are followed, but never in circles."""
    waiting, seen = [name], set[str]()
    while waiting:
        one = waiting.pop()
        yield one
        try:
            place = os.path.realpath(one)
            if place in seen:
                continue
            seen.add(place)
            with os.scandir(one) as entries:
                waiting += [each.path for each in entries if each.is_dir() or not each.name.startswith(".")]
        except (OSError, ValueError):  # no folder, or a closed one
            continue
