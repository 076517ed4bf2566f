"""Files of any supported format become sources: bytes that are hashed once and hand out columns."""

from __future__ import annotations

import csv
import glob
import gzip
import hashlib
import io
import itertools
import json
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import polars as pl

from riskrank.errors import InputError, UsageError, listing, nearest

FORMATS = ("csv", "tsv", "parquet", "jsonl")
_SUFFIXES = {".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".parquet": "parquet", ".pq": "parquet"}
_SUFFIXES |= {".jsonl": "jsonl", ".ndjson": "jsonl"}
_COMPRESSIONS = (".gz", ".zst")
_SEPARATORS = (",", ";", "\t")


@dataclass(frozen=True, kw_only=True)
class InputFile:
    """Provenance of one input: the path as it was given, SHA-256 of the bytes on disk, data rows.

    A frame in memory has no bytes, and no digest of them.
    """

    path: str
    sha256: str | None
    rows: int


class Source(ABC):
    """One opened input file.

    Attributes
    ----------
    label : str
        The path as it was given; ``-`` for standard input.
    columns : tuple of str
        Column names in file order, without the blanks around them.
    decimal_comma : bool
        Whether numbers of this file may be written with a decimal comma.
    """

    decimal_comma = False

    def __init__(self, label: str, data: bytes, sha256: str) -> None:
        self.label = label
        self.sha256 = sha256
        self.columns: tuple[str, ...] = ()
        self._data = data

    @abstractmethod
    def load(self, names: Sequence[str]) -> pl.DataFrame:
        """Return the named columns; every column of a text format is a string column."""

    def row_number(self, position: int) -> int:
        """Return the number of a data row as a reader of the file would count it."""
        return position + 1

    def input_file(self, rows: int) -> InputFile:
        """Return the provenance of this file."""
        return InputFile(path=self.label, sha256=self.sha256, rows=rows)

    def _name_columns(self, raw: Sequence[str]) -> None:
        """Strip the column names; one that occurs twice could mean either column."""
        self.columns = tuple(name.strip() for name in raw)
        named = [name for name in self.columns if name]
        twice = [name for name in named if named.count(name) > 1]
        if twice:
            raise InputError(
                f"{self.label}: two columns are called '{twice[0]}'",
                found=f"columns: {listing(self.columns)}",
                hint="rename one of them",
            )

    def _empty(self, found: str) -> InputError:
        return InputError(
            f"{self.label}: the file is empty",
            found=found,
            hint="check the program that wrote it; a score table needs at least one row of scores",
        )


class ParquetSource(Source):
    """A Parquet file, of which only the needed columns are decoded."""

    def __init__(self, label: str, data: bytes, sha256: str) -> None:
        super().__init__(label, data, sha256)
        if not data:
            raise self._empty("0 bytes")
        self._schema = self._read(lambda: pl.read_parquet_schema(io.BytesIO(data)))
        self._name_columns(list(self._schema))

    def load(self, names: Sequence[str]) -> pl.DataFrame:
        """Return the named columns."""
        raw = dict(zip(self.columns, self._schema, strict=True))
        wanted = [raw[name] for name in names]
        frame = self._read(lambda: pl.read_parquet(io.BytesIO(self._data), columns=wanted))
        frame = frame.select(pl.col(raw[name]).alias(name) for name in names)
        if frame.height == 0:
            raise self._empty("a Parquet file with no rows")
        return frame

    def _read(self, reader: Callable):
        try:
            return reader()
        except (pl.exceptions.PolarsError, OSError) as error:
            raise InputError(
                f"{self.label}: the file cannot be read as Parquet",
                found=_first_line(error),
                hint="copy the file again (it may be cut short), or name its format with --input-format",
            ) from None


class DelimitedSource(Source):
    """A CSV or TSV file: its separator is the one its header uses most."""

    def __init__(self, label: str, data: bytes, sha256: str, *, separator: str) -> None:
        data = data.removeprefix(b"\xef\xbb\xbf")
        if b"\n" not in data and b"\r" in data:
            data = data.replace(b"\r", b"\n")
        body = data.lstrip(b"\r\n")
        self._skipped_lines = data[: len(data) - len(body)].count(b"\n")
        if body.endswith((b"\n\n", b"\n\r\n")):
            body = body.rstrip(b"\r\n")
        super().__init__(label, body, sha256)
        if not body or body.isspace():
            raise self._empty(f"{len(data)} bytes, no header line")
        header = _decode(label, body.partition(b"\n")[0].rstrip(b"\r"))
        self._separator = _sniff_separator(header, separator)
        self._name_columns(next(csv.reader([header], delimiter=self._separator)))
        self._blank: set[int] | None = None
        self.decimal_comma = self._separator == ";"

    def load(self, names: Sequence[str]) -> pl.DataFrame:
        """Return the named columns."""
        places = [self.columns.index(name) for name in names]
        # The last column tells whether a row was cut short: Polars fills the rest of such a row with nulls.
        last = len(self.columns) - 1
        frame = self._read(sorted({*places, last}))
        if frame.height == 0:
            raise self._empty("a header line and no rows")
        if frame[f"c{last}"].null_count():
            frame = self._without_blank_rows(frame)
        return frame.select(pl.col(f"c{place}").alias(self.columns[place]) for place in places)

    def row_number(self, position: int) -> int:
        """Return the number of a data row as a reader of the file would count it."""
        number = position + 2 + self._skipped_lines
        for blank in sorted(self._blank or ()):
            number += blank + 2 + self._skipped_lines <= number
        return number

    def _read(self, places: Sequence[int]) -> pl.DataFrame:
        try:
            return (
                pl.scan_csv(
                    io.BytesIO(self._data),
                    separator=self._separator,
                    infer_schema=False,
                    with_column_names=lambda found: [f"c{place}" for place in range(len(found))],
                )
                .select(f"c{place}" for place in places)
                .collect()
            )
        except (pl.exceptions.PolarsError, OSError) as error:
            _decode(self.label, self._data)
            self._check_lengths(allow_short=True)
            raise InputError(
                f"{self.label}: the file cannot be read as CSV",
                found=_first_line(error),
                hint="look for a quote that is never closed; fields that hold quotes double them",
            ) from None

    def _without_blank_rows(self, frame: pl.DataFrame) -> pl.DataFrame:
        expected = (len(self.columns) - 1) * (frame.height + 1)
        if b'"' not in self._data and self._data.count(self._separator.encode()) == expected:
            return frame
        if self._blank is None:
            self._blank = self._check_lengths(allow_short=False)
        if not self._blank:
            return frame
        keep = [row for row in range(frame.height) if row not in self._blank]
        return frame[keep]

    def _check_lengths(self, *, allow_short: bool) -> set[int]:
        """Return the positions of blank lines; raise at the first row with too many or too few fields."""
        blank = set()
        text = io.TextIOWrapper(io.BytesIO(self._data), encoding="utf-8", newline="")
        rows = csv.reader(text, delimiter=self._separator)
        for position, row in enumerate(itertools.islice(rows, 1, None)):
            if not row or (len(row) == 1 < len(self.columns) and not row[0].strip()):
                blank.add(position)
            elif len(row) > len(self.columns) or (len(row) < len(self.columns) and not allow_short):
                raise InputError(
                    f"{self.label}: row {position + 2 + self._skipped_lines} has {len(row)} fields, "
                    f"the header has {len(self.columns)}",
                    found=self._separator.join(row)[:120],
                    hint="quote fields that hold the separator, or fill the row up",
                )
        return blank


class JsonLinesSource(Source):
    """A file with one JSON object a line."""

    def __init__(self, label: str, data: bytes, sha256: str) -> None:
        super().__init__(label, data.removeprefix(b"\xef\xbb\xbf"), sha256)
        if not self._data.strip():
            raise self._empty(f"{len(data)} bytes")
        self._frame: pl.DataFrame | None = None
        try:
            # Every line is looked at: a metric that first occurs far down must not be lost.
            schema = pl.scan_ndjson(io.BytesIO(self._data), infer_schema_length=None).collect_schema()
            raw = list(schema)
        except (pl.exceptions.PolarsError, OSError):
            self._frame = self._read_line_by_line()
            raw = self._frame.columns
        self._raw = raw
        self._name_columns(raw)

    def load(self, names: Sequence[str]) -> pl.DataFrame:
        """Return the named columns."""
        raw = dict(zip(self.columns, self._raw, strict=True))
        schema = {raw[name]: pl.String for name in names}
        if self._frame is None:
            try:
                frame = pl.read_ndjson(io.BytesIO(self._data), schema=schema)
                return frame.select(pl.col(raw[name]).alias(name) for name in names)
            except (pl.exceptions.PolarsError, OSError):
                self._frame = self._read_line_by_line()
        return self._frame.select(pl.col(raw[name]).alias(name) for name in names)

    def row_number(self, position: int) -> int:
        """Return the number of a data row as a reader of the file would count it."""
        lines = (number for number, line in enumerate(self._data.split(b"\n"), start=1) if line.strip())
        return next(itertools.islice(lines, position, None), position + 1)

    def _read_line_by_line(self) -> pl.DataFrame:
        """Read as Python does, which names the line that is wrong and accepts its own NaN and Infinity."""
        columns: dict[str, list[str | None]] = {}
        height = 0
        for number, line in enumerate(self._data.split(b"\n"), start=1):
            if not line.strip():
                continue
            for name, value in self._object(number, line).items():
                values = columns.setdefault(name, [])
                values.extend([None] * (height - len(values)))
                values.append(_json_text(value))
            height += 1
        for values in columns.values():
            values.extend([None] * (height - len(values)))
        return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))

    def _object(self, number: int, line: bytes) -> dict:
        try:
            value = json.loads(line.decode())
        except UnicodeDecodeError:
            _decode(self.label, self._data)
            raise
        except ValueError as error:
            raise InputError(
                f"{self.label}: row {number} is not valid JSON",
                found=f"{_excerpt(line)} ({error})",
                hint="write one JSON object a line; a file cut short ends in the middle of a line",
            ) from None
        if not isinstance(value, dict):
            raise InputError(
                f"{self.label}: row {number} is not a JSON object",
                found=_excerpt(line),
                hint='write one object a line, not an array: {"model": "A", "sample": "1", …}',
            )
        return value


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
        if input_format is None or stdin is None:
            raise UsageError(
                "-: standard input has no suffix to tell its format by",
                found="no --input-format",
                hint=f"add --input-format with one of {listing(FORMATS)}",
            )
        data, kind, compression = stdin.read(), input_format, None
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
            found=_first_line(error),
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


def _sniff_separator(header: str, default: str) -> str:
    outside = "".join(header.split('"')[::2])
    counts = {separator: outside.count(separator) for separator in (default, *_SEPARATORS)}
    best = max(counts, key=counts.get)
    return best if counts[best] else default


def _decode(label: str, data: bytes) -> str:
    try:
        if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            raise UnicodeDecodeError("utf-8", data, 0, 2, "UTF-16")
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{label}: the text is not UTF-8",
            found=f"byte 0x{data[error.start]:02x} in line {line}",
            hint=f"save it as UTF-8, or convert it: iconv -f latin1 -t utf-8 {label}",
        ) from None


def _json_text(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, int | float) else json.dumps(value)


def _excerpt(line: bytes) -> str:
    text = line.decode(errors="replace").strip()
    return text if len(text) <= 80 else text[:80] + "…"


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
