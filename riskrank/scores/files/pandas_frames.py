"""Data frames of pandas: what their index says is a column, and text needs no PyArrow."""

from typing import Any

import polars as pl

from riskrank.errors import InputError, listing
from riskrank.scores.files.cells import column


def from_pandas(given: Any) -> pl.DataFrame:
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
