"""A file or a pipe becomes a source: told by its name and first bytes, and decompressed."""

import hashlib
from pathlib import Path
from typing import BinaryIO

from riskrank.asked.reading import FORMATS
from riskrank.errors import InputError, UsageError, listing, option
from riskrank.scores.files.beginnings import sniffed
from riskrank.scores.files.bounded import decompressed
from riskrank.scores.files.contents import read_bytes, read_stream, require_file
from riskrank.scores.files.data_sets import DataSetSource
from riskrank.scores.files.databases import DatabaseSource
from riskrank.scores.files.delimited import DelimitedSource
from riskrank.scores.files.excel import ExcelSource
from riskrank.scores.files.folders import parts_of
from riskrank.scores.files.formats import COMPRESSIONS, DATABASES, SUFFIXES
from riskrank.scores.files.how import How
from riskrank.scores.files.json_arrays import JsonArraySource
from riskrank.scores.files.json_lines import JsonLinesSource
from riskrank.scores.files.object_stores import is_url, name_of
from riskrank.scores.files.parquet import ParquetSource
from riskrank.scores.files.paths import exists, is_folder
from riskrank.scores.files.source import Source, excerpt
from riskrank.scores.files.templates import is_template, parts_by_name

# Files whose first rows people write.
_WITH_TITLES = ("csv", "tsv", "xlsx")


def open_path(path: str, how: How) -> Source:
    """Open a file, a pipe, or a folder or pattern of parts."""
    # A file whose very name has braces is that file.
    several = is_folder(path) or (is_template(path) and not is_url(path) and not exists(path))
    return (_open_parts if several else _open)(path, how)


def _open(path: str, how: How) -> Source:
    if path == "-":
        data = _piped(how.stdin, how.limit)
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
        if kind in DATABASES and is_url(path):
            raise UsageError(
                f"{path}: a database is read where it is, and this one is elsewhere",
                found=f"a file of {kind} behind an address",
                hint="copy it here first",
            )
        if kind in DATABASES:
            return _open_database(path, kind, compression, how.sql, how.limit)
        data = read_bytes(path, how.limit)
    if kind in DATABASES:
        raise UsageError(
            "-: a database cannot be read from standard input",
            found=f"{option('input_format', kind)}",
            hint="write it to a file and name that",
        )
    digest = hashlib.sha256(data).hexdigest()
    data = _decompress(path, data, kind, compression, how.limit)
    if kind == "parquet":
        return ParquetSource(path, data, digest, how.limit)
    if kind == "jsonl":
        return JsonLinesSource(path, data, digest)
    if kind == "json":
        return JsonArraySource(path, data, digest)
    if kind == "xlsx":
        return ExcelSource(path, data, digest, how)
    separator = "\t" if kind == "tsv" else ","
    return DelimitedSource(path, data, digest, separator=separator, skip_rows=how.skip_rows)


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
            raise UsageError(
                f"{path}: {option(name, getattr(how, name))}: {has}",
                found=f"a file of {kind}",
                hint=f"leave out {option(name)}",
            )


def _piped(stdin: BinaryIO | None, limit: int) -> bytes:
    try:
        return b"" if stdin is None else read_stream(stdin, "-", limit)
    except OSError as error:
        raise InputError(
            "-: standard input cannot be read",
            found=error.strerror or str(error),
            hint="send a table through a pipe, or name a file",
        ) from None


def _open_parts(path: str, how: How) -> Source:
    parts = parts_of(path, how.input_format) if is_folder(path) else parts_by_name(path)
    return DataSetSource(path, parts, [_open(part.path, how) for part in parts])


def _open_database(path: str, kind: str, compression: str | None, sql: str | None, limit: int) -> Source:
    """Open a file that its own library reads: it is hashed in pieces, and never decompressed."""
    if exists(path) and not Path(path).is_file():  # opening a pipe would wait for who writes into it
        raise UsageError(
            f"{path}: a database is a file, which its own library reads",
            found="a pipe or a device",
            hint="write it to a file and name that",
        )
    require_file(path)
    if compression:
        raise InputError(
            f"{path}: a compressed database cannot be read",
            found=f"suffix {compression}",
            hint="decompress it first",
        )
    with Path(path).open("rb") as file:
        head = file.read(16)
        file.seek(0)
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    # The suffix .db is used for both.
    kind = "duckdb" if head[8:12] == b"DUCK" else "sqlite" if head[:6] == b"SQLite" else kind
    return DatabaseSource(path, kind, digest, sql=sql, limit=limit)


def _format_of(path: str, input_format: str | None) -> tuple[str, str | None]:
    suffixes = [suffix.lower() for suffix in Path(name_of(path) if is_url(path) else path).suffixes]
    compression = suffixes.pop() if suffixes and suffixes[-1] in COMPRESSIONS else None
    kind = input_format or (SUFFIXES.get(suffixes[-1]) if suffixes else None)
    if kind is None and (is_url(path) or (exists(path) and not Path(path).is_dir())):
        raise InputError(
            f"{path}: the suffix does not tell the format",
            found=f"suffix {''.join(Path(path).suffixes[-2:]) or '(none)'}",
            hint=f"add {option('input_format')} with one of {listing(FORMATS)}",
        )
    return kind or "csv", compression


def _decompress(label: str, data: bytes, kind: str, compression: str | None, limit: int) -> bytes:
    """Undo gzip and zstd, told by their magic numbers, so that a pipe of compressed bytes works too."""
    if data[:2] == b"\x1f\x8b" or (data[:4] == b"\x28\xb5\x2f\xfd" and kind != "parquet"):
        return decompressed(label, data, limit, skippable=False)
    if data[:4] == b"\x28\xb5\x2f\xfd":
        raise InputError(
            f"{label}: a Parquet file inside zstd cannot be read",
            found="zstd around Parquet, which is compressed inside already",
            hint=f"decompress it first: zstd -d {label}",
        )
    if compression and data and kind == "parquet" and data[:4] != b"PAR1":
        raise InputError(
            f"{label}: the file is not {compression[1:]}",
            found=f"first bytes {data[:4].hex(' ')}",
            hint="copy the file again, or correct its suffix",
        )
    return data
