"""Inputs in the order they are given: a file or a pipe becomes a source, told by its name and first bytes.

The reader of a kind of file is loaded for the first one of that kind.
"""

import hashlib
from pathlib import Path
from typing import BinaryIO

from riskrank.errors import InputError, UsageError, listing, option
from riskrank.options.reading import FORMATS
from riskrank.options.values import out_of_place
from riskrank.scores.files.bounded import decompressed
from riskrank.scores.files.contents import read_bytes, read_stream, require_file
from riskrank.scores.files.folders import DATABASES, parts_of, told_by_suffixes
from riskrank.scores.files.limits import unreadable
from riskrank.scores.files.paths import exists, is_folder, is_template, labelled_paths, parts_by_name
from riskrank.scores.files.source import How, Paths, Source, excerpt, is_url, name_of

# Files whose first rows people write.
_WITH_TITLES = ("csv", "tsv", "xlsx")


def open_sources(paths: Paths, how: How | None = None) -> list[Source]:
    """Open every input, globs expanded, in the order given.

    Parameters
    ----------
    paths : sequence of str or Source
        Files, folders of parts, glob patterns (an existing file of that very name goes first), patterns with
        names of columns in braces, ``-`` for `stdin`, each also as ``LABEL=PATH``; or sources that are open
        already.
    how : How, optional

    Returns
    -------
    list of Source

    Raises
    ------
    InputError
        If a file is missing, empty, of unknown format or unreadable in its format.
    UsageError
        If no path is given, or ``-`` without a format.
    """
    if not paths:
        hint = "name at least one CSV, TSV, Parquet, JSON, Excel or database file, or - for standard input"
        raise UsageError("no score files were given", found="an empty list of paths", hint=hint)
    opened: list[Source] = []
    how = how or How()
    asked = [name for name in ("sheet", "skip_rows") if getattr(how, name)]
    if asked and any(isinstance(given, Source) for given in paths):
        raise UsageError(
            f"{option(asked[0], getattr(how, asked[0]))} is for files",
            found="a table in memory",
            hint="leave it out, and hand over the rows that count",
        )
    for given in paths:
        if isinstance(given, Source):
            opened.append(given)
        else:
            for label, path in labelled_paths(given):
                source = _open_path(path, how)
                source.model_label = label
                opened.append(source)
    return opened


def _open_path(path: str, how: How) -> Source:
    """Open a file, a pipe, or a folder or pattern of parts."""
    # A file whose very name has braces is that file.
    several = is_folder(path) or (is_template(path) and not is_url(path) and not exists(path))
    return (_open_parts if several else _open)(path, how)


def _open(path: str, how: How) -> Source:
    if path == "-":
        from riskrank.scores.files.signatures import sniffed

        data = _piped(how.stdin, how.room.limit)
        told, compression = how.input_format or sniffed(data), None
        if told is None:
            raise UsageError(
                "-: cannot tell the format of standard input from its beginning",
                found=excerpt(data[:200].partition(b"\n")[0]),
                hint=f"say it: {option('input_format')} with one of {listing(FORMATS)}",
            )
        kind = told
    else:
        kind, compression = _format_of(path, how.input_format)
        _refuse_no_sheets(path, kind, how)
    if kind in DATABASES:
        return _open_database(path, kind, compression, how)
    if path != "-":
        data = read_bytes(path, how.room.limit)
    digest = hashlib.sha256(data).hexdigest()
    plain = decompressed(path, data, how.room)
    if kind == "parquet":
        from riskrank.scores.files.parquet import ParquetSource

        return ParquetSource(path, plain, digest, how.room)
    if kind == "xlsx":
        from riskrank.scores.files.excel import ExcelSource

        return ExcelSource(path, plain, digest, how)
    if kind in ("json", "jsonl"):
        from riskrank.scores.files.json_tables import JsonArraySource, JsonLinesSource

        return (JsonLinesSource if kind == "jsonl" else JsonArraySource)(path, plain, digest)
    from riskrank.scores.files.delimited import DelimitedSource

    separator = "\t" if kind == "tsv" else ","
    return DelimitedSource(path, plain, digest, separator=separator, skip_rows=how.skip_rows)


def _refuse_no_sheets(path: str, kind: str, how: How) -> None:
    """Refuse what only files of some kinds have.

    Raises
    ------
    UsageError
    """
    for name, kinds, has in (
        ("sheet", ("xlsx",), "only workbooks have sheets"),
        ("skip_rows", _WITH_TITLES, "only CSV, TSV and workbooks have rows above the names"),
    ):
        if getattr(how, name) and kind not in kinds:
            raise out_of_place(
                f"{path}: {option(name, getattr(how, name))}: {has}", f"a file of {kind}", name
            )


def _piped(stdin: BinaryIO | None, limit: int) -> bytes:
    try:
        return b"" if stdin is None else read_stream(stdin, "-", limit)
    except OSError as error:
        hint = "send a table through a pipe, or name a file"
        raise unreadable("-: standard input", error, hint) from None


def _open_parts(path: str, how: How) -> Source:
    from riskrank.scores.files.data_sets import DataSetSource

    left: list[str] = []
    parts = parts_of(path, how.input_format, left) if is_folder(path) else parts_by_name(path)
    source = DataSetSource(path, parts, [_open(part.path, how) for part in parts])
    if left:
        source.notes = (f"{path}: not followed, as they lead to what holds it: {listing(left)}",)
    return source


def _open_database(path: str, kind: str, compression: str | None, how: How) -> Source:
    """Open a file that its own library reads: it is hashed in pieces, and never decompressed."""
    elsewhere = path == "-" or is_url(path)
    # Opening a pipe would wait for who writes into it.
    for what, is_so, hint in (
        ("standard input", path == "-", "write it to a file and name that"),
        ("a file behind an address", is_url(path), "copy it here first"),
        ("a pipe or a device", not elsewhere and _is_no_file(path), "write it to a file and name that"),
        (f"a compressed file, suffix {compression}", compression, "decompress it first"),
    ):
        if is_so:
            said = f"{path}: a database is a file, which its own library reads where it lies"
            raise UsageError(said, found=what, hint=hint)
    require_file(path)
    with Path(path).open("rb") as file:
        head = file.read(16)
        file.seek(0)
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    from riskrank.scores.files.databases import DatabaseSource

    # The suffix .db is used for both.
    kind = "duckdb" if head[8:12] == b"DUCK" else "sqlite" if head[:6] == b"SQLite" else kind
    return DatabaseSource(path, kind, digest, sql=how.sql, limit=how.room.limit)


def _is_no_file(path: str) -> bool:
    return exists(path) and not Path(path).is_file()


def _format_of(path: str, input_format: str | None) -> tuple[str, str | None]:
    told, compression = told_by_suffixes(name_of(path) if is_url(path) else path)
    kind = input_format or told
    if kind is None and (is_url(path) or (exists(path) and not Path(path).is_dir())):
        raise InputError(
            f"{path}: the suffix does not tell the format",
            found=f"suffix {''.join(Path(path).suffixes[-2:]) or '(none)'}",
            hint=f"add {option('input_format')} with one of {listing(FORMATS)}",
        )
    return kind or "csv", compression
