"""Open files, pipes, folders and data frames as sources.

The format is detected from the file name and the first bytes. The reader of a format is imported on first
use.
"""

import hashlib
from pathlib import Path

from riskrank.errors import InputError, UsageError, listing, option
from riskrank.options.reading import FORMATS
from riskrank.options.values import misplaced_option_error
from riskrank.scores.files.contents import decompress, decompress_head, digest_file, read_bytes, read_stream
from riskrank.scores.files.guards import unreadable_error
from riskrank.scores.files.paths import (
    DATABASES,
    exists,
    is_folder,
    is_template,
    labelled_paths,
    list_parts,
    split_suffixes,
    template_parts,
)
from riskrank.scores.files.source import OpenOptions, Paths, Source, excerpt, is_url, url_path

# Options that apply to some formats only, and why.
_FORMAT_OPTIONS = (
    ("sheet", ("xlsx",), "only workbooks have sheets"),
    ("skip_rows", ("csv", "tsv", "xlsx"), "only CSV, TSV and workbooks have rows above the header"),
)


def open_sources(paths: Paths, options: OpenOptions | None = None) -> list[Source]:
    """Open all inputs in the given order, with glob patterns expanded.

    Parameters
    ----------
    paths : sequence of str or Source
        Files, folders of parts, glob patterns, templates with column names in braces, ``-`` for standard
        input, or open sources. A path may be labelled, as in ``LABEL=PATH``. An existing file takes
        precedence over a pattern.
    options : OpenOptions, optional

    Returns
    -------
    list of Source

    Raises
    ------
    InputError
        If a file is missing, empty, of unknown format, or unreadable in its format.
    UsageError
        If there are no paths, or the format of standard input is unknown.
    """
    if not paths:
        hint = "name at least one CSV, TSV, Parquet, JSON, Excel or database file, or - for standard input"
        raise UsageError("no score files were given", found="an empty list of paths", hint=hint)
    opened: list[Source] = []
    options = options or OpenOptions()
    requested = [name for name in ("sheet", "skip_rows") if getattr(options, name)]
    if requested and any(isinstance(entry, Source) for entry in paths):
        problem = f"{option(requested[0], getattr(options, requested[0]))} applies to files only"
        hint = "remove it, and select the rows before passing the table"
        raise UsageError(problem, found="a table in memory", hint=hint)
    for entry in paths:
        if isinstance(entry, Source):
            opened.append(entry)
        else:
            for label, path in labelled_paths(entry):
                # An existing file with braces in its name is not a template.
                is_data_set = is_folder(path) or (is_template(path) and not is_url(path) and not exists(path))
                source = (_open_parts if is_data_set else _open_file)(path, options)
                source.model_label = label
                opened.append(source)
    return opened


def _open_file(path: str, options: OpenOptions) -> Source:
    """Open a single file or standard input."""
    if path == "-":
        try:
            data = b"" if options.stdin is None else read_stream(options.stdin, "-", options.budget)
        except OSError as error:
            hint = "pipe a table to the command, or name a file"
            raise unreadable_error("-: standard input", error, hint) from None
        kind, compression = options.input_format or _sniff_format(data), None
        if kind is None:
            problem = "-: cannot detect the format of standard input"
            hint = f"add {option('input_format')} with one of {listing(FORMATS, 12)}"
            raise UsageError(problem, found=excerpt(data[:200].partition(b"\n")[0]), hint=hint)
    else:
        kind, compression = _detect_format(path, options.input_format)
        for name, kinds, reason in _FORMAT_OPTIONS:
            if getattr(options, name) and kind not in kinds:
                problem = f"{path}: {option(name, getattr(options, name))}: {reason}"
                raise misplaced_option_error(problem, f"a file of {kind}", name)
    if kind in DATABASES:
        return _open_database(path, kind, compression, options)
    if path != "-":
        data = read_bytes(path, options.budget)
    digest = hashlib.sha256(data).hexdigest()
    plain = decompress(path, data, options.budget)
    if kind == "parquet":
        from riskrank.scores.files.parquet import ParquetSource

        return ParquetSource(path, plain, digest, options.budget)
    if kind == "xlsx":
        from riskrank.scores.files.excel import ExcelSource

        return ExcelSource(path, plain, digest, options)
    if kind in ("json", "jsonl"):
        from riskrank.scores.files.json_tables import JsonArraySource, JsonLinesSource

        return (JsonLinesSource if kind == "jsonl" else JsonArraySource)(path, plain, digest)
    if kind in ("arrow", "npy"):
        from riskrank.scores.files.source import ArraySource, ArrowSource

        return (ArrowSource if kind == "arrow" else ArraySource)(path, plain, digest)
    from riskrank.scores.files.delimited import DelimitedSource

    if plain[:2048].lstrip(b"\xef\xbb\xbf\r\n\t ")[:14].lower().startswith((b"<!doctype html", b"<html")):
        hint = "download the file itself, such as the raw file of a repository; a page may ask to sign in"
        raise InputError(f"{path}: this is a web page, not a table", found=excerpt(plain[:80]), hint=hint)
    separator = "\t" if kind == "tsv" else ","
    return DelimitedSource(path, plain, digest, separator=separator, skip_rows=options.skip_rows)


