"""Interpretation of input paths: files, glob patterns, templates with names in braces, and model labels."""

import glob
import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path, PurePath

from riskrank.errors import InputError, UsageError
from riskrank.scores.files.folders import (
    PART_FORMATS,
    Part,
    expand_glob,
    find_tables,
    no_match_error,
    not_a_file_error,
    part_format,
    require_one_format,
)
from riskrank.scores.files.json_objects import has_surrogate
from riskrank.scores.files.object_stores import expand_url
from riskrank.scores.files.source import is_url

_PIECE = re.compile(r"\{([^{}/]+)\}|\*\*/|\*|\?")
_ENDING = re.compile(r"\.[^./]+(\.gz|\.zst)?$")


def is_template(text: str) -> bool:
    """Return True if a path contains names in braces."""
    return any(match[1] for match in _PIECE.finditer(text))


def template_files(template: str) -> list[str]:
    """Return the files that match a template and may be score tables, sorted."""
    pattern = _to_pattern(template, literal=lambda text: text.replace("[", "[[]"), name="*")
    return [path for path in expand_glob(pattern) if part_format(path) is not None]


def template_parts(template: str) -> list[Part]:
    """Return the files that match a template as parts of one table, with columns named in the template.

    Raises
    ------
    InputError
        If a path matches in two ways, the files have several formats, or a match is not a file.
    UsageError
        If a name occurs twice in the template.
    """
    names = [match[1] for match in _PIECE.finditer(template) if match[1]]
    if len(set(names)) < len(names):
        raise UsageError(
            f"{template}: a name occurs twice",
            found=f"{{{next(name for name in names if names.count(name) > 1)}}}",
            hint="use different names, or write * for parts without meaning",
        )
    files = template_files(template)
    special = next((path for path in files if not (Path(path).is_file() or Path(path).is_dir())), None)
    if special is not None:
        raise not_a_file_error(special, "pattern")
    require_one_format(template, [str(part_format(path)) for path in files])
    return [Part(path=path, keys=dict(zip(names, _match(template, path), strict=True))) for path in files]


def infer_template(files: Sequence[str], names: Sequence[str]) -> str | None:
    """Return a template for paths that differ in exactly one component per name.

    Names are assigned to the components from the outermost to the innermost. Return None if the paths differ
    in other ways, or if the template would match further files.

    Parameters
    ----------
    files : sequence of str
    names : sequence of str
    """
    split_paths = [_split_ending(path) for path in files]
    if len(differing_parts(files)) != len(names) or part_format(files[0]) not in PART_FORMATS:
        return None
    name_iter = iter(names)
    columns = zip(*(parts for parts, _ in split_paths), strict=True)
    pieces = [column[0] if len(set(column)) == 1 else next(name_iter) for column in columns]
    template = str(PurePath(*pieces)) + split_paths[0][1]
    return template if template_files(template) == sorted(files) else None


