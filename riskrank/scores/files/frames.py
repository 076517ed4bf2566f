"""Data frames as sources: whatever speaks the Arrow PyCapsule protocol, or a dict of columns."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from riskrank.errors import InputError, listing
from riskrank.scores.files.guards import reason_of, unreadable
from riskrank.scores.files.json_objects import column
from riskrank.scores.files.parsing import plain_column
from riskrank.scores.files.source import FrameInMemory

LABEL = "frame"
_STREAM = "__arrow_c_stream__"


def is_frame(given: object) -> bool:
    """Whether an object holds columns rather than the name of a file."""
    return isinstance(given, Mapping | pl.LazyFrame) or is_of_pandas(given) or hasattr(given, _STREAM)


def is_of_pandas(given: object) -> bool:
    """Whether it is a frame or a series of pandas, which is not loaded to find out."""
    return type(given).__module__.partition(".")[0] == "pandas"


class FrameSource(FrameInMemory):
    """A frame in memory.

    Parameters
    ----------
    given : object
        A frame of Polars, pandas, PyArrow, DuckDB or any other that exports an Arrow stream, or a
        mapping of column names to sequences.
    """

    def __init__(self, given: Any) -> None:
        super().__init__(LABEL, b"", None)  # a frame has no bytes to hash
        self._frame = pl.DataFrame([*map(plain_column, _as_polars(given))])
        self._name_columns(self._frame.columns)
        if self._frame.height == 0:
            raise self._empty("a frame with no rows")


def _as_polars(given: Any) -> pl.DataFrame:
    try:
        if isinstance(given, pl.LazyFrame):
            return given.collect()
        if is_of_pandas(given):
            return _of_pandas(given)
        frame = pl.DataFrame(dict(given) if isinstance(given, Mapping) else given)
    except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
        example = "{'model': [...], 'sample': [...], 'metric': [...], 'score': [...]}"
        hint = f"give columns of equal length: a frame, or a dict such as {example}"
        raise unreadable("the frame", reason_of(error), hint) from None
    return frame.rechunk()


def _of_pandas(given: Any) -> pl.DataFrame:
    """A frame, or a series as a frame of one column, with its index.

    An index without a name that numbers the rows says nothing, and is left out.

    Raises
    ------
    InputError
        If names of columns have several levels.
    """
    frame = given if given.ndim > 1 else given.to_frame(given.name or "score")
    if frame.columns.nlevels > 1:
        raise InputError(
            f"the names of the frame's columns have {frame.columns.nlevels} levels",
            found=f"columns: {listing(frame.columns.to_list(), 4)}",
            hint="name the levels after what they hold, frame.columns.names = ['metric', 'model'], and stack "
            "them to a row a score: frame.stack(frame.columns.names).rename('score')",
        )
    frame = _with_index(frame)
    try:
        import pyarrow  # noqa: F401  # Polars asks it for columns of text
    except ImportError:
        return pl.DataFrame([_column(str(name), frame[name]) for name in frame.columns])
    frame.columns = [str(name) for name in frame.columns]
    return pl.DataFrame(frame)


def _with_index(frame: Any) -> Any:
    index = frame.index
    if index.nlevels == 1 and index.name is None and index.dtype.kind in "iu":
        return frame.reset_index(drop=True)
    several = [f"level_{at}" for at in range(index.nlevels)] if index.nlevels > 1 else ["index"]
    names = [other if name is None else name for name, other in zip(index.names, several, strict=True)]
    new = [name for name in names if name not in frame.columns]
    levels = index.to_frame(index=False)
    levels.columns = names
    rest = frame.reset_index(drop=True)
    for at, name in enumerate(new):
        rest.insert(at, name, levels[name])
    return rest


def _column(name: str, series: Any) -> pl.Series:
    if getattr(series.dtype, "tz", None) is not None:
        series = series.dt.tz_convert("UTC").dt.tz_localize(None)
    values = series.to_numpy() if series.dtype.kind in "biufM" else series.astype(object).to_numpy()
    if values.dtype != object:
        return pl.Series(name, values)
    missing = series.isna()
    return column(name, [None if gone else cell for cell, gone in zip(values, missing, strict=True)])
