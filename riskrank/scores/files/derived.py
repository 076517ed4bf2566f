"""Sources made from other sources, which still know where each row came from."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from riskrank.scores.files.json_objects import json_object, json_text
from riskrank.scores.files.parsing import as_one_name, column_kind, present
from riskrank.scores.files.source import InputFile, Source
from riskrank.scores.names.vocabulary import INDEX, is_unnamed

# Rows that tell whether a column holds objects, and columns that are asked.
_LOOK, _MOST_COLUMNS = 100, 1_000
# Objects within objects whose fields become columns; what lies deeper stays text.
_MOST_LEVELS = 8

# What is told of a source that is true in another form of it, too.
_HANDED_ON = "columns decimal_comma model_label queried own_sql folder_columns notes"


class DerivedSource(Source):
    """A source that hands out what another one holds, in another form."""

    def __init__(self, inner: Source) -> None:
        super().__init__(inner.label, b"", inner.sha256)
        for name in _HANDED_ON.split():
            setattr(self, name, getattr(inner, name))
        self._inner = inner

    def _behind(self, position: int) -> int:
        """Where a row stands in the source behind."""
        return position

    def file_of(self, position: int) -> str:
        """The file a row stands in."""
        return self._inner.file_of(self._behind(position))

    def row_number(self, position: int) -> int:
        """The number of a data row as a reader of the file would count it."""
        return self._inner.row_number(self._behind(position))

    def column_of(self, column: str, position: int) -> str:
        """The column of the file that a value of a column stands in."""
        return self._inner.column_of(column, self._behind(position))

    def input_files(self, rows: int, kept: np.ndarray | None = None) -> tuple[InputFile, ...]:
        """The provenance of all files behind."""
        return self._inner.input_files(rows, kept)


class WithIndex(DerivedSource):
    """A source whose only column without a name is called `INDEX`."""

    def __init__(self, inner: Source, unnamed: str) -> None:
        super().__init__(inner)
        self._unnamed = unnamed
        self.columns = tuple(INDEX if name == unnamed else name for name in inner.columns)

    def load(self, names: Sequence[str]) -> pl.DataFrame:
        """The named columns."""
        found = self._inner.load([self._unnamed if name == INDEX else name for name in names])
        return found.rename({self._unnamed: INDEX}) if INDEX in names else found


def with_index(source: Source) -> Source:
    """A source with a name for its only column without one, if that holds names; else as it is."""
    unnamed = [name for name in source.columns if is_unnamed(name)]
    if len(unnamed) != 1 or INDEX in source.columns:
        return source
    values = source.load(unnamed).to_series()
    names = column_kind(values, source.decimal_comma) == "text"
    return WithIndex(source, unnamed[0]) if names else source


class FilteredSource(DerivedSource):
    """Some rows of a source.

    Parameters
    ----------
    inner : Source
    kept : ndarray of int, shape (n,)
        Positions of the rows, ascending.
    """

    def __init__(self, inner: Source, kept: np.ndarray) -> None:
        super().__init__(inner)
        self.columnar = inner.columnar
        self._kept = kept

    def load(self, names: Sequence[str]) -> pl.DataFrame:
        """The named columns of the rows kept."""
        return self._inner.load_rows(names, self._kept)

    def texts(self, kept: np.ndarray) -> pl.DataFrame | None:
        """What was asked and answered in some of the rows kept."""
        return self._inner.texts(self._kept[kept])

    def _behind(self, position: int) -> int:
        return int(self._kept[position])

    def input_files(self, rows: int, kept: np.ndarray | None = None) -> tuple[InputFile, ...]:
        """The provenance of all files behind, with the rows that are kept of each."""
        return self._inner.input_files(rows, self._kept if kept is None else self._kept[kept])


class JoinedSource(DerivedSource):
    """A source in which several columns together are one name: ``name+prompt``.

    The columns a name is made of are no longer columns of their own, unless they have another role: in a
    wide table they would become metrics.
    """

    def __init__(self, inner: Source, joined: dict[str, tuple[str, ...]], *, others: Sequence[str]) -> None:
        super().__init__(inner)
        used = {part for parts in joined.values() for part in parts} - set(others)
        self.columns = (*(name for name in inner.columns if name not in used), *joined)
        self._joined = joined

    def texts(self, kept: np.ndarray) -> pl.DataFrame | None:
        """What was asked and answered in some rows, which are those of the source."""
        return self._inner.texts(kept)

    def load(self, names: Sequence[str]) -> pl.DataFrame:
        """The named columns; a joined name is missing where one of its parts is."""
        wanted = dict.fromkeys(part for name in names for part in self._joined.get(name, (name,)))
        frame = self._inner.load(list(wanted))
        return frame.select(
            as_one_name(parts).alias(name) if (parts := self._joined.get(name)) else pl.col(name)
            for name in names
        )


class FlatSource(DerivedSource):
    """A source whose columns of JSON objects have become a column a field, ``scores.f1``."""

    def __init__(self, inner: Source, fields: dict[str, tuple[str, str]]) -> None:
        super().__init__(inner)
        nested = {column for column, _ in fields.values()}
        self.columns = (*(name for name in inner.columns if name not in nested), *fields)
        self._fields = fields

    def load(self, names: Sequence[str]) -> pl.DataFrame:
        """The named columns; a field is missing where its object lacks it."""
        places = {name: self._fields.get(name, (name, "")) for name in names}
        frame = self._inner.load(list(dict.fromkeys(column for column, _ in places.values())))
        nested = {places[name][0] for name in names if name in self._fields}
        parsed = {column: [_object(cell) or {} for cell in frame[column].to_list()] for column in nested}

        def found(name: str, column: str, key: str) -> pl.Series:
            values = [json_text(row.get(key)) for row in parsed.get(column, ())]
            return pl.Series(name, values) if name in self._fields else frame[name]

        return pl.DataFrame([found(name, *place) for name, place in places.items()])


def flattened(source: Source, levels: int = _MOST_LEVELS) -> Source:
    """A source with a column a field of every object in so many levels; as it is where there is none."""
    fields: dict[str, tuple[str, str]] = {}
    names = [name for name in source.columns if name]
    looked_at = source.load(names[:_MOST_COLUMNS])
    for column in (one for one in looked_at.iter_columns() if not one.dtype.is_numeric()):
        first = present(column).head(_LOOK).to_list()
        objects = [_object(cell) for cell in first]
        if objects and all(one is not None for one in objects):
            keys = dict.fromkeys(key for one in objects for key in one or ())
            fields |= {f"{column.name}.{key}": (column.name, key) for key in keys}
    if not fields or {*fields} & {*source.columns}:
        return source
    found = FlatSource(source, fields)
    return flattened(found, levels - 1) if levels > 1 else found


def _object(cell: object) -> dict[str, object] | None:
    """A cell as an object; None where it is none."""
    if isinstance(cell, str) and cell[:1] == "{":
        return json_object(cell)
    return cell if isinstance(cell, dict) else None