def differing_parts(files: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the path components that differ, as one tuple per position.

    The list is empty if the paths differ in depth.
    """
    split_paths = [_split_ending(path) for path in files]
    if len({(len(parts), ending) for parts, ending in split_paths}) != 1:
        return []
    columns = zip(*(parts for parts, _ in split_paths), strict=True)
    return [column for column in columns if len(set(column)) > 1]


def _split_ending(path: str) -> tuple[tuple[str, ...], str]:
    """Return the components of a path without its suffix, and the suffix if it belongs to a known format."""
    ending = _ENDING.search(path)
    i = ending.start() if ending and part_format(path) else len(path)
    return PurePath(path[:i]).parts, path[i:]


def _match(template: str, path: str) -> list[str]:
    """Return the part of a path that corresponds to each name in a template."""
    readings = []
    for name in ("([^/]+?)", "([^/]+)"):
        match = re.fullmatch(_to_pattern(template, literal=re.escape, name=name), path)
        readings.append(list(match.groups()) if match else [])
    if readings[0] != readings[1]:
        readings_text = " and ".join(", ".join(reading) for reading in readings)
        advice = "separate two names by a character that neither contains"
        hint = f"rename the files, or write * for parts without meaning; {advice}"
        raise InputError(f"{template}: {path} matches in two ways", found=readings_text, hint=hint)
    return readings[0]


def _to_pattern(template: str, *, literal: Callable[[str], str], name: str) -> str:
    """Convert a template to a glob pattern or regular expression.

    Parameters
    ----------
    template : str
    literal : callable
        Function that escapes literal text; `re.escape` selects a regular expression.
    name : str
        Pattern to substitute for each name in braces.
    """
    as_regex = literal is re.escape
    signs = {"**/": "(?:.*/)?", "*": "[^/]*", "?": "[^/]"}
    pattern, start = "", 0
    for match in _PIECE.finditer(template):
        sign = match[0] if match[1] is None else name
        pattern += literal(template[start : match.start()]) + (signs.get(sign, sign) if as_regex else sign)
        start = match.end()
    return pattern + literal(template[start:])


STANDARD_INPUT, STDIN = "-", "/dev/stdin"

# Suffixes of the log files of a database, which may contain rows.
LOGS = ("-wal", "-shm", "-journal", ".wal")


def labelled_paths(text: str, *, folders: bool = False) -> list[tuple[str | None, str]]:
    """Return the label and path of every file that an input argument denotes.

    Templates are not expanded. An existing file with ``=`` in its name takes precedence over a label.
    Otherwise, the label is the shortest one for which the rest of the text is an existing file.

    Parameters
    ----------
    text : str
        Path, pattern or ``LABEL=PATH``.
    folders : bool
        Whether patterns also match folders.

    Raises
    ------
    InputError
        If a pattern does not match any file.
    """
    paths = _matching_files(text, folders)
    if paths:
        return [(None, path) for path in paths]
    positions = [i for i, char in enumerate(text) if char == "=" and text[:i].strip() and text[i + 1 :]]
    for i in positions:
        labelled = _matching_files(text[i + 1 :], folders)
        if labelled:
            return [(_check_label(text[:i].strip()), path) for path in labelled]
    # No file exists: a label with a slash is more likely the beginning of a path.
    path = text[positions[0] + 1 :] if positions and "/" not in text[: positions[0]] else text
    if not glob.has_magic(path) and not is_template(path):
        return [(None, path)]
    raise no_match_error(path, "the directory and the suffix")


def _matching_files(text: str, folders: bool) -> list[str]:
    """Return the files that a path, URL, pattern or template denotes, or none if there are none."""
    if is_url(text):
        return expand_url(text)
    if text == STANDARD_INPUT or exists(text):
        return [text]
    if is_template(text) and not folders:
        return [text] if template_files(text) else []
    if not glob.has_magic(text):
        return []
    paths = expand_glob(text)
    # Patterns do not match pipes, which would block. They match folders, such as ``runs/metric=*``, only
    # if there are no files.
    files = [path for path in paths if Path(path).is_file() or (folders and Path(path).is_dir())]
    return files or [path for path in paths if Path(path).is_dir()]


def is_folder(path: str) -> bool:
    """Return True if a path is a local folder."""
    return path != STANDARD_INPUT and not is_url(path) and os.path.isdir(path)  # noqa: PTH112 (of any text)


def exists(path: str) -> bool:
    """Return True if a path is valid and exists locally."""
    return os.path.exists(path)  # noqa: PTH110 (of any text)


def _check_label(text: str) -> str:
    """Return a model label unchanged; raise UsageError if it is not valid Unicode."""
    if has_surrogate(text):
        raise UsageError(
            "the model name given for a file is not valid Unicode",
            found=repr(text),
            hint="write the name in UTF-8",
        )
    return text


def candidate_files(inputs: Iterable[str]) -> list[str]:
    """Return every file or folder that inputs may denote, with labels removed and patterns expanded."""
    names: dict[str, None] = {}
    for name in (name for text in inputs for name in possible_paths(text)):
        names |= dict.fromkeys([name, *expand_pattern(name)])
    for name in [name for name in names if is_folder(name)]:
        names |= dict.fromkeys(find_tables(name))
    real = {name: os.path.realpath(name) for name in names if exists(name)}
    logs = [f"{base}{suffix}" for name in names for base in {name, real.get(name, name)} for suffix in LOGS]
    return list(dict.fromkeys([*names, *logs]))


def possible_paths(text: str) -> list[str]:
    """Return the possible paths in an input argument: the whole text, and the text after a label."""
    parts = text.split("=")
    names = ("=".join(parts[i:]).removeprefix("file://") for i in range(len(parts)))
    return [STDIN if name == STANDARD_INPUT else name for name in names if name]


def expand_pattern(name: str) -> list[str]:
    """Return the files and folders that match a pattern, or none if the text is not a pattern."""
    paths = expand_glob(name) if glob.has_magic(name) and not is_url(name) else []
    return paths + (template_files(name) if is_template(name) else [])
