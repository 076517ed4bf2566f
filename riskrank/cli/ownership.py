"""Whom a configuration file belongs to that nobody named: it counts if it is the user's own.

In a shared folder it may be anybody's, and what it says decides which model is called better.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from typing import Any

from riskrank.errors import InputError, option

# Options that name whose workers run our code, and whose answers are believed.
_CODE = ("executor",)
_QUERIES = ("sql", "where")
_FILES = ("output", "plot")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
# What opens a file or an address in SQL of Polars.
_OPENS = re.compile(r"\b(?:read|scan)_\w+\s*\(", re.IGNORECASE)


def distrusted(path: str) -> str | None:
    """Why a file that was only found may be somebody else's; None if it is the user's or the system's.

    It and its folder belong to the user or to root, and nobody else may write to them. A group of the same
    number as its user is that user's own, as most systems make one.
    """
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
    for key, text in _texts(settings):
        name = key.replace("_", "-")
        why = None
        if name in _CODE:
            why = "names a computer that runs code"
        elif _ADDRESS.search(text):
            why = "names an address"
        elif name in _QUERIES and _OPENS.search(text):
            why = "opens other files"
        elif name in _FILES and (text.startswith(("/", "\\")) or ".." in re.split(r"[/\\]", text)):
            why = "writes outside of this folder"
        if why is not None:
            raise InputError(
                f"{path}: '{key}' {why}, and nobody named this file",
                found=f"{key} = {text!r}",
                hint=f"if you trust it, name it: {option('config', path)}; "
                f"{option('isolated', True)} ignores it",
            )


def _texts(settings: Mapping[str, Any], key: str = "") -> Iterator[tuple[str, str]]:
    """Every text in a configuration, with the option it is for."""
    for name, value in settings.items():
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, dict):
                yield from _texts(one, name)
            else:
                yield (name, str(one))
                if key:  # of a command, or a table of names: columns = {model = "…"}
                    yield (key, str(one))
