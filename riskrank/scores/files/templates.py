"""Patterns with names in braces, ``runs/{model}/{task}.csv``: what a path says becomes columns."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path, PurePath

from riskrank.errors import InputError, UsageError
from riskrank.scores.files.folders import (
    PART_FORMATS,
    Part,
    matches,
    no_file,
    part_format,
    require_one_format,
)

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
        raise InputError(
            f"{template}: {path} can be read in two ways",
            found=" and ".join(", ".join(reading) for reading in readings),
            hint="rename the files, or write * for what says nothing: between two names belongs a sign that "
            "neither holds",
        )
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