def _sniff_format(data: bytes) -> str | None:
    """Guess a file format from the first bytes of compressed or plain data; None if unknown."""
    head = decompress_head(data[:4096], 4096)
    if head[:4] == b"PAR1":
        return "parquet"
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if head[:4] == b"PK\x03\x04":
        return "xlsx"
    if text[:1] in (b"{", b"["):
        return "jsonl" if text[:1] == b"{" else "json"
    line = text.partition(b"\n")[0]
    if not text or any(line.count(mark) >= 2 for mark in (b",", b";", b"\t")):
        return "csv"  # the reader detects the separator and reports empty input
    return None


def _open_parts(path: str, options: OpenOptions) -> Source:
    """Open all files of a folder, or all files that match a path template, as one table."""
    from riskrank.scores.files.derived import DataSetSource

    skipped: list[str] = []
    parts = list_parts(path, options.input_format, skipped) if is_folder(path) else template_parts(path)
    source = DataSetSource(path, parts, [_open_file(part.path, options) for part in parts])
    if skipped:
        source.notes = (f"{path}: cyclic links not followed: {listing(skipped)}",)
    return source


def _open_database(path: str, kind: str, compression: str | None, options: OpenOptions) -> Source:
    """Open a database file, which is hashed in chunks and never decompressed.

    Parameters
    ----------
    path : str
    kind : {"sqlite", "duckdb"}
        Format that the suffix implies; the first bytes take precedence.
    compression : str or None
        Compression suffix.
    options : OpenOptions

    Raises
    ------
    UsageError
        If it is compressed, or not a regular local file.
    """
    is_special_file = path != "-" and not is_url(path) and exists(path) and not Path(path).is_file()
    # Opening a pipe would block.
    for origin, applies, hint in (
        ("standard input", path == "-", "write it to a file and name the file"),
        ("a file from a URL", is_url(path), "copy it here first"),
        ("a pipe or a device", is_special_file, "write it to a file first"),
        (f"a compressed file, suffix {compression}", compression, "decompress it first"),
    ):
        if applies:
            message = f"{path}: a database must be an uncompressed local file"
            raise UsageError(message, found=origin, hint=hint)
    digest = digest_file(path)
    with Path(path).open("rb") as file:
        head = file.read(16)
    from riskrank.scores.files.databases import DatabaseSource

    # The suffix .db is used for both.
    kind = "duckdb" if head[8:12] == b"DUCK" else "sqlite" if head[:6] == b"SQLite" else kind
    return DatabaseSource(path, kind, digest, sql=options.sql, budget=options.budget)


def _detect_format(path: str, input_format: str | None) -> tuple[str, str | None]:
    """Return the file format and the compression of a path; a given `input_format` takes precedence."""
    suffix_format, compression = split_suffixes(url_path(path) if is_url(path) else path)
    kind = input_format or suffix_format
    if kind is None and (is_url(path) or (exists(path) and not Path(path).is_dir())):
        detail = f"suffix {''.join(Path(path).suffixes[-2:]) or '(none)'}"
        hint = f"add {option('input_format')} with one of {listing(FORMATS, 12)}"
        raise InputError(f"{path}: cannot detect the format from the suffix", found=detail, hint=hint)
    return kind or "csv", compression
