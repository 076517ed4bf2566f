"""Opened inputs: base classes, provenance, options, and sources of data frames, Arrow and NumPy files."""

import io
import re
import shlex
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from types import MappingProxyType
from typing import Any, BinaryIO
from urllib.parse import urlsplit

import numpy as np
import polars as pl

from riskrank.errors import InputError, UsageError, listing, mask_secrets
from riskrank.scores.files import guards
from riskrank.scores.files.guards import Budget, empty_error, require_columns, require_distinct
from riskrank.scores.files.parsing import build_column, plain_column, unicode_error
from riskrank.scores.names.directions import is_metric_name
from riskrank.scores.names.vocabulary import suggests_role


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
    metric : str
        Metric of all scores, if the structure of the file names one.
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
    metric: str = ""
    model_label: str | None = None
    queried = False
    native_sql = False
    columnar = False
    folder_columns: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    may_be_empty = False
    is_data_set = False

    def __init__(self, label: str, data: bytes, sha256: str | None) -> None:
        """Set the label, the contents and the SHA-256 digest of the file; secrets in a URL are masked."""
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
        """Return the model inputs and outputs of the rows at some positions.

        They are the columns ``input`` and ``output``. Return None for query results, and for tables, which
        store texts in ordinary columns.
        """
        return None

    def scan(self, names: Sequence[str]) -> pl.LazyFrame | None:
        """Return the named columns as a lazy frame, or None if the source does not support it."""
        return None

    def height(self) -> int:
        """Return the number of rows."""
        return self.load(self.columns[:1]).height

    def file_without(self, column: str) -> str | None:
        """Return the first file of the source that lacks a column, or None if every file has it."""
        return None

    def file_of(self, position: int) -> str:
        """Return the name of the file from which the row at a position was read."""
        return self.label

    def row_number(self, position: int) -> int:
        """Return the number, in its file and counted from 1, of the data row at a position."""
        return position + 1

    def column_of(self, column: str, position: int) -> str:
        """Return the column of the file from which a value was read, given its column and row position."""
        return column

    def input_file(self, rows: int) -> InputFile:
        """Return the provenance of this file, given its number of rows."""
        return InputFile(path=self.label, sha256=self.sha256, rows=rows)

    def input_files(self, rows: int, positions: np.ndarray | None = None) -> tuple[InputFile, ...]:
        """Return the provenance of all files of this source.

        If `positions` is given, only files that contain these rows are included.
        """
        return (self.input_file(rows),)

    def _name_columns(self, raw: Sequence[str]) -> None:
        """Set the column names to the raw names without whitespace; raise InputError for duplicates."""
        require_columns(self.label, raw)
        self.columns = tuple(name.strip() for name in raw)
        require_distinct(self.label, self.columns)

    def error_with_columns(
        self, problem: str, hint: str, suggestions: Sequence[tuple[str, object]] = ()
    ) -> InputError:
        """Return an error whose details list the columns of the source.

        `suggestions` are pairs of a command to copy and the options that it sets.
        """
        detail = f"columns: {listing(self.columns, 20)}"
        return InputError(f"{self.label}: {problem}", found=detail, hint=hint, suggestions=suggestions)

    def _empty_error(self, detail: str) -> InputError:
        """Return the error for an empty input. `detail` says what was found instead of rows."""
        return empty_error(self.label, detail)


# Paths as given, and open sources.
Paths = Sequence[str | Source]


class FrameInMemory(Source):
    """A source whose data are in memory, under the column names in the file."""

    _frame: pl.DataFrame
    # Columns with a lone surrogate, and the first row that contains one.
    _surrogates: Mapping[str, int] = MappingProxyType({})

    def _set_frame(self, frame: pl.DataFrame, empty: str = "") -> None:
        """Set the data and the column names.

        If there is no row and `empty` is not an empty text, raise InputError with this detail.
        """
        self._frame = frame
        self._name_columns(frame.columns)
        if empty and frame.height == 0:
            raise self._empty_error(empty)

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
    """Convert Windows-1252 text to UTF-8; return None if the bytes are in another encoding."""
    if data.isascii() or _NOT_WINDOWS.search(data):
        return None
    try:
        return data.decode("cp1252").encode()
    except UnicodeDecodeError:
        return None


def excerpt(line: bytes) -> str:
    """Return the beginning of a line of bytes as text, for use in messages."""
    text = line[:400].decode(errors="replace").strip()
    return text if len(text) <= 80 else text[:80] + "…"


