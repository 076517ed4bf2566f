"""Parquet files, checked against the budget and for content that makes Polars panic."""

import io
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, TypeVar

import polars as pl

from riskrank.errors import InputError, option
from riskrank.scores.files.guards import COPY_HINT, MAX_COLUMNS, Budget, translate_errors
from riskrank.scores.files.parsing import plain_column
from riskrank.scores.files.source import Source

Read = TypeVar("Read")

# Size of a number in bytes, and minimum number of bytes counted per row.
_VALUE_SIZE, _ROW_SIZE = 8, 32
# Days from 1970 to the first day of year 1 and the last day of 9999, the range that Polars can format.
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896
# Maximum digits of a decimal in Polars; decimal256 of Arrow allows 76.
_MAX_DIGITS = 38
_TICKS = {"ms": 86_400_000, "us": 86_400_000_000}


class ParquetSource(Source):
    """A Parquet file; only the requested columns are decoded."""

    columnar = True

    def __init__(self, label: str, data: bytes, sha256: str, budget: Budget) -> None:
        """Read the footer and the column names; see `Source` for the parameters."""
        super().__init__(label, data, sha256)
        self._budget = budget
        if not data:
            raise self._empty_error("0 bytes")
        with self._decoding():
            self._footer = _Footer(label, data)
        self._data = self._footer.data
        self._schema = self._read(lambda: pl.read_parquet_schema(io.BytesIO(self._data)))
        self._name_columns(list(self._schema))
        self._positions = {name: i for i, name in enumerate(self.columns)}

    def load(self, names: Sequence[str]) -> pl.DataFrame:
        """Return the named columns."""
        raw = self._raw_names(names)
        columns = [*raw.values()]
        frame = self._read(lambda: pl.read_parquet(io.BytesIO(self._data), columns=columns))
        if columns and frame.height == 0 and not self.may_be_empty:
            raise self._empty_error("a Parquet file with no rows")
        self._require_dates(frame)
        for codes in frame.select(pl.selectors.categorical()):
            # Gather texts in shared memory; a cast would copy each text.
            unique = codes.unique().drop_nulls()
            places = pl.int_range(len(unique), eager=True)
            indices = codes.to_physical().replace_strict(unique.to_physical(), places)
            frame = frame.with_columns(unique.cast(pl.String).gather(indices).alias(codes.name))
        # Rows may share a text in memory, but each row is processed.
        sizes = frame.select(pl.col(pl.String).str.len_bytes().sum(), pl.col(pl.Binary).bin.size().sum())
        self._charge(max(int(frame.estimated_size()), sum(sizes.row(0)) if sizes.width else 0))
        return pl.DataFrame({name: plain_column(frame[raw[name]]) for name in names})

    def scan(self, names: Sequence[str]) -> pl.LazyFrame:
        """Return the named columns as a lazy frame."""
        raw = self._raw_names(names)
        return pl.scan_parquet(io.BytesIO(self._data)).select(pl.col(raw[name]).alias(name) for name in names)

    def _raw_names(self, names: Sequence[str]) -> dict[str, str]:
        """Return the column names as stored in the file, by name without surrounding whitespace.

        The size of the columns is checked against the budget.
        """
        positions = [self._positions[name] for name in names]
        with self._decoding():
            size = sum(map(self._footer.unpacked_size, positions))
        self._charge(max(size, self.height() * _ROW_SIZE))
        raw = list(self._schema)
        for dtype, name in ((self._schema[raw[at]], raw[at]) for at in positions):
            if isinstance(dtype, pl.Decimal) and dtype.precision > _MAX_DIGITS:
                problem = f"{self.label}: column '{name}' has decimals of {dtype.precision} digits"
                hint = "write the column as float64, or as decimals of fewer digits"
                raise InputError(problem, found=f"{dtype}; the maximum is {_MAX_DIGITS} digits", hint=hint)
        return {name: raw[position] for name, position in zip(names, positions, strict=True)}

    def height(self) -> int:
        """Return the number of rows as stated in the footer."""
        self._charge(self._height * _ROW_SIZE)
        return self._height

    @cached_property
    def _height(self) -> int:
        """Number of rows."""
        return self._read(lambda: pl.scan_parquet(io.BytesIO(self._data)).select(pl.len()).collect().item())

    def _charge(self, size: int) -> None:
        """Count a number of decompressed bytes against the budget."""
        self._budget.charge(self.label, len(self._data), size)

    def _require_dates(self, frame: pl.DataFrame) -> None:
        """Raise InputError for dates outside the years 1 to 9999, which make Polars panic."""
        for column in frame.select(pl.selectors.date() | pl.selectors.datetime(["ms", "us"])):
            days = _TICKS[column.dtype.time_unit] if isinstance(column.dtype, pl.Datetime) else 1
            ticks = column.to_physical()
            if ((ticks < _FIRST_DAY * days) | (ticks >= (_LAST_DAY + 1) * days)).any():
                problem = f"{self.label}: column '{column.name}' has dates outside the years 1 to 9999"
                detail = f"{ticks.min()!r} to {ticks.max()!r}, counted from 1970"
                raise InputError(problem, found=detail, hint="write dates as text and numbers as numbers")

    def _read(self, reader: Callable[[], Read]) -> Read:
        """Call a function that reads the file, and return its result.

        Errors of the decoder become InputError.
        """
        with self._decoding():
            return reader()

    def _decoding(self) -> Any:
        """Return a context manager that converts errors of the decoder to InputError."""
        hint = f"{COPY_HINT}, or set its format with {option('input_format')}"
        return translate_errors(f"{self.label}: the file", "Parquet", hint)


