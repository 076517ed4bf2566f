"""Parquet files, of which some make Polars end in a panic, with pages of its insides."""

import io
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, TypeVar

import polars as pl

from riskrank.errors import InputError, option
from riskrank.scores.files.guards import COPY_AGAIN, MOST_COLUMNS, Budget, decoding
from riskrank.scores.files.parsing import plain_column
from riskrank.scores.files.source import Source

Read = TypeVar("Read")

# Bytes of a number, and of a row of scores, whatever is asked for of it.
_CELL, _ROW = 8, 32
# Days from 1970 to the first of the year 1, and to the last of 9999: Polars writes no others out.
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896
_TICKS = {"ms": 86_400_000, "us": 86_400_000_000}


class ParquetSource(Source):
    """A Parquet file, of which only the needed columns are decoded."""

    columnar = True

    def __init__(self, label: str, data: bytes, sha256: str, budget: Budget) -> None:
        super().__init__(label, data, sha256)
        self._budget = budget
        if not data:
            raise self._empty("0 bytes")
        with self._decoding():
            self._footer = _Footer(label, data)
        self._data = self._footer.data
        self._schema = self._read(lambda: pl.read_parquet_schema(io.BytesIO(self._data)))
        self._name_columns(list(self._schema))
        self._places = {name: place for place, name in enumerate(self.columns)}

    def load(self, names: Sequence[str]) -> pl.DataFrame:
        """Return the named columns."""
        raw = self._asked(names)
        wanted = [*raw.values()]
        frame = self._read(lambda: pl.read_parquet(io.BytesIO(self._data), columns=wanted))
        if wanted and frame.height == 0 and not self.may_be_empty:
            raise self._empty("a Parquet file with no rows")
        if any(dtype.is_temporal() for dtype in frame.dtypes):
            self._require_dates(frame)
        frame = frame.with_columns(map(_shared_texts, frame.select(pl.selectors.categorical())))
        # A text that many rows share lies in memory once, but each row is looked at.
        self._take(max(int(frame.estimated_size()), sum(map(_letters, frame))))
        return pl.DataFrame({name: plain_column(frame[raw[name]]) for name in names})

    def scan(self, names: Sequence[str]) -> pl.LazyFrame:
        """Return the named columns without reading them yet."""
        raw = self._asked(names)
        return pl.scan_parquet(io.BytesIO(self._data)).select(pl.col(raw[name]).alias(name) for name in names)

    def _asked(self, names: Sequence[str]) -> dict[str, str]:
        """Return the names of columns as they stand in the file, if the budget has room for the columns."""
        places = [self._places[name] for name in names]
        with self._decoding():
            size = sum(map(self._footer.unpacked_size, places))
        self._take(max(size, self.height() * _ROW))
        raw = list(self._schema)
        return {name: raw[place] for name, place in zip(names, places, strict=True)}

    def height(self) -> int:
        """Return the number of rows, which the footer holds."""
        self._take(self._height * _ROW)
        return self._height

    @cached_property
    def _height(self) -> int:
        return self._read(lambda: pl.scan_parquet(io.BytesIO(self._data)).select(pl.len()).collect().item())

    def _take(self, size: int) -> None:
        self._budget.take(self.label, len(self._data), size)

    def _require_dates(self, frame: pl.DataFrame) -> None:
        """Refuse dates that nobody can write, which Polars ends at."""
        for one in frame.select(pl.selectors.date() | pl.selectors.datetime(["ms", "us"])):
            days = _TICKS[one.dtype.time_unit] if isinstance(one.dtype, pl.Datetime) else 1
            ticks = one.to_physical()
            if ((ticks < _FIRST_DAY * days) | (ticks >= (_LAST_DAY + 1) * days)).any():
                raise InputError(
                    f"{self.label}: column '{one.name}' holds dates beyond the years 1 to 9999",
                    found=f"{ticks.min()!r} to {ticks.max()!r}, counted from 1970",
                    hint="write dates as text, or numbers as numbers",
                )

    def _read(self, reader: Callable[[], Read]) -> Read:
        with self._decoding():
            return reader()

    def _decoding(self) -> Any:
        hint = f"{COPY_AGAIN}, or name its format with {option('input_format')}"
        return decoding(f"{self.label}: the file", "Parquet", hint)


def _letters(column: pl.Series) -> int:
    """Return the bytes of the texts of a column, those that rows share in each."""
    if column.dtype == pl.Binary:
        return int(column.bin.size().sum())
    return int(column.str.len_bytes().sum()) if column.dtype == pl.String else 0


def _shared_texts(codes: pl.Series) -> pl.Series:
    """Return the texts of codes, each of which lies in memory once; a cast would copy it for every row."""
    unique = codes.unique().drop_nulls()
    places = codes.to_physical().replace_strict(unique.to_physical(), pl.int_range(len(unique), eager=True))
    return unique.cast(pl.String).gather(places).alias(codes.name)


# Levels of a column, of which a list takes two: Polars follows them until its stack is full.
_DEEPEST = 64
_MARK = b"PAR1"
# Values of the footer and of the heads of pages, which are read one by one.
_MOST_VALUES = 6_000_000
# A schema of Arrow, which describes the columns again, and the beginning of its length: from 16 KB on, two
# bytes go on. Polars follows it until its stack is full, too; without it columns are what Parquet says.
_ARROW = re.compile(rb"ARROW:schema\x18([\x80-\xff]*)")
# Types of Thrift's compact protocol, after truths, bytes and numbers.
_DOUBLE, _BYTES, _LISTS, _STRUCT = 7, 8, (9, 10), 12
# Fields: of the file its schema, and groups of rows; of an element of the schema the bytes of its values and
# the number of elements within; of a group its columns; of a column its bytes and first pages; of a page its
# bytes and values.
_SCHEMA, _GROUPS, _WIDTH, _WITHIN, _COLUMNS, _CHUNK = 2, 4, 2, 5, 1, 3
_PACKED, _DATA_PAGE, _DICTIONARY_PAGE = 7, 9, 11
_PAGE_UNPACKED, _PAGE_PACKED, _PAGE_HEADS, _VALUES = 2, 3, (5, 7, 8), 1


