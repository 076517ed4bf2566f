"""Interpretation of input paths: labels, suffixes, patterns, templates in braces, and folders of parts."""

import glob
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path, PurePath
from urllib.parse import unquote, urlsplit

from riskrank.errors import InputError, UsageError, listing, option
from riskrank.scores.files.contents import connect_store
from riskrank.scores.files.guards import HARNESS_HINT, unreadable_error
from riskrank.scores.files.parsing import has_surrogate
from riskrank.scores.files.source import is_url

STANDARD_INPUT, STDIN = "-", "/dev/stdin"
DATABASES = ("sqlite", "duckdb")
# Suffixes of the log files of a database, which may contain rows.
LOGS = ("-wal", "-shm", "-journal", ".wal")
COMPRESSIONS = (".gz", ".zst")

SUFFIXES = {".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".parquet": "parquet", ".pq": "parquet"}
SUFFIXES |= {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".xlsx": "xlsx", ".xlsm": "xlsx"}
SUFFIXES |= {".sqlite": "sqlite", ".sqlite3": "sqlite", ".db": "sqlite"}
SUFFIXES |= {".duckdb": "duckdb", ".ddb": "duckdb", ".npy": "npy", ".npz": "npy"}
SUFFIXES |= dict.fromkeys((".arrow", ".feather", ".ipc"), "arrow")
# Formats allowed for parts; databases and workbooks are tables by themselves.
PART_FORMATS = tuple(kind for kind in dict.fromkeys(SUFFIXES.values()) if kind not in (*DATABASES, "xlsx"))
# Folder name that represents a missing value in partitioned tables.
HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"
# Maximum number of folders reached by links; a link to the root would take hours.
_MAX_LINKED = 10_000
_PART_HINT = "without this file the table would be incomplete"
# Log folders of table formats that need their own library to find the valid files.
_TABLE_LOGS = {"_delta_log": "Delta Lake", ".hoodie": "Hudi"}
# Parts of a template: names in braces and wildcards.
_PIECE = re.compile(r"\{([^{}/]+)\}|\*\*/|\*|\?")
_ENDING = re.compile(r"\.[^./]+(\.gz|\.zst)?$")


@dataclass(frozen=True, kw_only=True)
class Part:
    """One of several files that together are a table.

    Attributes
    ----------
    path : str
        Path of the file, beginning with the folder as given by the user.
    keys : dict of str to (str or None)
        Columns from folder names (``metric=acc``), outermost first; None for a missing value.
    """

    path: str
    keys: dict[str, str | None]


def list_parts(folder: str, input_format: str | None = None, skipped: list[str] | None = None) -> list[Part]:
    """Return the parts of a folder, sorted by path.

    Parameters
    ----------
    folder : str
        Path of the folder.
    input_format : str, optional
        Format of the parts; files of other formats are ignored.
    skipped : list of str, optional
        List to which links to parent folders are appended; these links are not followed.

    Raises
    ------
    InputError
        If there are no parts, the parts have different formats, a folder is unreadable, or folder names
        contradict each other.
    """
    files = sorted(_visible_files(folder, skipped), key=lambda path: PurePath(path).parts)
    kinds = {path: part_format(path) for path in files}
    if input_format is not None:
        # Files without a known suffix are read only if no file has the requested format.
        matching = [path for path in files if kinds[path] == input_format]
        selected = matching or [path for path in files if kinds[path] is None]
    else:
        selected = [path for path in files if kinds[path] is not None]
    require_one_format(folder, [input_format or str(kinds[path]) for path in selected])
    if not selected:
        detail = f"{len(files):,} files of other formats, such as {files[0]}" if files else "no files"
        hint = f"name a directory of {listing(PART_FORMATS)} files; {HARNESS_HINT}"
        raise InputError(f"{folder}: there is no score table in this directory", found=detail, hint=hint)
    return [Part(path=path, keys=_folder_keys(folder, path)) for path in selected]


def find_tables(folder: str) -> list[str]:
    """Return the files below a folder that may be tables.

    Unreadable folders and cyclic links are ignored.
    """
    return [path for path in expand_glob(os.path.join(glob.escape(folder), "**")) if part_format(path)]


def _visible_files(folder: str, skipped: list[str] | None) -> Iterator[str]:
    """Yield the files below a folder that are not hidden.

    Links that are not followed are appended to `skipped`.

    Raises
    ------
    InputError
        If the folder contains a table of Delta Lake or Hudi, or an entry such as a pipe that is not a file.
    """
    for top, entries in walk_folders(folder, _is_hidden, skipped, strict=True):
        for entry in entries:
            path = os.path.join(top, entry.name)
            if kind := _TABLE_LOGS.get(entry.name):
                problem = f"{top}: this is a {kind} table, which must be read through its log"
                hint = "export it as Parquet, or read it with its library and pass the frame in Python"
                raise InputError(problem, found=f"the directory {entry.name}", hint=hint)
            if _is_hidden(entry.name) or entry.is_dir():
                continue
            if entry.is_file():
                yield path
            elif part_format(path) is not None:
                raise not_a_file_error(path, "directory")


def no_match_error(pattern: str, advice: str) -> InputError:
    """Return the error for a pattern that no file matches.

    `advice` names what to check, such as the directory.
    """
    hint = f"check {advice}; quote the pattern if the shell expands it"
    return InputError(f"{pattern}: no file matches the pattern", found="0 files", hint=hint)


def not_a_file_error(path: str, container: str) -> InputError:
    """Return the error for an entry of a folder or pattern that is not a regular file.

    It is a pipe, a device or a broken link. `container` is the noun for what contains it.
    """
    problem = f"{path}: this entry of the {container} is not a file"
    detail = "a pipe, socket or device" if Path(path).exists() else "a broken link"
    return InputError(problem, found=detail, hint=f"fix or remove it: {_PART_HINT}")


def _is_hidden(name: str) -> bool:
    """Return True for names of hidden files and folders.

    Examples are ``_SUCCESS`` and ``.crc``, which table writers create.
    """
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def require_one_format(folder: str, kinds: list[str]) -> None:
    """Raise InputError unless all files have the same format, and tables can be split in it.

    `kinds` holds the format of each file, and `folder` names them in the message.
    """
    counts = Counter(kinds)
    if len(counts) > 1 or (counts and kinds[0] not in PART_FORMATS):
        readable = [kind for kind, _ in counts.most_common() if kind in PART_FORMATS]
        choose = f"select one format: {option('input_format', readable[0])}" if readable else ""
        problem = f"{folder}: the files in this directory have different formats"
        detail = listing(f"{count:,} of format {kind}" for kind, count in sorted(counts.items()))
        raise InputError(problem, found=detail, hint=choose or "list the files to read")


def _folder_keys(folder: str, path: str) -> dict[str, str | None]:
    """Return the column values, by column, that folder names such as ``metric=acc`` define for a file.

    Folder names in the last components of `folder` are included.

    Raises
    ------
    InputError
        If two folders give different values, or a name is not valid Unicode.
    """
    below = Path(path).relative_to(folder).parts[:-1]
    above = [*takewhile(lambda name: "=" in name, reversed(PurePath(folder).parts))]
    keys: dict[str, str | None] = {}
    for name in (*reversed(above), *below):
        key, equals, value = name.partition("=")
        key = _unquote(path, key).strip() if equals else ""
        if not key:
            continue
        text = None if value == HIVE_NULL or not value else _unquote(path, value)
        if key in keys and keys[key] != text:
            problem = f"{path}: two folders in the path give different values of '{key}'"
            detail = f"{key}={keys[key]} and {key}={text}"
            raise InputError(problem, found=detail, hint="rename one of the folders")
        keys[key] = text
    return keys


def _unquote(path: str, text: str) -> str:
    """Return the percent-decoded text of a folder name.

    Raise InputError if it is not valid Unicode. `path` is the path in the message.
    """
    try:
        decoded = unquote(text, errors="strict")
        decoded.encode()
    except UnicodeError:
        problem = f"{path}: the name of a folder is not valid Unicode"
        hint = "rename the folder, as its name is read as a column"
        raise InputError(problem, found=repr(text), hint=hint) from None
    return decoded


def split_suffixes(path: str) -> tuple[str | None, str | None]:
    """Return the format and the compression that a file name implies; each is None if unknown."""
    suffixes = [suffix.lower() for suffix in PurePath(path).suffixes]
    compression = suffixes.pop() if suffixes and suffixes[-1] in COMPRESSIONS else None
    return SUFFIXES.get(suffixes[-1]) if suffixes else None, compression


def part_format(path: str) -> str | None:
    """Return the format that the suffix of a file implies, or None if the suffix is unknown."""
    return split_suffixes(path)[0]


def expand_glob(pattern: str) -> list[str]:
    """Return the files and folders that match a pattern, sorted and without duplicates.

    Unlike :func:`glob.glob`, it does not follow cyclic links.
    """
    parts = pattern.split(os.sep)
    if "**" not in parts:
        return sorted(glob.glob(pattern))
    deep = parts.index("**")
    before, after = os.sep.join(parts[:deep]), os.sep.join(parts[deep + 1 :])
    paths: dict[str, None] = {}
    for start in glob.glob(before or os.sep) if deep else [""]:
        for folder, entries in walk_folders(start, lambda name: name.startswith(".")):
            visible = (entry.name for entry in entries if not entry.name.startswith("."))
            children = [os.path.join(folder, name) for name in visible]
            own = [folder] if folder else []
            rest = os.path.join(glob.escape(folder), after)
            paths |= dict.fromkeys(expand_glob(rest) if after else own + children)
    return sorted(paths)


def walk_folders(
    folder: str, is_hidden: Callable[[str], bool], skipped: list[str] | None = None, *, strict: bool = False
) -> Iterator[tuple[str, list[os.DirEntry[str]]]]:
    """Yield a folder and all visible folders below it, each with its entries.

    Cyclic links and links to parent folders are not followed.

    Parameters
    ----------
    folder : str
    is_hidden : callable
        Returns True for the names of folders to skip.
    skipped : list of str, optional
        List to which links to parent folders are appended.
    strict : bool
        Whether to raise an error for unreadable folders instead of skipping them.

    Raises
    ------
    InputError
        If links lead to too many folders, or a folder is unreadable in strict mode.
    """
    ancestors = {_file_id(child) for child in Path(folder).resolve().parents}
    n_linked = 0
    stack: list[tuple[str, tuple[tuple[int, int], ...], bool]] = [(folder, (), False)]
    while stack:
        directory, parents, by_link = stack.pop()
        n_linked += by_link
        if n_linked > _MAX_LINKED:
            problem = f"{folder}: its links lead to more than {_MAX_LINKED:,} folders"
            hint = "remove the link, or list the files to read"
            raise InputError(problem, found=f"{directory} is one of them", hint=hint)
        try:
            file_id = _file_id(directory or os.curdir)
            if by_link and file_id in ancestors and skipped is not None:
                skipped.append(directory)
            if file_id in parents or (by_link and file_id in ancestors):
                continue
            with os.scandir(directory or os.curdir) as scan:
                entries = list(scan)
            children = [entry for entry in entries if not is_hidden(entry.name) and entry.is_dir()]
        except OSError as error:
            if strict:
                hint = f"check its permissions: {_PART_HINT}"
                raise unreadable_error(f"{directory}: the directory", error, hint) from None
            continue
        yield directory, entries
        for child in children:
            is_link = by_link or child.is_symlink()
            stack.append((os.path.join(directory, child.name), (*parents, file_id), is_link))


def _file_id(path: str | Path) -> tuple[int, int]:
    """Return the device and inode numbers that identify a file."""
    status = os.stat(path)
    return status.st_dev, status.st_ino


def is_template(text: str) -> bool:
    """Return True if a path contains names in braces, as in ``runs/{model}.csv``."""
    return any(match[1] for match in _PIECE.finditer(text))


def template_files(template: str) -> list[str]:
    """Return the sorted files that match a path template and have the suffix of a known format."""
    pattern = _to_pattern(template, literal=lambda text: text.replace("[", "[[]"), name="*")
    return [path for path in expand_glob(pattern) if part_format(path) is not None]


def template_parts(template: str) -> list[Part]:
    """Return the files that match a path template such as ``runs/{model}.csv`` as parts of one table.

    The names in braces become columns.

    Raises
    ------
    InputError
        If a path matches in two ways, the files have several formats, or a match is not a file.
    UsageError
        If a name occurs twice in the template.
    """
    names = [match[1] for match in _PIECE.finditer(template) if match[1]]
    if repeated := [name for name in names if names.count(name) > 1]:
        hint = "use different names, or write * for parts without meaning"
        raise UsageError(f"{template}: a name in braces occurs twice", found=f"{{{repeated[0]}}}", hint=hint)
    files = template_files(template)
    special = next((path for path in files if not (Path(path).is_file() or Path(path).is_dir())), None)
    if special is not None:
        raise not_a_file_error(special, "pattern")
    require_one_format(template, [str(part_format(path)) for path in files])
    return [Part(path=path, keys=dict(zip(names, _match(template, path), strict=True))) for path in files]


def infer_template(files: Sequence[str], names: Sequence[str]) -> str | None:
    """Return a path template such as ``runs/{model}.csv`` that matches exactly the given paths, or None.

    There is a template only if the paths differ in as many components as there are names.

    Parameters
    ----------
    files : sequence of str
        Paths without duplicates.
    names : sequence of str
        Names in braces, assigned to the differing components from the outermost to the innermost.
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
    """Return the path components in which files differ, as one tuple per position.

    A tuple has one component per file. The list is empty if the paths differ in depth.
    """
    split_paths = [_split_ending(path) for path in files]
    if len({(len(parts), ending) for parts, ending in split_paths}) != 1:
        return []
    columns = zip(*(parts for parts, _ in split_paths), strict=True)
    return [column for column in columns if len(set(column)) > 1]


def _split_ending(path: str) -> tuple[tuple[str, ...], str]:
    """Split a path into its components without suffix, and the suffix.

    The suffix is empty unless it belongs to a known format.
    """
    ending = _ENDING.search(path)
    i = ending.start() if ending and part_format(path) else len(path)
    return PurePath(path[:i]).parts, path[i:]


def _match(template: str, path: str) -> list[str]:
    """Return the part of a path that each name in braces of a template stands for.

    Raises
    ------
    InputError
        If the path matches the template in two ways.
    """
    readings = []
    for name in ("([^/]+?)", "([^/]+)"):
        match = re.fullmatch(_to_pattern(template, literal=re.escape, name=name), path)
        readings.append(list(match.groups()) if match else [])
    if readings[0] != readings[1]:
        readings_text = " and ".join(", ".join(reading) for reading in readings)
        advice = "separate the two names by a character that occurs in neither"
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
    signs = {"**/": "(?:.*/)?", "*": "[^/]*", "?": "[^/]"} if literal is re.escape else {}
    pattern, start = "", 0
    for match in _PIECE.finditer(template):
        sign = match[0] if match[1] is None else name
        pattern += literal(template[start : match.start()]) + signs.get(sign, sign)
        start = match.end()
    return pattern + literal(template[start:])


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
    UsageError
        If a label is not valid Unicode.
    """
    paths = _matching_files(text, folders)
    if paths:
        return [(None, path) for path in paths]
    positions = [i for i, char in enumerate(text) if char == "=" and text[:i].strip() and text[i + 1 :]]
    for i in positions:
        labelled = _matching_files(text[i + 1 :], folders)
        if labelled and has_surrogate(label := text[:i].strip()):
            problem = "the model name given for a file is not valid Unicode"
            raise UsageError(problem, found=repr(label), hint="write the name in UTF-8")
        if labelled:
            return [(label, path) for path in labelled]
    # No file exists: a label with a slash is more likely the beginning of a path.
    path = text[positions[0] + 1 :] if positions and "/" not in text[: positions[0]] else text
    if not glob.has_magic(path) and not is_template(path):
        return [(None, path)]
    raise no_match_error(path, "the directory and the suffix")


def _matching_files(text: str, folders: bool) -> list[str]:
    """Return the files that a path, URL, pattern or template denotes; empty if there are none.

    With `folders`, patterns also match folders, and templates are not expanded.
    """
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
    return path != STANDARD_INPUT and not is_url(path) and os.path.isdir(path)


def exists(path: str) -> bool:
    """Return True if a path is valid and exists locally."""
    return os.path.exists(path)


def candidate_files(inputs: Iterable[str]) -> list[str]:
    """Return every existing or possible file and folder that some input arguments may denote.

    Patterns are expanded, files below folders are included, and so are log files of databases.
    """
    names: dict[str, None] = {}
    for name in (name for text in inputs for name in possible_paths(text)):
        names |= dict.fromkeys([name, *expand_pattern(name)])
    for name in [name for name in names if is_folder(name)]:
        names |= dict.fromkeys(find_tables(name))
    real = {name: os.path.realpath(name) for name in names if exists(name)}
    logs = [f"{base}{suffix}" for name in names for base in {name, real.get(name, name)} for suffix in LOGS]
    return list(dict.fromkeys([*names, *logs]))


def possible_paths(text: str) -> list[str]:
    """Return the paths that an input argument may denote.

    They are the whole text and, if it contains ``=``, the text after a label.
    """
    parts = text.split("=")
    names = ("=".join(parts[i:]).removeprefix("file://") for i in range(len(parts)))
    return [STDIN if name == STANDARD_INPUT else name for name in names if name]


def expand_pattern(name: str) -> list[str]:
    """Return the files and folders that match a glob pattern or path template; empty for any other text."""
    paths = expand_glob(name) if glob.has_magic(name) and not is_url(name) else []
    return paths + (template_files(name) if is_template(name) else [])


def expand_url(url: str) -> list[str]:
    """Return the URLs that match a pattern, sorted; a URL without a pattern is returned unchanged.

    Raises
    ------
    InputError
        If nothing matches, or the store cannot be reached.
    """
    scheme = urlsplit(url).scheme
    if scheme in ("http", "https") or not glob.has_magic(url):
        return [url]
    with connect_store(url) as store:
        entries = store.glob(url, detail=True)
        paths = sorted(str(path) for path, entry in entries.items() if entry.get("type") == "file")
    if not paths:
        raise no_match_error(url, "bucket and folder")
    return [path if is_url(path) else f"{scheme}://{path.removeprefix('/')}" for path in paths]