# Maximum levels of a column (a list has two); Polars recurses until the stack overflows.
_MAX_DEPTH = 64
_MAGIC = b"PAR1"
# Maximum number of values in the footer and page headers.
_MAX_VALUES = 6_000_000
# The Arrow schema and the first bytes of its length; from 16 KB on, at least two bytes have a continuation
# bit. Polars recurses into it until the stack overflows, too; without it the Parquet types apply.
_ARROW = re.compile(rb"ARROW:schema\x18([\x80-\xff]*)")
# Type codes of the Thrift compact protocol.
_DOUBLE, _BYTES, _LISTS, _STRUCT = 7, 8, (9, 10), 12
# Field numbers: schema and row groups of the file; value width and number of children of a schema element;
# columns of a group; compressed size and first pages of a column; sizes and number of values of a page.
_SCHEMA, _GROUPS, _WIDTH, _CHILDREN, _COLUMNS, _CHUNK = 2, 4, 2, 5, 1, 3
_PACKED, _DATA_PAGE, _DICTIONARY_PAGE = 7, 9, 11
_PAGE_UNPACKED, _PAGE_PACKED, _PAGE_HEADS, _VALUES = 2, 3, (5, 7, 8), 1


class _Footer:
    """Columns and page sizes, as stated in the footer of a Parquet file.

    Attributes
    ----------
    data : bytes
        The file without an overly long Arrow schema.
    """

    def __init__(self, label: str, data: bytes) -> None:
        """Parse the footer of a file; `label` is its name in messages."""
        self.data = data
        self._chunks: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
        self._sizes: Counter[int] = Counter()
        start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
        if data[-4:] != _MAGIC or start < 0:
            return  # no footer: Polars reports it
        self._values = _Thrift(data)
        footer, _ = self._values.struct(start)
        depth, leaves = _schema_depth_and_leaves(footer[_SCHEMA])
        if len(leaves) > MAX_COLUMNS:
            raise ValueError(f"more than {MAX_COLUMNS:,} columns")
        if depth > _MAX_DEPTH:
            problem = f"{label}: a column is nested too deeply"
            detail = f"{depth:,} levels; the maximum is {_MAX_DEPTH}, and a list counts as two"
            raise InputError(problem, found=detail, hint="remove the column, or flatten it")
        for group in footer.get(_GROUPS, ()):
            for (column, width), described in zip(leaves, group[_COLUMNS], strict=True):
                chunk = described[_CHUNK]
                first = min(filter(None, (chunk.get(_DICTIONARY_PAGE), chunk[_DATA_PAGE])))
                self._chunks[column].append((width, first, first + chunk[_PACKED]))
        end = _ARROW.sub(lambda match: match[0] if len(match[1]) < 2 else match[0].swapcase(), data[start:])
        if end != data[start:]:
            self.data = data[:start] + end

    def unpacked_size(self, column: int) -> int:
        """Return the decompressed size of a column in bytes, which is at least the size of its values."""
        for width, start, end in self._chunks.pop(column, ()):
            position = start
            while position < end:
                page, position = self._values.struct(position)
                values = [page[field][_VALUES] for field in _PAGE_HEADS if field in page]
                self._sizes[column] += max(page[_PAGE_UNPACKED], width * sum(values))
                position += page[_PAGE_PACKED]
        return self._sizes[column]


