"""The configuration file: ``riskrank.toml``, or ``[tool.riskrank]`` in ``pyproject.toml``.

The nearest one counts, upwards from the current directory to the root of the repository or to the home
directory; outside of both only the current directory is looked at. One that is somebody else's is passed
over, and none that nobody named reaches out.
"""

import os.path
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from riskrank.asked.values import contradict
from riskrank.cli.ownership import distrusted, refuse_reaching_out, without_outputs
from riskrank.errors import InputError, option

OWN, SHARED = "riskrank.toml", "pyproject.toml"
# No configuration a person wrote is larger; a pipe or a device would never end.
MOST_BYTES = 1 << 18


@dataclass(frozen=True)
class Chosen:
    """Which configuration file counts.

    Attributes
    ----------
    path : str or None
        As given or relative to the current directory; None for none.
    named : bool
        Whether somebody named it.
    passed_over : tuple of (str, str)
        Nearer files that do not count, each with the reason.
    """

    path: str | None
    named: bool = False
    passed_over: tuple[tuple[str, str], ...] = ()


def chosen_file(given: str | None, *, isolated: bool) -> Chosen:
    """Choose the configuration file to read.

    Raises
    ------
    UsageError
        If a file is named and none is wanted.
    """
    if isolated:
        if given is not None:
            contradict(option("config", given), option("isolated", True))
        return Chosen(None)
    return Chosen(given, named=True) if given is not None else found_file()


def found_file() -> Chosen:
    """The nearest configuration file that is the user's own."""
    passed_over: list[tuple[str, str]] = []
    for folder in searched_folders():
        for path in (f"{folder}{OWN}", f"{folder}{SHARED}"):
            own = path.endswith(OWN)
            if not Path(path).exists() if own else not (Path(path).is_file() and _is_shared(path)):
                continue
            reason = distrusted(path)
            if reason is None:
                return Chosen(path, passed_over=tuple(passed_over))
            passed_over.append((path, reason))
    return Chosen(None, passed_over=tuple(passed_over))


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


def read_config(path: str, *, named: bool) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """Read the settings in a configuration file, and the names of those passed over.

    One that nobody named says nothing of where to write: whoever clones a repository has not written it.

    Raises
    ------
    InputError
        If it cannot be read, is a ``pyproject.toml`` without ``[tool.riskrank]``, or was not named and
        reaches out.
    """
    settings = _settings(path)
    if named:
        return settings, ()
    settings, left_out = without_outputs(settings)
    refuse_reaching_out(settings, path)
    return settings, left_out


def _settings(path: str) -> Mapping[str, Any]:
    settings = _parsed(path, _content(path))
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
        content = _content(path)
    except InputError:
        return False
    if b"tool.riskrank" not in content and b"[tool]" not in content:
        return False
    try:
        tool = _parsed(path, content).get("tool")
    except InputError:
        return b"[tool.riskrank" in content
    return isinstance(tool, dict) and "riskrank" in tool


def _content(path: str) -> bytes:
    try:
        with open(path, "rb") as file:  # noqa: PTH123 (a path with ".." stays as it is)
            content = file.read(MOST_BYTES + 1)
        if len(content) <= MOST_BYTES:
            return content
        problem, hint = f"more than {MOST_BYTES:,} bytes", "a configuration is a small TOML file"
    except FileNotFoundError:
        problem, hint = "nothing at that path", f"check the path given to {option('config')}"
    except OSError as error:
        problem, hint = error.strerror or str(error), "a configuration is a readable TOML file"
    raise InputError(f"{path}: the configuration cannot be read", found=problem, hint=hint)


def _parsed(path: str, content: bytes) -> Mapping[str, Any]:
    from riskrank.scores.files.bounded import parsed_toml

    try:
        return parsed_toml(content)
    except ValueError as error:
        raise InputError(
            f"{path}: the configuration is not valid TOML",
            found=str(error),
            hint="save it as UTF-8"
            if isinstance(error, UnicodeDecodeError)
            else 'write option = value, and a table a command: [rank], then top = 3; texts in quotes: "mean"',
        ) from None
