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
_FILES = ("output", "plot", "bless")
# Options that go on where the tool would refuse.
_INSISTS = ("yes",)
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
# What opens a file or an address in SQL of Polars, however it is quoted and whatever stands behind it.
_OPENS = re.compile(r"(?:read|scan)_\w", re.IGNORECASE)


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
        elif name in _FILES and _leaves(text, os.path.dirname(path)):  # noqa: PTH120
            why = "writes outside of this folder"
        elif name in _INSISTS:
            why = "insists on what may not fit into memory"
        if why is not None:
            raise InputError(
                f"{path}: '{key}' {why}, and nobody named this file",
                found=f"{key} = {text!r}",
                hint=f"if you trust it, name it: {option('config', path)}; "
                f"{option('isolated', True)} ignores it",
            )


def _leaves(text: str, folder: str) -> bool:
    """Whether a file to write, also behind the name of a picture, lies outside of a folder; links count."""
    home = os.path.realpath(folder or ".")
    for name in {text, text.partition(":")[2] or text}:
        if name.startswith(("/", "\\")) or ".." in re.split(r"[/\\]", name):
            return True
        place = os.path.realpath(name)
        if os.path.commonpath([home, place]) != home:
            return True
    return False


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