def _schema_depth_and_leaves(schema: Iterable[dict[int, int]]) -> tuple[int, list[tuple[int, int]]]:
    """Return the depth of a Parquet schema, and the column and value size in bytes of each leaf.

    The schema lists its elements in depth-first order, each with the number of its children.
    """
    depth, column, leaves, remaining = 0, -1, list[tuple[int, int]](), list[int]()
    for element in schema:
        count = element.get(_CHILDREN, 0)
        while remaining and not remaining[-1]:
            remaining.pop()
        depth = max(depth, len(remaining))
        column += len(remaining) == 1
        if remaining:
            remaining[-1] -= 1
        if count > 0:
            remaining.append(count)
        else:
            leaves.append((column, max(element.get(_WIDTH, 0), _VALUE_SIZE)))
    return depth, leaves


class _Thrift:
    """Parser for numbers, lists and structs in Thrift's compact protocol, with a limit on their number."""

    def __init__(self, data: bytes) -> None:
        """Set the bytes to parse."""
        self._data, self._left = data, _MAX_VALUES

    def struct(self, position: int) -> tuple[dict[int, Any], int]:
        """Return the struct at a position as a dictionary by field number, and the position after it.

        Raises
        ------
        ValueError, LookupError, RecursionError
            If the bytes are not a valid struct.
        """
        data, values, field = self._data, dict[int, Any](), 0
        while head := data[position]:
            position += 1
            field += head >> 4
            if head < 16:  # the field number follows separately
                number, position = self._number(position)
                field = number >> 1
            values[field], position = self._value(head & 15, position) if head & 15 > 2 else (None, position)
        self._count(len(values) + 1)
        return values, position + 1

    def _value(self, kind: int, position: int) -> tuple[Any, int]:
        """Return the value of a type at a position, and the position after it.

        `kind` is the type code. Bytes, booleans and doubles become None.
        """
        if kind == _STRUCT:
            return self.struct(position)
        if kind in _LISTS:
            return self._list(position)
        if kind < 4 or kind == _DOUBLE:
            return None, position + (8 if kind == _DOUBLE else 1)
        number = self._data[position]
        number, position = (number, position + 1) if number < 128 else self._number(position)
        if kind == _BYTES:
            return None, position + number
        if kind > _BYTES:
            raise ValueError(f"a value of type {kind}")
        return (number >> 1) ^ -(number & 1), position

    def _list(self, position: int) -> tuple[list[Any], int]:
        """Return the list at a position, and the position after it."""
        head = self._data[position]
        size, position = (head >> 4, position + 1) if head < 240 else self._number(position + 1)
        self._count(size)
        values = []
        for _ in range(size):
            value, position = self._value(head & 15, position)
            values.append(value)
        return values, position

    def _number(self, position: int) -> tuple[int, int]:
        """Return the variable-length integer at a position, and the position after it.

        Each byte contains seven bits of the integer.
        """
        number, shift = 0, 0
        while (byte := self._data[position]) > 127 and shift < 63:
            number |= (byte & 127) << shift
            position, shift = position + 1, shift + 7
        return number | byte << shift, position + 1

    def _count(self, values: int) -> None:
        """Count values of the footer, and raise ValueError if there are too many in all."""
        self._left -= values
        if self._left < 0:
            raise ValueError(f"more than {_MAX_VALUES:,} values in its footer")
