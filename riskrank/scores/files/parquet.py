"""Parquet files, of which some make Polars end in a panic, with pages of its insides."""

import contextlib
import io
import os
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import IO, TypeVar

import polars as pl
from polars.exceptions import PanicException

from riskrank.errors import InputError, option
from riskrank.scores.files.limits import COPY_AGAIN, Room, unreadable
from riskrank.scores.files.parquet_footer import require_flat
from riskrank.scores.files.source import Source, first_line

Read = TypeVar("Read")

# Bytes of a number, and the least of a text; and of a row of scores, whatever is asked for of it.
_CELL, _LEAST_ROW = 8, 32
# Days from 1970 to the first of the year 1, and to the last of 9999: Polars writes no others out.
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896
_TICKS = {"ms": 86_400_000, "us": 86_400_000_000}
# Standard error is one for the whole process.
_ALONE = threading.RLock()


class ParquetSource(Source):
    """A Parquet file, of which only the needed columns are decoded."""

    columnar = True

    def __init__(self, label: str, data: bytes, sha256: str, room: Room) -> None:
        super().__init__(label, require_flat(label, data) if data else data, sha256)
        self._room = room
        if not data:
            raise self._empty("0 bytes")
        self._schema = self._read(lambda: pl.read_parquet_schema(io.BytesIO(self._data)))
        self._name_columns(list(self._schema))

    def load(self, names: Sequence[str]) -> pl.DataFrame:
        """The named columns."""
        raw = dict(zip(self.columns, self._schema, strict=True))
        wanted = [raw[name] for name in names]
        # A few bytes may say a value millions of times: what the columns unpack to is known by their rows.
        a_row = max(len(wanted) * _CELL, _LEAST_ROW)
        self._room.take(self.label, len(self._data), self.height() * a_row)
        frame = self._read(lambda: pl.read_parquet(io.BytesIO(self._data), columns=wanted))
        if wanted and frame.height == 0 and not self.may_be_empty:
            raise self._empty("a Parquet file with no rows")
        if any(dtype.is_temporal() for dtype in frame.dtypes):
            self._require_dates(frame)
        if pl.Categorical in frame.dtypes:
            frame = frame.with_columns(map(_shared_texts, frame.select(pl.selectors.categorical())))
        self._room.take(self.label, len(self._data), int(frame.estimated_size()))
        return pl.DataFrame({name: frame[raw[name]] for name in names})

    def scan(self, names: Sequence[str]) -> pl.LazyFrame:
        """The named columns without reading them yet."""
        raw = dict(zip(self.columns, self._schema, strict=True))
        return pl.scan_parquet(io.BytesIO(self._data)).select(pl.col(raw[name]).alias(name) for name in names)

    def height(self) -> int:
        """The number of rows, which the end of the file tells."""
        return self._height

    @cached_property
    def _height(self) -> int:
        return self._read(lambda: pl.scan_parquet(io.BytesIO(self._data)).select(pl.len()).collect().item())

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
        try:
            with panics_unsaid():
                return reader()
        # Some damaged pages make Polars panic, which is no PolarsError.
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
            why = "a value that Polars cannot decode" if "unwrap()" in str(error) else first_line(error)
            hint = f"{COPY_AGAIN}, or name its format with {option('input_format')}"
            raise unreadable(f"{self.label}: the file", why, hint, " as Parquet") from None


def _shared_texts(codes: pl.Series) -> pl.Series:
    """The texts that codes stand for, each of which lies in memory once; cast, it would in every row."""
    texts = codes.unique().drop_nulls().cast(pl.String)
    return texts.gather(codes.cast(pl.Enum(texts)).to_physical()).alias(codes.name)


@contextlib.contextmanager
def panics_unsaid() -> Iterator[None]:
    """Leave out what a panic writes; anything else that goes to standard error comes after."""
    with contextlib.ExitStack() as ending, _ALONE:
        try:
            held: IO[bytes] = ending.enter_context(tempfile.TemporaryFile())
            kept = os.dup(2)
        except OSError:  # no standard error, or no room for another file
            yield
            return
        os.dup2(held.fileno(), 2)
        try:
            yield
        except PanicException:
            held.truncate(0)
            raise
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            _write(held)


def _write(held: IO[bytes]) -> None:
    held.seek(0)
    with contextlib.suppress(OSError):
        while piece := held.read(1 << 16):
            os.write(2, piece)
