"""Whom a configuration file belongs to that nobody named: it counts if it is the user's own.

In a shared folder it may be anybody's, and what it says decides which model is called better.
"""

import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from riskrank.errors import InputError, option

# Options that name whose workers run our code, and whose answers are believed.
_CODE = ("executor",)
_QUERIES = ("sql", "where")
OUTPUTS = ("output", "plot", "dot", "bless", "continues", "confirm")
"""Options that write, or say what is written on."""
READS = ("metrics-file", "baseline", "anchor", "price")
"""Options that name files to read."""

_REPLICATES = ("resamples", "simulations", "resample-models")
# Options that go on where the tool would refuse.
_INSISTS = ("yes",)
_ADDRESS = re.compile(r"[A-Za-z0-9+.-]://|(?:^|=)[/\\]{2}")
# What opens a file or an address in SQL of Polars, however it is quoted and whatever stands behind it.
_OPENS = re.compile(r"(?:read|scan)_\w", re.IGNORECASE)


def distrusted(path: str) -> str | None:
    """Why a file that was only found may be somebody else's; None if it is the user's or the system's.

    It and its folder belong to the user or to root, and nobody else may write to them. A group of the same
    number as its user is that user's own, as most systems make one.
    """
    if not Path(path).is_file():  # a pipe, a device or a folder
        return "it is no plain file"
    if os.path.dirname(os.path.realpath(path)) != os.path.realpath(os.path.dirname(path)):  # noqa: PTH120
        return "it is a link that leads out of its folder"
    if not hasattr(os, "geteuid"):  # a system without owners of this kind
        return None
    for place, name in ((path, "it"), (os.path.dirname(path) or ".", "its folder")):  # noqa: PTH120
        status = os.stat(place)  # noqa: PTH116 (a path with ".." stays as it is)
        if status.st_uid not in (0, os.geteuid()):
            return f"{name} belongs to another user"
        if status.st_mode & stat.S_IWOTH:
            return f"anybody may write to {name}"
        if status.st_mode & stat.S_IWGRP and status.st_gid != status.st_uid:
            return f"a group may write to {name}"
    return None


def refuse_reaching_out(settings: Mapping[str, Any], path: str) -> None:
    """Refuse what a file that was only found may not say: who runs code, what is opened, where to write.

    Whoever clones a repository or unpacks an archive owns the files in it, but has not written them.

    Raises
    ------
    InputError
    """
    from riskrank.cli.found_paths import why_not_read

    for key, text in texts_of(settings):
        name = key.replace("_", "-")
        told = (
            (name in _CODE, "names a computer that runs code"),
            (_ADDRESS.search(text), "names an address"),
            (name in _QUERIES and _OPENS.search(text), "opens other files"),
            (name in _INSISTS or _is_beyond(name, text), "insists on what may take all memory or days"),
        )
        why = next((words for is_so, words in told if is_so), None)
        if why is None and name in READS:
            why = why_not_read(text, path)
        if why is not None:
            raise InputError(
                f"{path}: '{key}' {why}, and nobody named this file",
                found=f"{key} = {text!r}",
                hint=f"if you trust it, name it: {option('config', path)}; "
                f"{option('isolated', True)} ignores it",
            )


def _is_beyond(name: str, text: str) -> bool:
    """Whether a number asks for more memory or work than a run takes by itself, however long it is."""
    from riskrank.asked.resampling import WORK_LIMIT
    from riskrank.scores.files.source import MAX_TABLE_BYTES

    most = dict.fromkeys(_REPLICATES, 1e6) | {"max-bytes": MAX_TABLE_BYTES, "work-limit": WORK_LIMIT}
    with suppress(ValueError):
        return name in most and float(text) > most[name]
    return False


def without_outputs(
    settings: Mapping[str, Any], *, commands: bool = True
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Settings without those that write, of commands as well, and the names of these."""
    kept, left_out = dict[str, Any](), list[str]()
    for key, value in settings.items():
        texts = all(isinstance(one, str | dict) for one in (value if isinstance(value, list) else [value]))
        if key.replace("_", "-") in OUTPUTS and texts:  # what is no text is no output, and said to be none
            left_out.append(key)
        elif isinstance(value, dict) and commands:
            kept[key], below = without_outputs(value, commands=False)
            left_out += below
        else:
            kept[key] = value
    return kept, tuple(dict.fromkeys(left_out))


def texts_of(settings: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Every text that a setting, of commands as well, is on the command line, with the option it is for."""
    tables = [*(value for value in settings.values() if isinstance(value, dict)), settings]
    for key, value in (entry for table in tables for entry in table.items()):
        texts = written(value)
        yield from ((key, text) for text in dict.fromkeys([*texts, ",".join(texts)]))


def written(value: Any) -> list[str]:
    """A value as texts of the command line: several of a list, NAME=VALUE of a table."""
    if isinstance(value, dict):
        return [f"{name}={one}" for name, one in value.items()]
    return [str(one) for one in (value if isinstance(value, list) else [value])]
