"""What every format hands out, named columns of one input and where they came from; and how it is opened."""

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

from riskrank.errors import InputError, UsageError, listing
from riskrank.scores.files.guards import Budget, empty, require_columns, require_distinct
from riskrank.scores.files.json_objects import no_unicode


@dataclass(frozen=True, kw_only=True)
class How:
    """How files are opened.

    Attributes
    ----------
    input_format : str, optional
        One of `FORMATS`, of every input; without it the suffix of each name decides.
    stdin : BinaryIO, optional
        Where ``-`` reads from.
    sql : str, optional
        Query for inputs that hold several tables: databases, in their own SQL, and workbooks.
    sheet : str, optional
        Sheet of a workbook, by its name or its number.
    skip_rows : int
        Rows above the names of the columns, of files that people write.
    budget : Budget
        Bytes and cells that the files may hold together, and bytes of each, or of a database's answer.
    """

    input_format: str | None = None
    stdin: BinaryIO | None = None
    sql: str | None = None
    sheet: str | None = None
    skip_rows: int = 0
    budget: Budget = field(default_factory=Budget)


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
    model_label : str or None
        Name its models are to have: this alone if it holds one, else before each.
    queried : bool
        Whether the rows are those a query gave.
    own_sql : bool
        Whether a query is in the SQL of a database, where the table has its own name.
    columnar : bool
        Whether one column is read without the others, so that it costs nothing to ask for one at a time.
    folder_columns : tuple of str
        Columns that folders name: names, even if they look like numbers.
    notes : tuple of str
        What was understood without being said, for whoever reads it.
    may_be_empty : bool
        Whether no rows are no error, as in a part of a larger table.
    of_parts : bool
        Whether it is a data set of several files.
    """

    decimal_comma = False
    model_label: str | None = None
    queried = False
    own_sql = False
    columnar = False
    folder_columns: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    may_be_empty = False
    of_parts = False

    def __init__(self, label: str, data: bytes, sha256: str | None) -> None:
        self.label = label
        self.sha256 = sha256
        self.columns: tuple[str, ...] = ()
        self._data = data

    @abstractmethod
    def load(self, names: Sequence[str]) -> pl.DataFrame:
        """The named columns; every column of a text format is a string column."""

    def load_rows(self, names: Sequence[str], kept: np.ndarray) -> pl.DataFrame:
        """The named columns of the rows at some positions, which ascend."""
        return self.load(names)[kept]

    def texts(self, kept: np.ndarray) -> pl.DataFrame | None:
        """What was asked and answered in the rows at some positions, ``input`` and ``output``.

        None of tables, whose columns hold it, and of rows that are none of a harness's any more.
        """
        return None

    def scan(self, names: Sequence[str]) -> pl.LazyFrame | None:
        """The named columns without reading them yet; None where that is not possible."""
        return None

    def height(self) -> int:
        """The number of rows."""
        return self.load(self.columns[:1]).height

    def rewritten(self) -> str | None:
        """How to write the file as a table, for a hint, where it holds scores in another way."""
        return None

    def lacking(self, column: str) -> str | None:
        """The first file without a column that others have; None where all have it."""
        return None

    def file_of(self, position: int) -> str:
        """The file a row stands in."""
        return self.label

    def row_number(self, position: int) -> int:
        """The number of a data row as a reader of the file would count it."""
        return position + 1

    def column_of(self, column: str, position: int) -> str:
        """The column of the file that a value of a column stands in."""
        return column

    def input_file(self, rows: int) -> InputFile:
        """The provenance of this file."""
        return InputFile(path=self.label, sha256=self.sha256, rows=rows)

    def input_files(self, rows: int, kept: np.ndarray | None = None) -> tuple[InputFile, ...]:
        """The provenance of all files behind this source, of which the rows at `kept` count."""
        return (self.input_file(rows),)

    def _name_columns(self, raw: Sequence[str]) -> None:
        """Strip the column names; one that occurs twice could mean either column."""
        require_columns(self.label, raw)
        self.columns = tuple(name.strip() for name in raw)
        require_distinct(self.label, self.columns)

    def refused(self, what: str, hint: str, ways: Sequence[tuple[str, object]] = ()) -> InputError:
        """Tell what is wrong with the columns there are."""
        found = f"columns: {listing(self.columns, 20)}"
        return InputError(f"{self.label}: {what}", found=found, hint=hint, ways=ways)

    def _empty(self, found: str) -> InputError:
        return empty(self.label, found)


# Files as they were given, and sources that are open.
Paths = Sequence[str | Source]


class FrameInMemory(Source):
    """A source whose columns have been read, under their names as they stand in the file."""

    _frame: pl.DataFrame
    # Columns with half of a character of JSON in them, which no text holds: the first row of it.
    _halves: Mapping[str, int] = MappingProxyType({})

    def load(self, names: Sequence[str]) -> pl.DataFrame:
        """The named columns."""
        raw = dict(zip(self.columns, self._frame.columns, strict=True))
        for name in names:
            if raw[name] in self._halves:
                raise no_unicode(f"{self.label}: row {self._halves[raw[name]]}", name)
        return pl.DataFrame({name: self._frame[raw[name]] for name in names})


_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


def is_url(text: str) -> bool:
    """Whether a text names a file elsewhere."""
    return _URL.match(text) is not None


def name_of(url: str) -> str:
    """The part of an address that ends in the file's suffix, without a query behind it."""
    parts = urlsplit(url)
    return parts.path if parts.scheme in ("http", "https") else url


# Control characters, what is UTF-8 elsewhere in the file, and runs of letters that other alphabets make.
_NOT_WINDOWS = re.compile(
    rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\x80-\xff]{3}"
)


def decode(label: str, data: bytes) -> str:
    """Bytes as text; an error says which byte of which line is no UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        found = f"byte 0x{data[error.start]:02x} in line {line}"
        convert = f"iconv -f ENCODING -t utf-8 {shlex.quote(label)} > NEW_FILE"
        hint = f"save it as UTF-8, or convert it: {convert}"
        raise InputError(f"{label}: the text is not UTF-8", found=found, hint=hint) from None


def from_windows(data: bytes) -> bytes | None:
    """A text of Windows-1252, as spreadsheets of western Europe save it, in UTF-8; None of anything else."""
    if data.isascii() or _NOT_WINDOWS.search(data):
        return None
    try:
        return data.decode("cp1252").encode()
    except UnicodeDecodeError:
        return None


def excerpt(line: bytes) -> str:
    """The beginning of a line for a message."""
    text = line[:400].decode(errors="replace").strip()
    return text if len(text) <= 80 else text[:80] + "…"


def lacks_package(what: str, package: str, hint: str) -> UsageError:
    """Return the error of a library that is missing."""
    return UsageError(f"{what} needs the package {package}", found="it is not installed", hint=hint)