def missing_package_error(subject: str, package: str, hint: str) -> UsageError:
    """Return the error for a package that is not installed. `subject` is what needs it."""
    return UsageError(f"{subject} needs the package {package}", found="not installed", hint=hint)


def is_frame(value: object) -> bool:
    """Return True if a value is a table in memory, such as a data frame or a mapping of columns."""
    is_table = isinstance(value, Mapping | pl.LazyFrame) or is_pandas(value)
    return is_table or hasattr(value, "__arrow_c_stream__")


def is_pandas(value: object) -> bool:
    """Return True if a value is a pandas frame or series, without importing pandas."""
    return type(value).__module__.partition(".")[0] == "pandas"


def is_array(value: object) -> bool:
    """Return True for a NumPy array."""
    return isinstance(value, np.ndarray)


def _model_table(table: Any) -> pl.DataFrame:
    """Convert one model's scores to a data frame, from a frame or a mapping of samples to numbers."""
    if isinstance(table, Mapping) and all(isinstance(score, Real) for score in table.values()):
        table = {"sample": [*table], "score": [*table.values()]}
    return FrameSource(table)._frame


def score_frame(data: Any, names: Sequence[str] | None = None) -> pl.DataFrame | None:
    """Convert arrays of scores to a data frame with one row per model and sample.

    Parameters
    ----------
    data : object
        Array of shape (samples,) or (samples, models), sequence of arrays, mapping of model names to
        sequences of numbers or to tables, or frame with a column of floats per model.
    names : sequence of str, optional
        Names of the models in arrays.

    Returns
    -------
    DataFrame or None
        None if the data have another form, such as a table of columns.
    """
    if isinstance(data, pl.DataFrame) or (is_pandas(data) and getattr(data, "ndim", 0) > 1):
        table = FrameSource(data)._frame
        data = table.to_dict() if all(kind.is_float() for kind in table.dtypes) else None
    if isinstance(data, Mapping):
        if any(is_metric_name(name) or (suggests_role(name) and len(name) > 1) for name in map(str, data)):
            return None
        if data and all(isinstance(part, Mapping) or hasattr(part, "columns") for part in data.values()):
            tables = (_model_table(part).with_columns(model=pl.lit(str(name))) for name, part in data.items())
            return pl.concat(tables, how="diagonal_relaxed")
        columns, names = [np.asarray(values) for values in data.values()], [*data]
    elif is_array(data) or (isinstance(data, list | tuple) and data and all(map(is_array, data))):
        columns = [*data.T] if is_array(data) and data.ndim > 1 else [data] if is_array(data) else [*data]
    else:
        return None
    if len(columns) < 2 or any(column.ndim != 1 or column.dtype.kind not in "biuf" for column in columns):
        return None
    if names is None or len(names) != len(columns):
        names = [f"model{number}" for number in range(1, len(columns) + 1)]
    parts = [
        {"model": [str(name)] * column.size, "sample": [*range(column.size)], "score": column.astype(float)}
        for name, column in zip(names, columns, strict=True)
    ]
    return pl.concat(map(pl.DataFrame, parts))


class FrameSource(FrameInMemory):
    """A data frame in memory.

    Parameters
    ----------
    frame : object
        A data frame of Polars, pandas, PyArrow, DuckDB or another library that exports an Arrow stream, or a
        mapping of column names to sequences.
    """

    def __init__(self, frame: Any) -> None:
        """Convert the frame to Polars; raise InputError if this fails or there is no row."""
        super().__init__("frame", b"", None)  # a frame has no bytes to hash
        example = "{'model': [...], 'sample': [...], 'metric': [...], 'score': [...]}"
        hint = f"pass columns of equal length: a frame, or a dict such as {example}"
        with guards.translate_errors("the frame", "", hint):
            if isinstance(frame, pl.LazyFrame):
                table = frame.collect()
            elif is_pandas(frame):
                table = _from_pandas(frame)
            else:
                table = pl.DataFrame(dict(frame) if isinstance(frame, Mapping) else frame).rechunk()
        self._set_frame(pl.DataFrame([*map(plain_column, table)]), "a frame with no rows")


