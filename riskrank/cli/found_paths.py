"""What a configuration that nobody named would have read: only plain files of its own project.

Its texts go through what the readers make of them, labels and patterns, and from both places that a path may
be relative to.
"""

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

_SYSTEM = re.compile(r"/(?:dev|proc|sys)(?:/|$)")
_MAGIC = re.compile(r"[*?\[{]")
# Letters of a label and a path, no system opens longer ones; and signs at each of which a label may end.
_LONGEST, _MOST_LABELS = 8_192, 16


def why_not_read(text: str, path: str) -> str | None:
    """Why a text of the configuration at a path is not to be opened; None where it may be, or is no file."""
    from riskrank.scores.files.paths import possible_names

    if len(text) > _LONGEST or text.count("=") > _MOST_LABELS:
        return "is longer than a path"
    folder = os.path.dirname(path)  # noqa: PTH120
    home = Path(folder).resolve()
    project = next((one for one in (home, *home.parents) if (one / ".git").exists()), home)
    for base in dict.fromkeys(("", folder)):
        for name in possible_names(text):
            for one in _opened(os.path.join(base, name)):  # noqa: PTH118
                why = _unusual(one, base, project)
                if why is not None:
                    return why
    return None


def leading_out(text: str) -> str | None:
    """What a text would open here by way of a link that leads out of the directory or to a hidden place.

    The Action asks it of what a checkout names.
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


def _unusual(name: str, base: str, project: Path) -> str | None:
    try:
        if _SYSTEM.match(os.path.abspath(name)):  # noqa: PTH100
            return "reads a pipe or a device"
        kind = os.stat(name).st_mode  # noqa: PTH116 (where a link of the system leads has no name)
        place = Path(name).resolve()
        beyond = os.path.relpath(place, base or os.curdir)
    except (OSError, ValueError):
        return None
    if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
        return "reads a pipe or a device"
    if not place.is_relative_to(project):
        return "reads what lies outside of its folder"
    parts = re.split(r"[/\\]", f"{name}/{beyond}")
    return "reads what is hidden" if any(one.startswith(".") and one.strip(".") for one in parts) else None
