"""Sources that transform another source while keeping track of where each row comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from riskrank.errors import InputError, listing
from riskrank.scores.files.guards import error_reason
from riskrank.scores.files.parsing import column_kind, join_columns, json_object, json_text
from riskrank.scores.files.paths import Part
from riskrank.scores.files.source import InputFile, Source
from riskrank.scores.names.directions import is_metric_name
from riskrank.scores.names.vocabulary import INDEX, column_for_role, is_unnamed

# Rows and columns examined for JSON objects.
_HEAD_ROWS, _MAX_COLUMNS = 100, 1_000
# Levels of nested objects that become columns; deeper ones stay text.
_MAX_LEVELS = 8

# Attributes that a derived source copies.
_INHERITED = "columns metric decimal_comma model_label queried native_sql folder_columns notes"


class DerivedSource(Source):
    """A source that presents the data of another source in a different form."""

    def __init__(self, inner: Source) -> None:
        """Set the source to transform and copy its attributes."""
        super().__init__(inner.label, b"", inner.sha256)
        for name in _INHERITED.split():
            setattr(self, name, getattr(inner, name))
        self._inner = inner

    def _inner_position(self, position: int) -> int:
        """Convert a row position in this source to one in the inner source."""
        return position

    def file_of(self, position: int) -> str:
        """Return the name of the file from which the row at a position was read."""
        return self._inner.file_of(self._inner_position(position))

    def row_number(self, position: int) -> int:
        """Return the number, in its file, of the data row at a position."""
        return self._inner.row_number(self._inner_position(position))

    def column_of(self, column: str, position: int) -> str:
        """Return the column in the original file for a column of this source and a row position."""
        return self._inner.column_of(column, self._inner_position(position))

    def input_files(self, rows: int, positions: np.ndarray | None = None) -> tuple[InputFile, ...]:
        """Return the provenance of the inner files.

        If `positions` is given, only files that contain these rows are included.
        """
        return self._inner.input_files(rows, positions)


class IndexedSource(DerivedSource):
    """A source whose only unnamed column is given the name `INDEX`."""

    def __init__(self, inner: Source, unnamed: str) -> None:
        """Set the source and the raw name of its unnamed column, which may be empty."""
        super().__init__(inner)
        self._unnamed = unnamed
        self.columns = tuple(INDEX if name == unnamed else name for name in inner.columns)

    def load(self, names: Sequence[str]) -> pl.DataFrame:
        """Return the named columns."""
        frame = self._inner.load([self._unnamed if name == INDEX else name for name in names])
        return frame.rename({self._unnamed: INDEX}) if INDEX in names else frame


class NumberedSource(DerivedSource):
    """A source with an added first column that numbers the rows from 1, as text."""

    def __init__(self, inner: Source, name: str) -> None:
        """Set the source and the name of the column."""
        super().__init__(inner)
        self.columns = (name, *inner.columns)

    def load(self, names: Sequence[str]) -> pl.DataFrame:
        """Return the named columns."""
        number, height = self.columns[0], self._inner.height()
        frame = self._inner.load([name for name in names if name != number])
        numbers = pl.int_range(1, height + 1, eager=True).cast(pl.String).alias(number)
        return frame.with_columns(numbers).select(names) if frame.width else numbers.to_frame()


def name_index(source: Source) -> Source:
    """Name the only unnamed column of a source, such as a saved index, if it contains text.

    Other sources are returned unchanged.
    """
    unnamed = [name for name in source.columns if is_unnamed(name)]
    if len(unnamed) != 1 or INDEX in source.columns:
        return source
    is_text = column_kind(source.load(unnamed).to_series(), source.decimal_comma) == "text"
    return IndexedSource(source, unnamed[0]) if is_text else source


class FilteredSource(DerivedSource):
    """A source restricted to some of its rows.

    Parameters
    ----------
    inner : Source
    positions : ndarray of int, shape (n,)
        Positions of the rows to keep, in ascending order.
    """

    def __init__(self, inner: Source, positions: np.ndarray) -> None:
        """Set the source and the positions of its rows to keep."""
        super().__init__(inner)
        self.columnar = inner.columnar
        self._rows = positions

    def load(self, names: Sequence[str]) -> pl.DataFrame:
        """Return the named columns of the selected rows."""
        return self._inner.load_rows(names, self._rows)

    def texts(self, positions: np.ndarray) -> pl.DataFrame | None:
        """Return the model inputs and outputs of the selected rows at some positions."""
        return self._inner.texts(self._rows[positions])

    def _inner_position(self, position: int) -> int:
        """Convert the position of a selected row to its position in the unfiltered source."""
        return int(self._rows[position])

    def input_files(self, rows: int, positions: np.ndarray | None = None) -> tuple[InputFile, ...]:
        """Return the provenance of the inner files with their selected row counts.

        If `positions` is given, only these of the selected rows count.
        """
        return self._inner.input_files(rows, self._rows if positions is None else self._rows[positions])


class JoinedSource(DerivedSource):
    """A source in which several columns are joined into one, as in ``name+prompt``.

    The joined columns are removed unless they have another role; in a wide table they would become metrics.
    """

    def __init__(self, inner: Source, joined: dict[str, tuple[str, ...]], *, retained: Sequence[str]) -> None:
        """Set the source and the columns to join.

        Parameters
        ----------
        inner : Source
        joined : dict of str to tuple of str
            New columns, and the columns that are joined into each.
        retained : sequence of str
            Joined columns that are not removed.
        """
        super().__init__(inner)
        used = {part for parts in joined.values() for part in parts} - set(retained)
        self.columns = (*(name for name in inner.columns if name not in used), *joined)
        self._joined = joined

    def texts(self, positions: np.ndarray) -> pl.DataFrame | None:
        """Return the model inputs and outputs of the rows at some positions."""
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
        """Set the source and the new columns; `fields` maps each to its original column and its key."""
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
            """Return the values of a key in a column of JSON objects, or an ordinary column as it is."""
            values = [json_text(row.get(key)) for row in parsed.get(column, ())]
            return pl.Series(name, values) if name in self._fields else frame[name]

        return pl.DataFrame([extract(name, *origin) for name, origin in origins.items()])


def flatten(source: Source, levels: int = _MAX_LEVELS) -> Source:
    """Replace nested JSON objects by one column per field, up to `levels` deep.

    A source without such columns is returned unchanged.
    """
    fields: dict[str, tuple[str, str]] = {}
    frame = source.load([name for name in source.columns if name][:_MAX_COLUMNS])
    for column in (series for series in frame.iter_columns() if not series.dtype.is_numeric()):
        cells = column.drop_nulls().head(_HEAD_ROWS).to_list()
        objects = [_as_object(cell) for cell in cells]
        if objects and all(series is not None for series in objects):
            keys = dict.fromkeys(key for series in objects for key in series or ())
            fields |= {f"{column.name}.{key}": (column.name, key) for key in keys}
    if not fields or {*fields} & {*source.columns}:
        return source
    names, nested = [key for _, key in fields.values()], {column for column, _ in fields.values()}
    # The keys below a metric are models, unless they are metrics themselves or a column names the models.
    are_models = len(names) > 1 and not any(map(is_metric_name, names)) and "name" not in source.columns
    are_models &= not {*names} & {*source.columns} and column_for_role("model", source.columns) is None
    if len(nested) == 1 and all(map(is_metric_name, nested)) and are_models:
        flat = FlatSource(source, dict(zip(names, fields.values(), strict=True)))
        flat.metric = nested.pop()
        return flat
    flat = FlatSource(source, fields)
    return flatten(flat, levels - 1) if levels > 1 else flat


def _as_object(cell: object) -> dict[str, object] | None:
    """Return a cell as a dictionary if it holds a JSON object, otherwise None."""
    if isinstance(cell, str) and cell[:1] == "{":
        return json_object(cell)
    return cell if isinstance(cell, dict) else None


class DataSetSource(Source):
    """Several files of one format, read as one table.

    If a file lacks a column of another file, its cells are empty. A folder name such as ``metric=acc`` adds a
    text column with the same value in all rows below that folder. A file may contain the same column if its
    values agree with the folder name.

    Parameters
    ----------
    label : str
        The folder as given by the user.
    parts : sequence of Part
    sources : sequence of Source
        The opened parts.

    Raises
    ------
    InputError
        If the parts use different number formats.
    """

    is_data_set = True

    def __init__(self, label: str, parts: Sequence[Part], sources: Sequence[Source]) -> None:
        """Combine the columns of all parts; their rows are read later."""
        super().__init__(label, b"", None)
        self._parts = tuple(parts)
        self._sources = tuple(sources)
        for source in sources:
            source.may_be_empty = True
        of_files = [name for source in sources for name in source.columns]
        self.folder_columns = tuple(dict.fromkeys(name for part in parts for name in part.keys))
        self.columns = tuple(dict.fromkeys([*of_files, *self.folder_columns]))
        self.columnar = all(source.columnar for source in sources)
        self.decimal_comma = sources[0].decimal_comma
        other = next((s for s in sources if s.decimal_comma != self.decimal_comma), None)
        if other is not None:
            problem = f"{other.label}: this file has a different separator than {sources[0].label}"
            detail = "only one of them uses semicolons, and perhaps decimal commas"
            hint = "use the same format for all files, or list the files to read"
            raise InputError(problem, found=detail, hint=hint)
        self._heights: list[int] | None = None

    @property
    def paths(self) -> list[str]:
        """Paths of all parts."""
        return [part.path for part in self._parts]

    @property
    def lengths(self) -> list[int]:
        """Number of rows of each part."""
        if self._heights is None:
            self._heights = [source.height() for source in self._sources]
        return self._heights

    def with_keys(self, keys: Mapping[str, Sequence[str]]) -> DataSetSource:
        """Return the data set with extra columns whose value depends on the file.

        `keys` maps each column name to one value per part (file) of the data set.
        """
        extra = [dict(zip(keys, values, strict=True)) for values in zip(*keys.values(), strict=True)]
        parts = [replace(part, keys=part.keys | more) for part, more in zip(self._parts, extra, strict=True)]
        data_set = DataSetSource(self.label, parts, self._sources)
        data_set._heights = self._heights
        return data_set

    def load(self, names: Sequence[str]) -> pl.DataFrame:
        """Return the named columns of all parts, concatenated."""
        frames = [self._load_part(i, names) for i in range(len(self._parts))]
        if names and not any(frame.height for frame in frames):
            raise self._empty_error(f"{len(frames):,} files without rows")
        return self._concat_frames(frames, names)

    def load_rows(self, names: Sequence[str], positions: np.ndarray) -> pl.DataFrame:
        """Return the named columns at ascending row positions.

        Only the parts that contain these rows are read.
        """
        ends = np.cumsum(self.lengths)
        parts, starts = np.split(positions, np.searchsorted(positions, ends[:-1])), ends - self.lengths
        frames = [self._load_part(i, names)[rows - starts[i]] for i, rows in enumerate(parts) if rows.size]
        return self._concat_frames(frames, names)

    def file_without(self, column: str) -> str | None:
        """Return the label of the first non-empty part that lacks a given column, or None."""
        for part, source in zip(self._parts, self._sources, strict=True):
            if column not in part.keys and column not in source.columns and source.height():
                return source.label
        return None

    def height(self) -> int:
        """Return the number of rows."""
        return sum(self.lengths)

    def row_number(self, position: int) -> int:
        """Return the number, within its part, of the data row at a position."""
        i, inside = self._locate(position)
        return self._sources[i].row_number(inside)

    def file_of(self, position: int) -> str:
        """Return the label of the part that contains the row at a position."""
        return self._sources[self._locate(position)[0]].label

    def input_files(self, rows: int, positions: np.ndarray | None = None) -> tuple[InputFile, ...]:
        """Return the provenance and row count of every part.

        If `positions` is given, parts without any of these rows are omitted.
        """
        counts = np.array(self.lengths)
        if positions is not None:
            counts = np.bincount(self._part_indices(positions), minlength=counts.size)
        files = zip(self._sources, counts.tolist(), strict=True)
        return tuple(source.input_file(count) for source, count in files if count or positions is None)

    def _load_part(self, i: int, names: Sequence[str]) -> pl.DataFrame:
        """Return the named columns of one part, including columns defined by folder names."""
        part, source = self._parts[i], self._sources[i]
        present = [name for name in names if name in source.columns]
        frame = source.load(present) if present else pl.DataFrame()
        height = frame.height if present else source.height()
        for name in names:
            if name in part.keys and name in present:
                _require_agreement(source.label, name, part.keys[name], frame[name])
        keys = {name: part.keys.get(name) for name in names if name in part.keys or name not in present}
        columns = {
            name: pl.repeat(key, height, dtype=pl.String if name in part.keys else pl.Null, eager=True)
            for name, key in keys.items()
        }
        # Polars would rename a series without a name, such as an index that pandas saved.
        return pl.DataFrame({name: frame[name] for name in present} | columns).select(names)

    def _concat_frames(self, frames: Sequence[pl.DataFrame], names: Sequence[str]) -> pl.DataFrame:
        """Concatenate the named columns of the data frames of all parts."""
        columns = {name: [part[name] for part in frames] for name in names}
        return pl.DataFrame({name: self._concat_column(name, parts) for name, parts in columns.items()})

    def _concat_column(self, name: str, columns: Sequence[pl.Series]) -> pl.Series:
        """Concatenate one column of all parts; if types differ, it becomes text."""
        filled = [column for column in columns if column.dtype != pl.Null]
        types = {column.dtype for column in filled}
        if len(types) <= 1:
            dtype = filled[0].dtype if filled else pl.Null()
            return pl.concat([column.cast(dtype) for column in columns], rechunk=True)
        try:
            # Cast float32 first, so that text has the digits of the full value.
            wide = [column.cast(pl.Float64) if column.dtype.is_float() else column for column in columns]
            return pl.concat([column.cast(pl.String) for column in wide], rechunk=True)
        except pl.exceptions.PolarsError as error:
            problem = f"{self.label}: column '{name}' has different types in the files"
            detail = f"types {listing(sorted(map(str, types)))}: {error_reason(error)}"
            raise InputError(problem, found=detail, hint="use the same type in all files") from None

    def _part_indices(self, positions: np.ndarray) -> np.ndarray:
        """Return the index of the part that contains each row position."""
        return np.searchsorted(np.cumsum(self.lengths), positions, side="right")

    def _locate(self, position: int) -> tuple[int, int]:
        """Return the index of the part that contains a row, and the position of the row within it."""
        i = int(self._part_indices(np.array([position]))[0])
        return i, position - sum(self.lengths[:i])


def _require_agreement(label: str, name: str, key: str | None, column: pl.Series) -> None:
    """Raise InputError if the values in a column disagree with the folder name of their file.

    `key` is the value that the folder name states.
    """
    expected: object = None if key is None else key.strip()
    values = column
    if column.dtype == pl.Boolean:
        values, expected = column.cast(pl.String), key and key.strip().casefold()
    elif column.dtype.is_numeric():
        values, expected = column.cast(pl.Float64), pl.Series([expected]).cast(pl.Float64, strict=False)
    else:
        values = column.cast(pl.String, strict=False).str.strip_chars()
    different = column.is_not_null() if key is None else ~(values == expected).fill_null(False)
    if different.any():
        row = int(different.arg_max() or 0)
        problem = f"{label}: column '{name}' contradicts the folder {name}={key}"
        detail = f"{str(column[row])[:80]!r}, in {int(different.sum()):,} of {column.len():,} rows"
        hint = "correct the folder name or the file, or remove the column from the file"
        raise InputError(problem, found=detail, hint=hint)
