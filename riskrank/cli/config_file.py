"""The configuration file: ``riskrank.toml``, or ``[tool.riskrank]`` in ``pyproject.toml``.

It is read from the working directory, unless ``--config`` specifies another file. A file specified this way
may set more options.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path, PurePath
from typing import Any

from riskrank.cli.symlinks import escaping_link
from riskrank.errors import InputError, option

CONFIG, PROJECT = "riskrank.toml", "pyproject.toml"
# Value of --config for no configuration file.
NO_FILE = "none"
# Larger than any handwritten configuration; a limit is needed because a device never ends.
MAX_BYTES = 1 << 18

WRITING = ("output", "plot", "dot", "bless", "continues")
READING = ("baseline", "anchor", "price")
TRUSTED_ONLY = (*WRITING, *READING, "sql", "executor", "max-memory", "max-bytes", "work-limit")
"""Options that open, write or run something by name, or lift a limit.

Only a file named by ``--config`` may set them: users of a cloned repository have not reviewed its files.
"""

# Functions that open a file in Polars SQL, quoted or not.
_OPENS = re.compile(r"(?:read|scan)_\w", re.IGNORECASE)


def config_path(path: str | None) -> str | None:
    """Return the configuration file to read, or None if there is none.

    A given file takes precedence over the one in the working directory.
    """
    if path is not None:
        return None if path == NO_FILE else path
    if Path(CONFIG).is_file():
        return CONFIG
    return PROJECT if Path(PROJECT).is_file() and _has_settings(PROJECT) else None


def read_config(path: str) -> Mapping[str, Any]:
    """Read the settings of a configuration file.

    Raises
    ------
    InputError
        If the file cannot be read, or is a ``pyproject.toml`` without ``[tool.riskrank]``.
    """
    settings = _parse_config(path)
    if Path(path).name != PROJECT:
        return settings
    tool = settings.get("tool")
    table = tool.get("riskrank") if isinstance(tool, dict) else None
    if not isinstance(table, dict):
        raise InputError(
            f"{path}: the table [tool.riskrank] is missing",
            found="no settings for riskrank",
            hint=f"add [tool.riskrank], or write the settings into {CONFIG}",
        )
    return table


def _has_settings(path: str) -> bool:
    """Return True if a ``pyproject.toml`` contains settings for riskrank.

    Return False for an invalid file.
    """
    content = b""
    with suppress(InputError):
        content = _read_content(path)
        if b"tool.riskrank" in content or b"[tool]" in content:  # parsing is slow
            tool = _parse_config(path).get("tool")
            return isinstance(tool, dict) and "riskrank" in tool
    return b"[tool.riskrank" in content


def _parse_config(path: str) -> Mapping[str, Any]:
    """Parse a TOML file, raising InputError if it is invalid."""
    from riskrank.scores.files.guards import parse_toml

    try:
        return parse_toml(_read_content(path))
    except ValueError as error:
        raise InputError(
            f"{path}: the configuration is not valid TOML",
            found=str(error),
            hint="save it as UTF-8"
            if isinstance(error, UnicodeDecodeError)
            else 'write option = value, and a table per command: [rank], then top = 3; quote texts: "mean"',
        ) from None


def _read_content(path: str) -> bytes:
    """Return the bytes of a file, raising InputError if it is too large or cannot be read."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 (keeps a path with "..")
            content = file.read(MAX_BYTES + 1)
        if len(content) <= MAX_BYTES:
            return content
        problem, hint = f"more than {MAX_BYTES:,} bytes", "use a small TOML file"
    except FileNotFoundError:
        problem, hint = "no such file", f"check the path given to {option('config')}"
    except OSError as error:
        problem, hint = error.strerror or str(error), "use a readable TOML file"
    raise InputError(f"{path}: the configuration cannot be read", found=problem, hint=hint)


def refuse_unsafe_settings(settings: Mapping[str, Any], path: str) -> None:
    """Raise InputError for settings that only a file given by ``--config`` may contain.

    Users of a cloned repository may not have reviewed its configuration file.

    Raises
    ------
    InputError
        If a setting names a file to read or write or code to run, or lifts a limit.
    """
    tables = [settings, *(value for value in settings.values() if isinstance(value, dict))]
    entries = [entry for table in tables for entry in table.items()]
    machine = [text.split("=") for key, value in entries if key == "set" for text in as_texts(value)]
    for key, value in (*entries, *((key.strip(), "=".join(values).strip()) for key, *values in machine)):
        name = dashed(key)
        if name == "metrics-file":
            rule = "must be a file below the working directory"
            refused = any(map(_is_outside, as_texts(value)))
        else:
            rule = f"is allowed only in a file that {option('config')} names"
            refused = name in TRUSTED_ONLY or (name == "where" and any(map(_OPENS.search, as_texts(value))))
        if refused:
            raise InputError(
                f"{path}: '{key}' {rule}",
                found=as_toml(key, value),
                hint=f"if you trust this file, add {option('config', path)}; "
                f"{option('config', NO_FILE)} ignores it",
            )


def _is_outside(text: str) -> bool:
    """Return True if a path may lead out of the working directory.

    URLs, absolute paths, hidden paths, and links to such locations count as outside.
    """
    path = PurePath(text)
    inside = not (path.is_absolute() or ":" in text or any(part.startswith(".") for part in path.parts))
    return not inside or escaping_link(text) is not None


def section_name(path: str, name: str) -> str:
    """Return the name of a command's table in the configuration file."""
    return f"tool.riskrank.{name}" if Path(path).name == PROJECT else name


def as_texts(value: Any) -> list[str]:
    """Convert a value to command-line texts: one per list item, or NAME=VALUE per table entry."""
    if isinstance(value, dict):
        return [f"{name}={text}" for name, text in value.items()]
    return [str(text) for text in (value if isinstance(value, list) else [value])]


def dashed(key: str) -> str:
    """Replace the underscores of a key with dashes, as in its flag."""
    return key.replace("_", "-")


def as_toml(key: str, value: Any) -> str:
    """Return a setting as TOML for messages, truncated to 80 characters."""
    text = f"[{key}]" if isinstance(value, dict) else f"{key} = {value!r}"
    return text if len(text) <= 80 else text[:79] + "…"
