"""What a path stands for: a file, a pattern, one with names in braces, or either with a name for models."""

import glob
import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path, PurePath

from riskrank.errors import InputError, UsageError
from riskrank.scores.files.folders import (
    PART_FORMATS,
    Part,
    matches,
    no_file,
    no_match,
    part_format,
    require_one_format,
    tables_below,
)
from riskrank.scores.files.json_objects import is_half
from riskrank.scores.files.object_stores import expand_url
from riskrank.scores.files.source import is_url

_PIECE = re.compile(r"\{([^{}/]+)\}|\*\*/|\*|\?")
_ENDING = re.compile(r"\.[^./]+(\.gz|\.zst)?$")


def is_template(text: str) -> bool:
    """Whether a path has names in braces."""
    return any(match[1] for match in _PIECE.finditer(text))


def template_files(template: str) -> list[str]:
    """Files that a pattern matches whatever its names are, sorted, those that may be score tables."""
    pattern = _written(template, literal=lambda text: text.replace("[", "[[]"), name="*")
    return [path for path in matches(pattern) if part_format(path) is not None]


def parts_by_name(template: str) -> list[Part]:
    """The files behind a template as parts of one table, with the columns its names are.

    Raises
    ------
    InputError
        If a path could be read in two ways, the files are of several formats, or one is no file.
    UsageError
        If one name is there twice.
    """
    names = [match[1] for match in _PIECE.finditer(template) if match[1]]
    if len(set(names)) < len(names):
        raise UsageError(
            f"{template}: one name is there twice",
            found=f"{{{next(name for name in names if names.count(name) > 1)}}}",
            hint="give each part of the path a name of its own, or write * for what says nothing",
        )
    files = template_files(template)
    strange = next((path for path in files if not (Path(path).is_file() or Path(path).is_dir())), None)
    if strange is not None:
        raise no_file(strange, "pattern")
    require_one_format(template, [str(part_format(path)) for path in files])
    return [Part(path=path, keys=dict(zip(names, _values(template, path), strict=True))) for path in files]


def template_of(files: Sequence[str], names: Sequence[str]) -> str | None:
    """The template of files whose paths differ in as many places as there are names, outermost first.

    None if the paths differ otherwise, or the template would match other files too.
    """
    split = [_split(path) for path in files]
    if len(differing(files)) != len(names) or part_format(files[0]) not in PART_FORMATS:
        return None
    told = iter(names)
    columns = zip(*(parts for parts, _ in split), strict=True)
    pieces = [column[0] if len(set(column)) == 1 else next(told) for column in columns]
    template = str(PurePath(*pieces)) + split[0][1]
    return template if template_files(template) == sorted(files) else None


def differing(files: Sequence[str]) -> list[tuple[str, ...]]:
    """What every path says in the places where the paths differ, outermost first; nothing of unlike paths."""
    split = [_split(path) for path in files]
    if len({(len(parts), ending) for parts, ending in split}) != 1:
        return []
    columns = zip(*(parts for parts, _ in split), strict=True)
    return [column for column in columns if len(set(column)) > 1]


def _split(path: str) -> tuple[tuple[str, ...], str]:
    """Parts of a path, and the ending of its file, which says nothing but the format."""
    ending = _ENDING.search(path)
    at = ending.start() if ending and part_format(path) else len(path)
    return PurePath(path[:at]).parts, path[at:]


def _values(template: str, path: str) -> list[str]:
    """What a path says in the place of every name."""
    readings = []
    for name in ("([^/]+?)", "([^/]+)"):
        match = re.fullmatch(_written(template, literal=re.escape, name=name), path)
        readings.append(list(match.groups()) if match else [])
    if readings[0] != readings[1]:
        found = " and ".join(", ".join(reading) for reading in readings)
        between = "between two names belongs a sign that neither holds"
        hint = f"rename the files, or write * for what says nothing: {between}"
        raise InputError(f"{template}: {path} can be read in two ways", found=found, hint=hint)
    return readings[0]


def _written(template: str, *, literal: Callable[[str], str], name: str) -> str:
    """A template as a glob pattern or a regular expression, by how text and names are written there."""
    as_regex = literal is re.escape
    signs = {"**/": "(?:.*/)?", "*": "[^/]*", "?": "[^/]"}
    written, at = "", 0
    for match in _PIECE.finditer(template):
        sign = match[0] if match[1] is None else name
        written += literal(template[at : match.start()]) + (signs.get(sign, sign) if as_regex else sign)
        at = match.end()
    return written + literal(template[at:])


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
    raise no_match(path, "the directory and the suffix")


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
    if is_half(text):
        raise UsageError(
            "the name given to the models of a file is no Unicode text",
            found=repr(text),
            hint="write it in UTF-8",
        )
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
