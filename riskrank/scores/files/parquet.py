"""Parquet files."""

import io
from collections.abc import Callable, Sequence
from typing import TypeVar

import polars as pl

from riskrank.errors import InputError, option
from riskrank.scores.files.contents import too_large
from riskrank.scores.files.panics import panics_unsaid
from riskrank.scores.files.source import Source, first_line

Read = TypeVar("Read")

# Bytes of a number, and the least of a text.
_CELL = 8


class ParquetSource(Source):
    """A Parquet file, of which only the needed columns are decoded."""

    columnar = True

    def __init__(self, label: str, data: bytes, sha256: str, limit: int | None = None) -> None:
        super().__init__(label, data, sha256)
        self._limit = limit
        if not data:
            raise self._empty("0 bytes")
        self._schema = self._read(lambda: pl.read_parquet_schema(io.BytesIO(data)))
        self._name_columns(list(self._schema))

    def load(self, names: Sequence[str]) -> pl.DataFrame:
        """The named columns."""
        raw = dict(zip(self.columns, self._schema, strict=True))
        wanted = [raw[name] for name in names]
        # A few bytes may say a value millions of times: what the columns unpack to is known by their rows.
        if self._limit is not None and self.height() * len(wanted) * _CELL > self._limit:
            raise too_large(self.label, self._limit)
        frame = self._read(lambda: pl.read_parquet(io.BytesIO(self._data), columns=wanted))
        if wanted and frame.height == 0 and not self.may_be_empty:
            raise self._empty("a Parquet file with no rows")
        return frame.select(pl.col(raw[name]).alias(name) for name in names)

    def scan(self, names: Sequence[str]) -> pl.LazyFrame:
        """The named columns without reading them yet."""
        raw = dict(zip(self.columns, self._schema, strict=True))
        return pl.scan_parquet(io.BytesIO(self._data)).select(pl.col(raw[name]).alias(name) for name in names)

    def height(self) -> int:
        """The number of rows, which the end of the file tells."""
        return self._read(lambda: pl.scan_parquet(io.BytesIO(self._data)).select(pl.len()).collect().item())

    def _read(self, reader: Callable[[], Read]) -> Read:
        try:
            with panics_unsaid():
                return reader()
        # Some damaged pages make Polars panic, which is no PolarsError.
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
            raise InputError(
                f"{self.label}: the file cannot be read as Parquet",
                found=first_line(error),
                hint="copy the file again (it may be cut short), or name its format with "
                f"{option('input_format')}",
            ) from None
