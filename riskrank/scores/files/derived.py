"""Sources that transform another source while keeping track of where each row comes from."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from riskrank.scores.files.json_objects import json_object, json_text
from riskrank.scores.files.parsing import column_kind, drop_missing, join_columns
from riskrank.scores.files.source import InputFile, Source
from riskrank.scores.names.vocabulary import INDEX, is_unnamed

# Rows and columns examined for JSON objects.
_HEAD_ROWS, _MAX_COLUMNS = 100, 1_000
# Levels of nested objects that become columns; deeper ones stay text.
_MAX_LEVELS = 8

# Attributes that a derived source copies.
_INHERITED = "columns decimal_comma model_label queried native_sql folder_columns notes"


class DerivedSource(Source):
    """A source that presents the data of another source in a different form."""

    def __init__(self, inner: Source) -> None:
        super().__init__(inner.label, b"", inner.sha256)
        for name in _INHERITED.split():
            setattr(self, name, getattr(inner, name))
        self._inner = inner

    def _inner_position(self, position: int) -> int:
        """Return the position of a row in the inner source."""
        return position

    def file_of(self, position: int) -> str:
        """Return the file that contains a row."""
        return self._inner.file_of(self._inner_position(position))

    def row_number(self, position: int) -> int:
        """Return the number of a data row in its file."""
        return self._inner.row_number(self._inner_position(position))

    def column_of(self, column: str, position: int) -> str:
        """Return the name of the column in the file from which a value was read."""
        return self._inner.column_of(column, self._inner_position(position))

    def input_files(self, rows: int, positions: np.ndarray | None = None) -> tuple[InputFile, ...]:
        """Return the provenance of all inner files."""
        return self._inner.input_files(rows, positions)


class IndexedSource(DerivedSource):
    """A source whose only unnamed column is given the name `INDEX`."""

    def __init__(self, inner: Source, unnamed: str) -> None:
        super().__init__(inner)
        self._unnamed = unnamed
        self.columns = tuple(INDEX if name == unnamed else name for name in inner.columns)

    def load(self, names: Sequence[str]) -> pl.DataFrame:
        """Return the named columns."""
        frame = self._inner.load([self._unnamed if name == INDEX else name for name in names])
        return frame.rename({self._unnamed: INDEX}) if INDEX in names else frame


def name_index(source: Source) -> Source:
    """Give the only unnamed column of a source a name if it contains text.

    Otherwise return the source unchanged.
    """
    unnamed = [name for name in source.columns if is_unnamed(name)]
    if len(unnamed) != 1 or INDEX in source.columns:
        return source
    values = source.load(unnamed).to_series()
    names = column_kind(values, source.decimal_comma) == "text"
    return IndexedSource(source, unnamed[0]) if names else source


class FilteredSource(DerivedSource):
    """A source restricted to some of its rows.

    Parameters
    ----------
    inner : Source
    positions : ndarray of int, shape (n,)
        Positions of the rows to keep, in ascending order.
    """

    def __init__(self, inner: Source, positions: np.ndarray) -> None:
        super().__init__(inner)
        self.columnar = inner.columnar
        self._rows = positions

    def load(self, names: Sequence[str]) -> pl.DataFrame:
        """Return the named columns of the selected rows."""
        return self._inner.load_rows(names, self._rows)

    def texts(self, positions: np.ndarray) -> pl.DataFrame | None:
        """Return the model inputs and outputs of some of the selected rows."""
        return self._inner.texts(self._rows[positions])

    def _inner_position(self, position: int) -> int:
        """Return the position of a selected row in the unfiltered source."""
        return int(self._rows[position])

    def input_files(self, rows: int, positions: np.ndarray | None = None) -> tuple[InputFile, ...]:
        """Return the provenance of all inner files with their selected row counts."""
        return self._inner.input_files(rows, self._rows if positions is None else self._rows[positions])


class JoinedSource(DerivedSource):
    """A source in which several columns are joined into one, as in ``name+prompt``.

    The joined columns are removed unless they have another role; in a wide table they would become metrics.
    """

    def __init__(self, inner: Source, joined: dict[str, tuple[str, ...]], *, retained: Sequence[str]) -> None:
        super().__init__(inner)
        used = {part for parts in joined.values() for part in parts} - set(retained)
        self.columns = (*(name for name in inner.columns if name not in used), *joined)
        self._joined = joined

    def texts(self, positions: np.ndarray) -> pl.DataFrame | None:
        """Return the model inputs and outputs of some rows."""
        return self._inner.texts(positions)

    def load(self, names: Sequence[str]) -> pl.DataFrame:
        """Return the named columns. A joined value is missing if any of its parts is missing."""
        needed = dict.fromkeys(part for name in names for part in self._joined.get(name, (name,)))
        frame = self._inner.load(list(needed))
        return frame.select(
            join_columns(parts).alias(name) if (parts := self._joined.get(name)) else pl.col(name)
            for name in names
        )


class FlatSource(DerivedSource):
    """A source with one column per field of its nested JSON objects, such as ``scores.f1``."""

    def __init__(self, inner: Source, fields: dict[str, tuple[str, str]]) -> None:
        super().__init__(inner)
        nested = {column for column, _ in fields.values()}
        self.columns = (*(name for name in inner.columns if name not in nested), *fields)
        self._fields = fields

    def load(self, names: Sequence[str]) -> pl.DataFrame:
        """Return the named columns. A value is missing if its object lacks the field."""
        origins = {name: self._fields.get(name, (name, "")) for name in names}
        frame = self._inner.load(list(dict.fromkeys(column for column, _ in origins.values())))
        nested = {origins[name][0] for name in names if name in self._fields}
        parsed = {column: [_as_object(cell) or {} for cell in frame[column].to_list()] for column in nested}

        def extract(name: str, column: str, key: str) -> pl.Series:
            values = [json_text(row.get(key)) for row in parsed.get(column, ())]
            return pl.Series(name, values) if name in self._fields else frame[name]

        return pl.DataFrame([extract(name, *origin) for name, origin in origins.items()])


def flatten(source: Source, levels: int = _MAX_LEVELS) -> Source:
    """Return a source with one column per field of nested JSON objects, up to `levels` deep.

    A source without such columns is returned unchanged.
    """
    fields: dict[str, tuple[str, str]] = {}
    names = [name for name in source.columns if name]
    frame = source.load(names[:_MAX_COLUMNS])
    for column in (series for series in frame.iter_columns() if not series.dtype.is_numeric()):
        cells = drop_missing(column).head(_HEAD_ROWS).to_list()
        objects = [_as_object(cell) for cell in cells]
        if objects and all(series is not None for series in objects):
            keys = dict.fromkeys(key for series in objects for key in series or ())
            fields |= {f"{column.name}.{key}": (column.name, key) for key in keys}
    if not fields or {*fields} & {*source.columns}:
        return source
    flat = FlatSource(source, fields)
    return flatten(flat, levels - 1) if levels > 1 else flat


def _as_object(cell: object) -> dict[str, object] | None:
    """Return a cell as a JSON object, or None."""
    if isinstance(cell, str) and cell[:1] == "{":
        return json_object(cell)
    return cell if isinstance(cell, dict) else None
