"""Base classes of opened inputs, their provenance, and the options for opening files."""

import re
import shlex
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import BinaryIO
from urllib.parse import urlsplit

import numpy as np
import polars as pl

from riskrank.errors import InputError, UsageError, listing, mask_secrets
from riskrank.scores.files.guards import Budget, empty_error, require_columns, require_distinct
from riskrank.scores.files.json_objects import unicode_error


@dataclass(frozen=True, kw_only=True)
class OpenOptions:
    """Options for opening files.

    Attributes
    ----------
    input_format : str, optional
        One of `FORMATS`, for all inputs; by default, the suffix of each file determines its format.
    stdin : BinaryIO, optional
        Stream to read for ``-``.
    sql : str, optional
        Query for inputs with several tables: workbooks, and databases in their own SQL dialect.
    sheet : str, optional
        Sheet of a workbook, by name or number.
    skip_rows : int
        Number of rows to skip above the header in CSV, TSV and Excel files.
    budget : Budget
        Limits on the bytes and cells of files and of query results.
    """

    input_format: str | None = None
    stdin: BinaryIO | None = None
    sql: str | None = None
    sheet: str | None = None
    skip_rows: int = 0
    budget: Budget = field(default_factory=Budget)


@dataclass(frozen=True, kw_only=True)
class InputFile:
    """Provenance of an input: path as given, SHA-256 digest of the file, and number of data rows.

    A data frame in memory has no digest.
    """

    path: str
    sha256: str | None
    rows: int


class Source(ABC):
    """An opened input.

    Attributes
    ----------
    label : str
        Path as given by the user; ``-`` for standard input.
    columns : tuple of str
        Column names in file order, without surrounding whitespace.
    decimal_comma : bool
        Whether numbers may have a decimal comma.
    model_label : str or None
        Name of the model in this file, or prefix of the names if there are several models.
    queried : bool
        Whether the rows are the result of a query.
    native_sql : bool
        Whether queries use the SQL dialect and table names of a database.
    columnar : bool
        Whether single columns can be read cheaply.
    folder_columns : tuple of str
        Columns from folder names; their values are names even if they look like numbers.
    notes : tuple of str
        Notes on assumptions made while reading.
    may_be_empty : bool
        Whether a source without rows is allowed, as it is for parts of a table.
    is_data_set : bool
        Whether the source is a data set of several files.
    """

    decimal_comma = False
    model_label: str | None = None
    queried = False
    native_sql = False
    columnar = False
    folder_columns: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    may_be_empty = False
    is_data_set = False

    def __init__(self, label: str, data: bytes, sha256: str | None) -> None:
        self.label = mask_secrets(label)
        self.sha256 = sha256
        self.columns: tuple[str, ...] = ()
        self._data = data

    @abstractmethod
    def load(self, names: Sequence[str]) -> pl.DataFrame:
        """Return the named columns; columns of text formats are strings."""

    def load_rows(self, names: Sequence[str], positions: np.ndarray) -> pl.DataFrame:
        """Return the named columns at ascending row positions."""
        return self.load(names)[positions]

    def texts(self, positions: np.ndarray) -> pl.DataFrame | None:
        """Return the columns ``input`` and ``output`` at some row positions.

        Return None for query results, and for tables, which store texts in ordinary columns.
        """
        return None

    def scan(self, names: Sequence[str]) -> pl.LazyFrame | None:
        """Return the named columns as a lazy frame, or None if the source does not support it."""
        return None

    def height(self) -> int:
        """Return the number of rows."""
        return self.load(self.columns[:1]).height

    def file_without(self, column: str) -> str | None:
        """Return the first file without a given column, or None if every file has it."""
        return None

    def file_of(self, position: int) -> str:
        """Return the file that contains a row."""
        return self.label

    def row_number(self, position: int) -> int:
        """Return the number of a data row in its file, counted from 1."""
        return position + 1

    def column_of(self, column: str, position: int) -> str:
        """Return the name of the column in the file from which a value was read."""
        return column

    def input_file(self, rows: int) -> InputFile:
        """Return the provenance of this file."""
        return InputFile(path=self.label, sha256=self.sha256, rows=rows)

    def input_files(self, rows: int, positions: np.ndarray | None = None) -> tuple[InputFile, ...]:
        """Return the provenance of all files of this source.

        If `positions` is given, only files that contain these rows are included.
        """
        return (self.input_file(rows),)

    def _name_columns(self, raw: Sequence[str]) -> None:
        """Set the column names without surrounding whitespace, or raise InputError for duplicates."""
        require_columns(self.label, raw)
        self.columns = tuple(name.strip() for name in raw)
        require_distinct(self.label, self.columns)

    def error_with_columns(
        self, problem: str, hint: str, suggestions: Sequence[tuple[str, object]] = ()
    ) -> InputError:
        """Return an error whose details list the columns of the source."""
        detail = f"columns: {listing(self.columns, 20)}"
        return InputError(f"{self.label}: {problem}", found=detail, hint=hint, suggestions=suggestions)

    def _empty(self, detail: str) -> InputError:
        """Return the error for an empty input."""
        return empty_error(self.label, detail)


# Paths as given, and open sources.
Paths = Sequence[str | Source]


class FrameInMemory(Source):
    """A source whose data are in memory, under the column names in the file."""

    _frame: pl.DataFrame
    # Columns with a lone surrogate, and the first row that contains one.
    _surrogates: Mapping[str, int] = MappingProxyType({})

    def load(self, names: Sequence[str]) -> pl.DataFrame:
        """Return the named columns."""
        raw = dict(zip(self.columns, self._frame.columns, strict=True))
        for name in names:
            if raw[name] in self._surrogates:
                raise unicode_error(f"{self.label}: row {self._surrogates[raw[name]]}", name)
        return pl.DataFrame({name: self._frame[raw[name]] for name in names})


_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


def is_url(text: str) -> bool:
    """Return True if a text is a URL."""
    return _URL.match(text) is not None


def url_path(url: str) -> str:
    """Return the path of a URL without its query; it ends in the file suffix."""
    parts = urlsplit(url)
    return parts.path if parts.scheme in ("http", "https") else url


# Control characters, valid UTF-8 sequences, and byte runs typical of other alphabets.
_NOT_WINDOWS = re.compile(
    rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\x80-\xff]{3}"
)


def decode(label: str, data: bytes) -> str:
    """Decode bytes as UTF-8; the error message locates the first invalid byte."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        detail = f"byte 0x{data[error.start]:02x} in line {line}"
        convert = f"iconv -f ENCODING -t utf-8 {shlex.quote(label)} > NEW_FILE"
        hint = f"save it as UTF-8, or convert it: {convert}"
        raise InputError(f"{label}: the text is not UTF-8", found=detail, hint=hint) from None


def windows_to_utf8(data: bytes) -> bytes | None:
    """Convert Windows-1252 text to UTF-8; return None if the data have another encoding."""
    if data.isascii() or _NOT_WINDOWS.search(data):
        return None
    try:
        return data.decode("cp1252").encode()
    except UnicodeDecodeError:
        return None


def excerpt(line: bytes) -> str:
    """Return the beginning of a line, for use in messages."""
    text = line[:400].decode(errors="replace").strip()
    return text if len(text) <= 80 else text[:80] + "…"


def missing_package_error(subject: str, package: str, hint: str) -> UsageError:
    """Return the error for a package that is not installed."""
    return UsageError(f"{subject} needs the package {package}", found="not installed", hint=hint)