class ArrowSource(FrameInMemory):
    """A file in the Arrow IPC format, which is also that of Feather."""

    def __init__(self, label: str, data: bytes, sha256: str) -> None:
        """Decode the contents of an Arrow file; see `Source` for the parameters."""
        super().__init__(label, b"", sha256)
        file = io.BytesIO(data)
        with guards.translate_errors(f"{label}: the file", "Arrow", guards.COPY_HINT):
            if data[:6] == b"ARROW1":  # the number of rows is known before anything is unpacked
                lazy = pl.scan_ipc(file)
                height = lazy.select(pl.len()).collect().item()
                guards.require_plausible_size(label, height, len(lazy.collect_schema()), len(data))
            frame = (pl.read_ipc if data[:6] == b"ARROW1" else pl.read_ipc_stream)(file)
        self._set_frame(pl.DataFrame([*map(plain_column, frame)]), "a file with no rows")


class ArraySource(FrameInMemory):
    """A NumPy file with the scores of one model, of shape (samples,) or (runs, samples)."""

    def __init__(self, label: str, data: bytes, sha256: str) -> None:
        """Decode the contents of a NumPy file; see `Source` for the parameters."""
        super().__init__(label, b"", sha256)
        is_archive = data[:2] == b"PK"
        arrays = "np.load(FILE).items()" if is_archive else "np.load(FILE, allow_pickle=True).item().items()"
        python = f"json.dump({{k: v.tolist() for k, v in {arrays}}}, …)"
        hint = f"save arrays of numbers, or a dictionary as JSON: {python}"
        with guards.translate_errors(f"{label}: the array", "", hint):
            if is_archive:
                raise ValueError("an archive of several arrays")
            try:
                array = np.load(io.BytesIO(data), allow_pickle=False)
            except MemoryError:  # the header claims more numbers than the file has
                raise ValueError("a shape that needs more memory than there is") from None
            scores = np.atleast_2d(array).astype(float) if array.ndim < 3 else None
        if scores is None or not scores.size:
            hint = "save one array per model, with one row per run and one column per sample or task"
            raise InputError(f"{label}: not a table of scores", found=f"shape {array.shape}", hint=hint)
        places = np.indices(scores.shape).reshape(2, -1)
        columns = {"draw": places[0], "sample": places[1]} if len(scores) > 1 else {"sample": places[1]}
        frame = pl.DataFrame({**columns, "score": scores.ravel()})
        self._set_frame(frame.with_columns(metric=pl.lit("score")))


def _from_pandas(data: Any) -> pl.DataFrame:
    """Convert a pandas frame or series to Polars, including its index.

    An unnamed integer index is dropped.

    Raises
    ------
    InputError
        If the column index has several levels.
    """
    frame = data if data.ndim > 1 else data.to_frame(data.name or "score")
    if frame.columns.nlevels > 1:
        problem = f"the columns of the frame have {frame.columns.nlevels} levels of names"
        detail = f"columns: {listing(frame.columns.to_list(), 4)}"
        hint = "name the levels, for example frame.columns.names = ['metric', 'model'], and stack them to "
        hint += "one row per score: frame.stack(frame.columns.names).rename('score')"
        raise InputError(problem, found=detail, hint=hint)
    frame = _include_index(frame)
    try:
        import pyarrow  # noqa: F401  # Polars asks it for columns of text
    except ImportError:
        return pl.DataFrame([_column(str(name), frame[name]) for name in frame.columns])
    frame.columns = [str(name) for name in frame.columns]
    return pl.DataFrame(frame)


def _include_index(frame: Any) -> Any:
    """Return a pandas frame with its index as columns, unless the index is an unnamed integer index."""
    index = frame.index
    if index.nlevels == 1 and index.name is None and index.dtype.kind in "iu":
        return frame.reset_index(drop=True)
    defaults = [f"level_{i}" for i in range(index.nlevels)] if index.nlevels > 1 else ["index"]
    names = [default if name is None else name for name, default in zip(index.names, defaults, strict=True)]
    levels, result = index.to_frame(index=False), frame.reset_index(drop=True)
    levels.columns = names
    for i, name in enumerate(name for name in names if name not in frame.columns):
        result.insert(i, name, levels[name])
    return result


def _column(name: str, series: Any) -> pl.Series:
    """Convert a pandas series to a Polars series, with times in UTC."""
    if getattr(series.dtype, "tz", None) is not None:
        series = series.dt.tz_convert("UTC").dt.tz_localize(None)
    values = series.to_numpy() if series.dtype.kind in "biufM" else series.astype(object).to_numpy()
    if values.dtype != object:
        return pl.Series(name, values)
    missing = series.isna()
    return build_column(name, [None if null else cell for cell, null in zip(values, missing, strict=True)])
