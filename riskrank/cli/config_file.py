"""The configuration file: ``riskrank.toml``, or ``[tool.riskrank]`` in ``pyproject.toml``.

The nearest one counts, upwards from the current directory to the root of the repository or to the home
directory; outside of both only the current directory is looked at, as anybody may write to ``/tmp``.
"""

from __future__ import annotations

import os.path
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from riskrank.errors import InputError, UsageError, option

OWN, SHARED = "riskrank.toml", "pyproject.toml"
# No configuration a person wrote is larger; a pipe or a device would never end.
MOST_BYTES = 1_000_000


def chosen_file(given: str | None, *, isolated: bool) -> str | None:
    """Path of the configuration file to read, as given or relative to the current directory; None for none.

    Raises
    ------
    UsageError
        If a file is named and none is wanted.
    """
    if isolated:
        if given is not None:
            raise UsageError(
                f"{option('config')} and {option('isolated', True)} contradict each other",
                found=option("config", given),
                hint="leave out one of them",
            )
        return None
    return given if given is not None else found_file()


def found_file() -> str | None:
    """Path of the nearest configuration file, relative to the current directory."""
    for folder in searched_folders():
        own, shared = f"{folder}{OWN}", f"{folder}{SHARED}"
        if Path(own).is_file():
            return own
        if Path(shared).is_file() and _is_shared(shared):
            return shared
    return None


def searched_folders() -> Iterator[str]:
    """Fronts of the paths a configuration may have, the nearest first: nothing, ``../``, ..."""
    try:
        here = Path.cwd()
    except OSError:  # the current directory was deleted
        return
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 (to have no home is no error)
    places = [here, *here.parents]
    ends = (at for at, place in enumerate(places) if place == home or (place / ".git").exists())
    for up in range(next(ends, 0) + 1):
        yield "../" * up


def read_config(path: str) -> Mapping[str, Any]:
    """Read the settings in a configuration file.

    Raises
    ------
    InputError
        If it cannot be read, or is a ``pyproject.toml`` without ``[tool.riskrank]``.
    """
    settings = _parsed(path, _text(path))
    if Path(path).name != SHARED:
        return settings
    tool = settings.get("tool")
    found = tool.get("riskrank") if isinstance(tool, dict) else None
    if not isinstance(found, dict):
        raise InputError(
            f"{path}: there is no table [tool.riskrank]",
            found="no settings of riskrank",
            hint=f"add [tool.riskrank], or write the settings into {OWN}",
        )
    return found


def section_name(path: str, name: str) -> str:
    """Head of a command's table in the file."""
    return f"tool.riskrank.{name}" if Path(path).name == SHARED else name


def _is_shared(path: str) -> bool:
    """Whether a pyproject.toml has settings of ours; a broken one without is its owner's business."""
    try:
        text = _text(path)
    except InputError:
        return False
    if "tool.riskrank" not in text and "[tool]" not in text:
        return False
    try:
        tool = _parsed(path, text).get("tool")
    except InputError:
        return "[tool.riskrank" in text
    return isinstance(tool, dict) and "riskrank" in tool


def _text(path: str) -> str:
    try:
        with open(path, "rb") as file:  # noqa: PTH123 (a path with ".." stays as it is)
            content = file.read(MOST_BYTES + 1)
        if len(content) <= MOST_BYTES:
            return content.decode("utf-8-sig")
        problem, hint = f"more than {MOST_BYTES:,} bytes", "a configuration is a small TOML file"
    except FileNotFoundError:
        problem, hint = "nothing at that path", f"check the path given to {option('config')}"
    except OSError as error:
        problem, hint = error.strerror or str(error), "a configuration is a readable TOML file"
    except UnicodeDecodeError as error:
        problem, hint = str(error), "save it as UTF-8"
    raise InputError(f"{path}: the configuration cannot be read", found=problem, hint=hint)


def _parsed(path: str, text: str) -> Mapping[str, Any]:
    import tomllib

    try:
        document = tomllib.loads(text)
        repr(document)  # a number of 5,000 digits could not be shown in a message
        return document
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{path}: the configuration is not valid TOML",
            found="values nested too deeply" if isinstance(error, RecursionError) else str(error),
            hint='write option = value, and a table a command: [rank], then top = 3; texts in quotes: "mean"',
        ) from None
