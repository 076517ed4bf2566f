"""What a path on the command line stands for: a file, a pattern, or either with a name for its models."""

import glob
import os
from collections.abc import Iterable
from pathlib import Path

from riskrank.errors import InputError, UsageError
from riskrank.scores.files.folders import matches, tables_below
from riskrank.scores.files.object_stores import expand_url, is_url
from riskrank.scores.files.templates import is_template, template_files

STANDARD_INPUT, STDIN = "-", "/dev/stdin"

# What a database keeps beside itself: rows may lie there alone.
LOGS = ("-wal", "-shm", "-journal", ".wal")


def labelled_paths(text: str, *, folders: bool = False) -> list[tuple[str | None, str]]:
    """Label and path of every file behind a path, a pattern or ``LABEL=PATH``; a template stays as it is.

    A file whose own name holds a ``=`` goes first; the label is as short as the files there are allow.

    Parameters
    ----------
    text : str
    folders : bool
        Whether patterns match folders too.

    Raises
    ------
    InputError
        If a pattern matches no file.
    """
    whole = _files(text, folders)
    if whole:
        return [(None, path) for path in whole]
    places = [at for at, sign in enumerate(text) if sign == "=" and text[:at].strip() and text[at + 1 :]]
    for at in places:
        found = _files(text[at + 1 :], folders)
        if found:
            return [(_label(text[:at].strip()), path) for path in found]
    # Nothing is there: a label that looks like a folder is more likely the beginning of a path.
    path = text[places[0] + 1 :] if places and "/" not in text[: places[0]] else text
    if not glob.has_magic(path) and not is_template(path):
        return [(None, path)]
    raise InputError(
        f"{path}: no file matches the pattern",
        found="0 files",
        hint="check the directory and the suffix; quote the pattern if the shell expands it",
    )


def _files(text: str, folders: bool) -> list[str]:
    if is_url(text):
        return expand_url(text)
    if text == STANDARD_INPUT or exists(text):
        return [text]
    if is_template(text) and not folders:
        return [text] if template_files(text) else []
    if not glob.has_magic(text):
        return []
    found = matches(text)
    # A pipe may be named, never met: it would be waited for. A pattern of partitions, ``runs/metric=*``,
    # means folders; beside files a folder is not meant.
    files = [path for path in found if Path(path).is_file() or (folders and Path(path).is_dir())]
    return files or [path for path in found if Path(path).is_dir()]


def is_folder(path: str) -> bool:
    """Whether a path is that of a folder on this machine."""
    return path != STANDARD_INPUT and not is_url(path) and os.path.isdir(path)  # noqa: PTH112 (of any text)


def exists(path: str) -> bool:
    """Whether there is something at a path; at one no system can have, there is nothing."""
    return os.path.exists(path)  # noqa: PTH110 (of any text)


def _label(text: str) -> str:
    """Refuse a name for models that no table can hold: what the shell handed on was not UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UsageError(
            "the name given to the models of a file is no Unicode text",
            found=repr(text),
            hint="write it in UTF-8",
        ) from None
    return text


def named_files(inputs: Iterable[str]) -> list[str]:
    """Every file or folder that inputs could mean, with and without a label, and those of patterns."""
    found: dict[str, None] = {}
    for name in (name for text in inputs for name in possible_names(text)):
        found |= dict.fromkeys([name, *matched(name)])
    for name in [name for name in found if is_folder(name)]:
        found |= dict.fromkeys(tables_below(name))
    real = {name: os.path.realpath(name) for name in found if exists(name)}
    logs = [f"{base}{end}" for name in found for base in {name, real.get(name, name)} for end in LOGS]
    return list(dict.fromkeys([*found, *logs]))


def possible_names(text: str) -> list[str]:
    """What an input could be called, patterns as they are: all of it, or what stands behind a label."""
    parts = text.split("=")
    names = ("=".join(parts[at:]).removeprefix("file://") for at in range(len(parts)))
    return [STDIN if name == STANDARD_INPUT else name for name in names if name]


def matched(name: str) -> list[str]:
    """The files and folders a pattern matches; none where a name is no pattern."""
    found = matches(name) if glob.has_magic(name) and not is_url(name) else []
    return found + (template_files(name) if is_template(name) else [])
