"""A folder of files as one table: parts below each other, with columns that folders name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from riskrank.errors import InputError, listing
from riskrank.scores.files.folders import Part
from riskrank.scores.files.guards import reason_of
from riskrank.scores.files.source import InputFile, Source


class DataSetSource(Source):
    """Files of one format as one table.

    A column that a part lacks is empty there. A column that a folder names (``metric=acc``) is text, in every
    row of the files below; a file may hold it too, if it says the same.

    Parameters
    ----------
    label : str
        The folder as it was given.
    parts : sequence of Part
    sources : sequence of Source
        The parts, opened.

    Raises
    ------
    InputError
        If the parts write numbers differently.
    """

    of_parts = True

    def __init__(self, label: str, parts: Sequence[Part], sources: Sequence[Source]) -> None:
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
        other = next((one for one in sources if one.decimal_comma != self.decimal_comma), None)
        if other is not None:
            raise InputError(
                f"{other.label}: this part is separated by other signs than {sources[0].label}",
                found="semicolons in one, whose numbers may have a decimal comma, and not in the other",
                hint="write all parts alike, or name the files one by one",
            )
        self._heights: list[int] | None = None

    @property
    def paths(self) -> list[str]:
        """Where the parts lie."""
        return [part.path for part in self._parts]

    @property
    def lengths(self) -> list[int]:
        """Rows of each part."""
        if self._heights is None:
            self._heights = [source.height() for source in self._sources]
        return self._heights

    def with_keys(self, keys: Mapping[str, Sequence[str]]) -> DataSetSource:
        """The same table with further columns, each of one value a part."""
        each = [dict(zip(keys, values, strict=True)) for values in zip(*keys.values(), strict=True)]
        parts = [replace(part, keys=part.keys | more) for part, more in zip(self._parts, each, strict=True)]
        found = DataSetSource(self.label, parts, self._sources)
        found._heights = self._heights
        return found

    def load(self, names: Sequence[str]) -> pl.DataFrame:
        """The named columns of all parts, one below the other."""
        frames = [self._of_part(which, names) for which in range(len(self._parts))]
        if names and not any(frame.height for frame in frames):
            raise self._empty(f"{len(frames):,} files without rows")
        return self._together(frames, names)

    def load_rows(self, names: Sequence[str], kept: np.ndarray) -> pl.DataFrame:
        """The named columns of some rows; parts that hold none of these are not read."""
        ends = np.cumsum(self.lengths)
        parts, starts = np.split(kept, np.searchsorted(kept, ends[:-1])), ends - self.lengths
        frames = [self._of_part(at, names)[own - starts[at]] for at, own in enumerate(parts) if own.size]
        return self._together(frames, names)

    def lacking(self, column: str) -> str | None:
        """The first part with rows that neither holds a column nor lies in a folder that names it."""
        for part, source in zip(self._parts, self._sources, strict=True):
            if column not in part.keys and column not in source.columns and source.height():
                return source.label
        return None

    def height(self) -> int:
        """The number of rows."""
        return sum(self.lengths)

    def row_number(self, position: int) -> int:
        """The number of a row in its part."""
        which, inside = self._locate(position)
        return self._sources[which].row_number(inside)

    def file_of(self, position: int) -> str:
        """The part a row stands in."""
        return self._sources[self._locate(position)[0]].label

    def input_files(self, rows: int, kept: np.ndarray | None = None) -> tuple[InputFile, ...]:
        """The provenance of every part, with its own rows, without parts of which none is kept."""
        counts = np.array(self.lengths)
        if kept is not None:
            counts = np.bincount(self._parts_of(kept), minlength=counts.size)
        files = zip(self._sources, counts.tolist(), strict=True)
        return tuple(source.input_file(count) for source, count in files if count or kept is None)

    def _of_part(self, which: int, names: Sequence[str]) -> pl.DataFrame:
        part, source = self._parts[which], self._sources[which]
        held = [name for name in names if name in source.columns]
        frame = source.load(held) if held else pl.DataFrame()
        height = frame.height if held else source.height()
        for name in names:
            if name in part.keys and name in held:
                _require_agreement(source.label, name, part.keys[name], frame[name])
        said = {name: part.keys.get(name) for name in names if name in part.keys or name not in held}
        columns = [
            pl.repeat(one, height, dtype=pl.String if name in part.keys else pl.Null, eager=True).alias(name)
            for name, one in said.items()
        ]
        return pl.DataFrame([*columns, *(frame[name] for name in held if name not in said)]).select(names)

    def _together(self, frames: Sequence[pl.DataFrame], names: Sequence[str]) -> pl.DataFrame:
        return pl.DataFrame([self._stacked(name, [frame[name] for frame in frames]) for name in names])

    def _stacked(self, name: str, columns: Sequence[pl.Series]) -> pl.Series:
        """One column of all parts; of different types, as text, from which it is read like that of a CSV."""
        filled = [column for column in columns if column.dtype != pl.Null]
        types = {column.dtype for column in filled}
        if len(types) <= 1:
            whole = filled[0].dtype if filled else pl.Null()
            return pl.concat([column.cast(whole) for column in columns], rechunk=True)
        try:
            # A short float gets the digits of its full value, as it has where it is read as a number.
            wide = [column.cast(pl.Float64) if column.dtype.is_float() else column for column in columns]
            return pl.concat([column.cast(pl.String) for column in wide], rechunk=True)
        except pl.exceptions.PolarsError as error:
            raise InputError(
                f"{self.label}: column '{name}' is not the same in all parts",
                found=f"types {listing(sorted(map(str, types)))}: {reason_of(error)}",
                hint="write all parts alike",
            ) from None

    def _parts_of(self, positions: np.ndarray) -> np.ndarray:
        return np.searchsorted(np.cumsum(self.lengths), positions, side="right")

    def _locate(self, position: int) -> tuple[int, int]:
        which = int(self._parts_of(np.array([position]))[0])
        return which, position - sum(self.lengths[:which])


def _require_agreement(label: str, name: str, key: str | None, inside: pl.Series) -> None:
    """Refuse a file that holds the column its folder names, with something else in it."""
    different = _different(key, inside)
    if different.any():
        row = int(different.arg_max() or 0)
        raise InputError(
            f"{label}: column '{name}' contradicts the folder {name}={key}",
            found=f"{str(inside[row])[:80]!r}, in {int(different.sum()):,} of {inside.len():,} rows",
            hint="correct the folder's name or the file, or leave the column out of the file",
        )


def _different(key: str | None, inside: pl.Series) -> pl.Series:
    if key is None:
        return inside.is_not_null()
    wanted: object = key.strip()
    if inside.dtype == pl.Boolean:
        inside, wanted = inside.cast(pl.String), key.strip().casefold()
    elif inside.dtype.is_numeric():
        inside, wanted = inside.cast(pl.Float64), pl.Series([key.strip()]).cast(pl.Float64, strict=False)
    else:
        inside = inside.cast(pl.String, strict=False).str.strip_chars()
    return ~(inside == wanted).fill_null(False)
