"""The configuration file: ``riskrank.toml``, or ``[tool.riskrank]`` in ``pyproject.toml``.

The one in the working directory counts, unless ``--config`` names another, which may set more.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path, PurePath
from typing import Any

from riskrank.cli.found_paths import leading_out
from riskrank.errors import InputError, option
from riskrank.options.values import contradict

OWN, SHARED = "riskrank.toml", "pyproject.toml"
# No configuration a person wrote is larger; a pipe or a device would never end.
MOST_BYTES = 1 << 18

WRITES = ("output", "plot", "dot", "bless", "continues")
READS = ("baseline", "anchor", "price")
ONLY_NAMED = (*WRITES, *READS, "sql", "executor", "yes", "max-bytes", "work-limit")
"""Options that open, write or run something by name, or lift a limit.

Only a file that ``--config`` names may set them: whoever clones a repository has not read the files in it.
"""

# What opens a file in SQL of Polars, however it is quoted.
_OPENS = re.compile(r"(?:read|scan)_\w", re.IGNORECASE)


def config_path(given: str | None, *, isolated: bool) -> str | None:
    """Choose the configuration file to read: the one that was named, or the one of the working directory.

    Raises
    ------
    UsageError
        If a file is named and none is wanted.
    """
    if isolated:
        if given is not None:
            contradict(option("config", given), option("isolated", True))
        return None
    if given is not None:
        return given
    if Path(OWN).is_file():
        return OWN
    return SHARED if Path(SHARED).is_file() and _has_settings(SHARED) else None


def read_config(path: str) -> Mapping[str, Any]:
    """Read the settings of a configuration file.

    Raises
    ------
    InputError
        If it cannot be read, or is a ``pyproject.toml`` without ``[tool.riskrank]``.
    """
    settings = _parsed(path)
    if Path(path).name != SHARED:
        return settings
    tool = settings.get("tool")
    own = tool.get("riskrank") if isinstance(tool, dict) else None
    if not isinstance(own, dict):
        raise InputError(
            f"{path}: there is no table [tool.riskrank]",
            found="no settings of riskrank",
            hint=f"add [tool.riskrank], or write the settings into {OWN}",
        )
    return own


def _has_settings(path: str) -> bool:
    """Return whether a pyproject.toml has settings of riskrank; others may be broken."""
    content = b""
    with suppress(InputError):
        content = _content(path)
        if b"tool.riskrank" in content or b"[tool]" in content:  # parsing takes its time
            tool = _parsed(path).get("tool")
            return isinstance(tool, dict) and "riskrank" in tool
    return b"[tool.riskrank" in content


def _parsed(path: str) -> Mapping[str, Any]:
    from riskrank.scores.files.bounded import parsed_toml

    try:
        return parsed_toml(_content(path))
    except ValueError as error:
        raise InputError(
            f"{path}: the configuration is not valid TOML",
            found=str(error),
            hint="save it as UTF-8"
            if isinstance(error, UnicodeDecodeError)
            else 'write option = value, and a table a command: [rank], then top = 3; texts in quotes: "mean"',
        ) from None


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


def refuse_reaching_out(settings: Mapping[str, Any], path: str) -> None:
    """Refuse settings that only a configuration named by ``--config`` may have.

    Whoever clones a repository owns its files, but has not read them.

    Raises
    ------
    InputError
    """
    tables = [settings, *(value for value in settings.values() if isinstance(value, dict))]
    for key, value in (entry for table in tables for entry in table.items()):
        name = dashed(key)
        if name == "metrics-file":
            what = "must be a file below the working directory"
            refused = any(map(_leads_elsewhere, as_texts(value)))
        else:
            what = f"may only be set in a file that {option('config')} names"
            refused = name in ONLY_NAMED or (name == "where" and any(map(_OPENS.search, as_texts(value))))
        if refused:
            raise InputError(
                f"{path}: '{key}' {what}",
                found=in_toml(key, value),
                hint=f"if you trust this file, add {option('config', path)}; "
                f"{option('isolated', True)} ignores it",
            )


def _leads_elsewhere(text: str) -> bool:
    """Return whether a path is an address, absolute, hidden, above its folder, or a link to such a place."""
    path = PurePath(text)
    inside = not (path.is_absolute() or ":" in text or any(part.startswith(".") for part in path.parts))
    return not inside or leading_out(text) is not None


def section_name(path: str, name: str) -> str:
    """Return the head of a command's table in the file."""
    return f"tool.riskrank.{name}" if Path(path).name == SHARED else name


def as_texts(value: Any) -> list[str]:
    """Return a value as texts of the command line: several of a list, NAME=VALUE of a table."""
    if isinstance(value, dict):
        return [f"{name}={text}" for name, text in value.items()]
    return [str(text) for text in (value if isinstance(value, list) else [value])]


def dashed(key: str) -> str:
    """Return a key as its option is written, without the dashes before it."""
    return key.replace("_", "-")


def in_toml(key: str, value: Any) -> str:
    """Return a setting as a file has it, for messages."""
    text = f"[{key}]" if isinstance(value, dict) else f"{key} = {value!r}"
    return text if len(text) <= 80 else text[:79] + "…"
