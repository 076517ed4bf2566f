"""Files of any supported format are found, decompressed and opened as sources."""

from __future__ import annotations

import glob
import gzip
import hashlib
import io
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import polars as pl

from riskrank.errors import InputError, UsageError, listing, nearest, option
from riskrank.scores.readers.beginnings import sniffed
from riskrank.scores.readers.delimited import DelimitedSource
from riskrank.scores.readers.json_lines import JsonLinesSource
from riskrank.scores.readers.parquet import ParquetSource
from riskrank.scores.readers.source import InputFile, Source, excerpt, first_line

__all__ = ["FORMATS", "InputFile", "Source", "open_sources", "read_bytes"]

FORMATS = ("csv", "tsv", "parquet", "jsonl")
_SUFFIXES = {".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".parquet": "parquet", ".pq": "parquet"}
_SUFFIXES |= {".jsonl": "jsonl", ".ndjson": "jsonl"}
_COMPRESSIONS = (".gz", ".zst")


def open_sources(
    paths: Sequence[str | Source], *, input_format: str | None = None, stdin: BinaryIO | None = None
) -> list[Source]:
    """Open every input, globs expanded, in the order given.

    Parameters
    ----------
    paths : sequence of str or Source
        Files, glob patterns (an existing file of that very name goes first), ``-`` for `stdin`, or
        sources that are open already.
    input_format : {"csv", "tsv", "parquet", "jsonl"}, optional
        Format of every input; without it the suffix of each name decides.
    stdin : BinaryIO, optional
        Where ``-`` reads from.

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
        raise UsageError(
            "no score files were given",
            found="an empty list of paths",
            hint="name at least one CSV, TSV, Parquet or JSONL file, or - for standard input",
        )
    opened: list[Source] = []
    for given in paths:
        if isinstance(given, Source):
            opened.append(given)
        else:
            opened += [_open(path, input_format, stdin) for path in _expand(given)]
    return opened


def _expand(pattern: str) -> list[str]:
    if pattern == "-" or Path(pattern).exists() or not glob.has_magic(pattern):
        return [pattern]
    matches = glob.glob(pattern, recursive=True)  # noqa: PTH207 (Path.glob takes no absolute pattern)
    found = sorted(path for path in matches if Path(path).is_file())
    if not found:
        raise InputError(
            f"{pattern}: no file matches the pattern",
            found="0 files",
            hint="check the directory and the suffix; quote the pattern if the shell expands it",
        )
    return found


def _open(path: str, input_format: str | None, stdin: BinaryIO | None) -> Source:
    if path == "-":
        data = stdin.read() if stdin is not None else b""
        told, compression = input_format or sniffed(data), None
        if told is None:
            raise UsageError(
                "-: cannot tell the format of standard input from its beginning",
                found=excerpt(data[:200].partition(b"\n")[0]),
                hint=f"say it: {option('input_format')} with one of {listing(FORMATS)}",
            )
        kind = told
    else:
        kind, compression = _format_of(path, input_format)
        data = read_bytes(path)
    digest = hashlib.sha256(data).hexdigest()
    data = _decompress(path, data, kind, compression)
    if kind == "parquet":
        return ParquetSource(path, data, digest)
    if kind == "jsonl":
        return JsonLinesSource(path, data, digest)
    return DelimitedSource(path, data, digest, separator="\t" if kind == "tsv" else ",")


def read_bytes(path: str) -> bytes:
    """Return the bytes of a file, or say what keeps them away."""
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        folder = Path(path).parent
        there = [str(folder / entry.name) for entry in folder.iterdir()] if folder.is_dir() else []
        close = nearest(path, there)
        raise InputError(
            f"{path}: no such file",
            found=f"nothing at that path, in directory {folder.resolve()}",
            hint=f"did you mean {close}?" if close else "check the path",
        ) from None
    except IsADirectoryError:
        raise InputError(
            f"{path}: this is a directory, not a file",
            found="a directory",
            hint=f"name the files in it, for example '{path.rstrip('/')}/*.csv'",
        ) from None
    except OSError as error:
        raise InputError(
            f"{path}: the file cannot be read",
            found=error.strerror or str(error),
            hint="check its permissions",
        ) from None


def _format_of(path: str, input_format: str | None) -> tuple[str, str | None]:
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    compression = suffixes.pop() if suffixes and suffixes[-1] in _COMPRESSIONS else None
    kind = input_format or (_SUFFIXES.get(suffixes[-1]) if suffixes else None)
    if kind is None and not Path(path).is_dir() and Path(path).exists():
        raise InputError(
            f"{path}: the suffix does not tell the format",
            found=f"suffix {''.join(Path(path).suffixes[-2:]) or '(none)'}",
            hint=f"add --input-format with one of {listing(FORMATS)}",
        )
    return kind or "csv", compression


def _decompress(label: str, data: bytes, kind: str, compression: str | None) -> bytes:
    """Undo gzip and zstd, told by their magic numbers, so that a pipe of compressed bytes works too."""
    try:
        if data[:2] == b"\x1f\x8b":
            return gzip.decompress(data)
        if data[:4] == b"\x28\xb5\x2f\xfd" and kind != "parquet":
            # The standard library has no zstd before Python 3.14; Polars undoes it for lines of text.
            lines = pl.scan_lines(io.BytesIO(data)).collect().to_series()
            return lines.str.join("\n").item().encode()
    except (OSError, EOFError, zlib.error, pl.exceptions.PolarsError) as error:
        raise InputError(
            f"{label}: the file cannot be decompressed",
            found=first_line(error),
            hint="copy the file again (it may be cut short); its text must be UTF-8",
        ) from None
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