class _Footer:
    """What the end of a file says of its columns and pages.

    Attributes
    ----------
    data : bytes
        The file, without a long schema of Arrow.
    """

    def __init__(self, label: str, data: bytes) -> None:
        self.data = data
        self._chunks: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
        self._sizes: dict[int, int] = {}
        start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
        if data[-4:] != _MARK or start < 0:
            return  # no footer, which Polars says of every format
        self._values = _Thrift(data)
        footer, _ = self._values.struct(start)
        deepest, leaves = _nesting(footer[_SCHEMA])
        if len(leaves) > MOST_COLUMNS:
            raise ValueError(f"more than {MOST_COLUMNS:,} columns")
        if deepest > _DEEPEST:
            raise InputError(
                f"{label}: a column is nested too deep",
                found=f"{deepest:,} levels; {_DEEPEST} are allowed, and a list takes two",
                hint="leave the column out, or write it flat",
            )
        for group in footer.get(_GROUPS, ()):
            for (column, width), described in zip(leaves, group[_COLUMNS], strict=True):
                chunk = described[_CHUNK]
                first = min(filter(None, (chunk.get(_DICTIONARY_PAGE), chunk[_DATA_PAGE])))
                self._chunks[column].append((width, first, first + chunk[_PACKED]))
        end = _ARROW.sub(lambda found: found[0] if len(found[1]) < 2 else found[0].swapcase(), data[start:])
        if end != data[start:]:
            self.data = data[:start] + end

    def unpacked_size(self, column: int) -> int:
        """Return the bytes that the pages of a column unpack to, at least those of its values."""
        if column not in self._sizes:
            self._sizes[column] = sum(self._chunk_size(*chunk) for chunk in self._chunks[column])
        return self._sizes[column]

    def _chunk_size(self, width: int, at: int, end: int) -> int:
        size = 0
        while at < end:
            page, at = self._values.struct(at)
            values = [page[field][_VALUES] for field in _PAGE_HEADS if field in page]
            size += max(page[_PAGE_UNPACKED], width * sum(values))
            at += page[_PAGE_PACKED]
        return size


def _nesting(schema: Iterable[dict[int, int]]) -> tuple[int, list[tuple[int, int]]]:
    """Return the levels of a schema, and the column of each leaf, with the bytes of a value of it.

    Elements follow the one they lie in, which tells how many they are.
    """
    deepest, column, leaves, left = 0, -1, list[tuple[int, int]](), list[int]()
    for element in schema:
        count = element.get(_WITHIN, 0)
        while left and not left[-1]:
            left.pop()
        deepest = max(deepest, len(left))
        column += len(left) == 1
        if left:
            left[-1] -= 1
        if count > 0:
            left.append(count)
        else:
            leaves.append((column, max(element.get(_WIDTH, 0), _CELL)))
    return deepest, leaves


class _Thrift:
    """Numbers, lists and structs in Thrift's compact protocol, of which there may be millions."""

    def __init__(self, data: bytes) -> None:
        self._data, self._left = data, _MOST_VALUES

    def struct(self, at: int) -> tuple[dict[int, Any], int]:
        """Return the struct at a place, a dict by the numbers of its fields, and where it ends.

        Raises
        ------
        ValueError, LookupError, RecursionError
            If there is none.
        """
        data, values, field = self._data, dict[int, Any](), 0
        while head := data[at]:
            at += 1
            field += head >> 4
            if head < 16:  # the number of the field stands on its own
                number, at = self._number(at)
                field = number >> 1
            values[field], at = self._value(head & 15, at) if head & 15 > 2 else (None, at)
        self._count(len(values) + 1)
        return values, at + 1

    def _value(self, kind: int, at: int) -> tuple[Any, int]:
        """Return the value at a place, and where it ends; None of bytes, truths and fractions."""
        if kind == _STRUCT:
            return self.struct(at)
        if kind in _LISTS:
            return self._list(at)
        if kind < 4 or kind == _DOUBLE:
            return None, at + (8 if kind == _DOUBLE else 1)
        number = self._data[at]
        number, at = (number, at + 1) if number < 128 else self._number(at)
        if kind == _BYTES:
            return None, at + number
        if kind > _BYTES:
            raise ValueError(f"a value of type {kind}")
        return (number >> 1) ^ -(number & 1), at

    def _list(self, at: int) -> tuple[list[Any], int]:
        head = self._data[at]
        size, at = (head >> 4, at + 1) if head < 240 else self._number(at + 1)
        self._count(size)
        values = []
        for _ in range(size):
            value, at = self._value(head & 15, at)
            values.append(value)
        return values, at

    def _number(self, at: int) -> tuple[int, int]:
        """Return the number at a place, in pieces of seven bits, and where it ends."""
        number, shift = 0, 0
        while (byte := self._data[at]) > 127 and shift < 63:
            number |= (byte & 127) << shift
            at, shift = at + 1, shift + 7
        return number | byte << shift, at + 1

    def _count(self, values: int) -> None:
        self._left -= values
        if self._left < 0:
            raise ValueError(f"more than {_MOST_VALUES:,} values in its footer")
