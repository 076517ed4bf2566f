"""Formats by their suffixes, files that patterns match, and a folder that is read as one table: its parts."""

import glob
import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path, PurePath
from urllib.parse import unquote

from riskrank.errors import InputError, listing, option
from riskrank.scores.files.guards import unreadable

# What to do about a folder that is no table.
FROM_HARNESS = f"if a harness wrote it, add {option('from', 'auto')}"

DATABASES = ("sqlite", "duckdb")
COMPRESSIONS = (".gz", ".zst")

SUFFIXES = {".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".parquet": "parquet", ".pq": "parquet"}
SUFFIXES |= {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".xlsx": "xlsx", ".xlsm": "xlsx"}
SUFFIXES |= {".sqlite": "sqlite", ".sqlite3": "sqlite", ".db": "sqlite"}
SUFFIXES |= {".duckdb": "duckdb", ".ddb": "duckdb"}
# Formats of a part; a database or workbook is a table of its own.
PART_FORMATS = tuple(kind for kind in dict.fromkeys(SUFFIXES.values()) if kind not in (*DATABASES, "xlsx"))
# How writers of partitioned tables name a value that is missing.
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
# Folders that links lead to: a link to a whole system would be walked through for hours.
_MOST_LINKED = 10_000
# Folders by which a table says which of its files still count; that takes its own library.
_IN_PARTS = "a table without a part of it would be another table"
_TABLES = {"_delta_log": "Delta Lake", ".hoodie": "Hudi"}


@dataclass(frozen=True, kw_only=True)
class Part:
    """One file of a folder.

    Attributes
    ----------
    path : str
        Below the folder as it was given.
    keys : dict of str to (str or None)
        Columns that folders name (``metric=acc``), folder by folder; None where a value is missing.
    """

    path: str
    keys: dict[str, str | None]


def parts_of(folder: str, input_format: str | None = None, left: list[str] | None = None) -> list[Part]:
    """The parts of a folder, in the order of their paths whatever the file system lists first.

    Parameters
    ----------
    folder : str
    input_format : str, optional
        Format of the parts; files of other suffixes are passed over.
    left : list of str, optional
        Gets the links that are not followed, as they lead to a folder that holds this one.

    Raises
    ------
    InputError
        If there are none, or of several formats, a folder is closed, or a key is there twice.
    """
    files = sorted(_files(folder, left), key=lambda path: PurePath(path).parts)
    kinds = {path: part_format(path) for path in files}
    if input_format is not None:
        # What bears no known suffix is of that format only where nothing else is.
        asked = [path for path in files if kinds[path] == input_format]
        kept = asked or [path for path in files if kinds[path] is None]
    else:
        kept = [path for path in files if kinds[path] is not None]
    require_one_format(folder, [input_format or str(kinds[path]) for path in kept])
    if not kept:
        found = f"{len(files):,} files of other kinds, such as {files[0]}" if files else "no files"
        hint = f"name a directory of {listing(PART_FORMATS)} files; {FROM_HARNESS}"
        raise InputError(f"{folder}: there is no score table in this directory", found=found, hint=hint)
    return [Part(path=path, keys=_keys(folder, path)) for path in kept]


def tables_below(folder: str) -> list[str]:
    """What may be a part below a folder, as far as it is open; links are followed, but never in circles."""
    return [one for one in matches(os.path.join(glob.escape(folder), "**")) if part_format(one) is not None]


def _files(folder: str, passed_over: list[str] | None) -> Iterator[str]:
    """Files below a folder but hidden ones."""
    for place, entries in folders_below(folder, _is_hidden, passed_over, all_open=True):
        for entry in entries:
            path = os.path.join(place, entry.name)
            if entry.name in _TABLES:
                raise InputError(
                    f"{place}: this is a table of {_TABLES[entry.name]}, whose log says which files count",
                    found=f"the directory {entry.name}",
                    hint="export it as Parquet, or read it with its own library and give the frame in Python",
                )
            if _is_hidden(entry.name) or entry.is_dir():
                continue
            if entry.is_file():
                yield path
            elif part_format(path) is not None:
                raise no_file(path, "directory")


def no_match(pattern: str, where: str) -> InputError:
    """Return the error of a pattern that matches no file."""
    hint = f"check {where}; quote the pattern if the shell expands it"
    return InputError(f"{pattern}: no file matches the pattern", found="0 files", hint=hint)


def no_file(path: str, whole: str) -> InputError:
    """Tell that what is called like a part of a whole is none: a pipe may be named, never met."""
    return InputError(
        f"{path}: this part of the {whole} is no file",
        found="a pipe, socket or device" if Path(path).exists() else "a link to nothing",
        hint=f"mend or remove it: {_IN_PARTS}",
    )


def _is_hidden(name: str) -> bool:
    """Whether a name is one of those that writers of tables give what is no data: ``_SUCCESS``, ``.crc``."""
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def require_one_format(folder: str, kinds: list[str]) -> None:
    """Refuse files of different formats, or of one that is a table of its own.

    Raises
    ------
    InputError
    """
    counts = Counter(kinds)
    if len(counts) > 1 or (counts and kinds[0] not in PART_FORMATS):
        fitting = [kind for kind, _ in counts.most_common() if kind in PART_FORMATS]
        choose = f"say which count: {option('input_format', fitting[0])}" if fitting else ""
        raise InputError(
            f"{folder}: the files in this directory are no parts of one table",
            found=listing(f"{count:,} of format {kind}" for kind, count in sorted(counts.items())),
            hint=choose or "name the files one by one",
        )


def _keys(folder: str, path: str) -> dict[str, str | None]:
    """Columns named by the folders between a folder and a file, and by those the folder itself ends in."""
    below = Path(path).relative_to(folder).parts[:-1]
    above = [*takewhile(lambda name: "=" in name, reversed(PurePath(folder).parts))]
    keys: dict[str, str | None] = {}
    for name in (*reversed(above), *below):
        key, equals, value = name.partition("=")
        key = _decoded(path, key).strip() if equals else ""
        if not key:
            continue
        text = None if value == NO_VALUE or not value else _decoded(path, value)
        if key in keys and keys[key] != text:
            raise InputError(
                f"{path}: two folders say different things about '{key}'",
                found=f"{key}={keys[key]} and {key}={text}",
                hint="rename one of the folders",
            )
        keys[key] = text
    return keys


def _decoded(path: str, text: str) -> str:
    """Text of a folder's name without the escapes of addresses."""
    try:
        found = unquote(text, errors="strict")
        found.encode()
    except UnicodeError:
        raise InputError(
            f"{path}: the name of a folder is no Unicode text",
            found=repr(text),
            hint="rename the folder: what it names is a column",
        ) from None
    return found


def told_by_suffixes(path: str) -> tuple[str | None, str | None]:
    """Format and compression of a file by its name, each None if it does not tell."""
    suffixes = [suffix.lower() for suffix in PurePath(path).suffixes]
    compression = suffixes.pop() if suffixes and suffixes[-1] in COMPRESSIONS else None
    return SUFFIXES.get(suffixes[-1]) if suffixes else None, compression


def part_format(path: str) -> str | None:
    """Format of a file by its suffix, None if no table is called like that."""
    return told_by_suffixes(path)[0]


def matches(pattern: str) -> list[str]:
    """The files and folders a pattern matches, sorted, each once.

    As :func:`glob.glob`, which would go round in a folder that links to itself until the system stops it.
    """
    before, deep, after = _split(pattern)
    if not deep:
        return sorted(glob.glob(pattern))
    found: dict[str, None] = {}
    for start in glob.glob(before) if before else [""]:
        for folder, entries in folders_below(start, _begins_with_dot):
            inside = [os.path.join(folder, one.name) for one in entries if not _begins_with_dot(one.name)]
            beside = [folder] if folder else []
            within = os.path.join(glob.escape(folder), after)
            found |= dict.fromkeys(matches(within) if after else beside + inside)
    return sorted(found)


def _split(pattern: str) -> tuple[str, bool, str]:
    """What stands before the first ``**``, whether there is one, and what stands after it."""
    parts = pattern.split(os.sep)
    if "**" not in parts:
        return pattern, False, ""
    at = parts.index("**")
    before = os.sep.join(parts[:at])
    return (before or os.sep if at else "", True, os.sep.join(parts[at + 1 :]))


def folders_below(
    folder: str,
    is_hidden: Callable[[str], bool],
    passed_over: list[str] | None = None,
    *,
    all_open: bool = False,
) -> Iterator[tuple[str, list[os.DirEntry[str]]]]:
    """A folder and all below it but hidden ones, each with what lies in it.

    One that lies within itself, by way of a link, is not entered again, nor one that holds them all.

    Parameters
    ----------
    folder : str
    is_hidden : callable
        Tells by the name of a folder whether it is passed over.
    passed_over : list of str, optional
        Gets the links to folders that hold this one.
    all_open : bool
        Whether a folder that cannot be read is refused, and not passed over.

    Raises
    ------
    InputError
        If links lead to more folders than any results have, or one cannot be read.
    """
    holders = {_identity(one) for one in Path(folder).resolve().parents}
    linked = 0
    waiting: list[tuple[str, tuple[tuple[int, int], ...], bool]] = [(folder, (), False)]
    while waiting:
        place, above, by_link = waiting.pop()
        linked += by_link
        if linked > _MOST_LINKED:
            raise InputError(
                f"{folder}: links in it lead to more than {_MOST_LINKED:,} folders",
                found=f"{place} is one of them",
                hint="remove the link, or name the files that count one by one",
            )
        try:
            here = _identity(place or os.curdir)
            if by_link and here in holders and passed_over is not None:
                passed_over.append(place)
            if here in above or (by_link and here in holders):
                continue
            with os.scandir(place or os.curdir) as found:
                entries = list(found)
            inside = [entry for entry in entries if not is_hidden(entry.name) and entry.is_dir()]
        except OSError as error:
            if all_open:
                hint = f"check its permissions: {_IN_PARTS}"
                raise unreadable(f"{place}: the directory", error, hint) from None
            continue
        yield place, entries
        waiting += (
            (os.path.join(place, one.name), (*above, here), by_link or one.is_symlink()) for one in inside
        )


def _identity(place: str | Path) -> tuple[int, int]:
    status = os.stat(place)
    return status.st_dev, status.st_ino


def _begins_with_dot(name: str) -> bool:
    return name.startswith(".")
