"""Data frames as sources: Arrow PyCapsule exporters, pandas frames, and dictionaries of columns."""

import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from riskrank.errors import InputError, listing
from riskrank.scores.files import guards
from riskrank.scores.files.json_objects import build_column
from riskrank.scores.files.parsing import plain_column
from riskrank.scores.files.source import FrameInMemory
from riskrank.scores.names.directions import names_a_metric
from riskrank.scores.names.vocabulary import suggests_role

LABEL = "frame"
_STREAM = "__arrow_c_stream__"


def is_frame(value: object) -> bool:
    """Return True if a value is a collection of columns rather than a file name."""
    return isinstance(value, Mapping | pl.LazyFrame) or is_pandas(value) or hasattr(value, _STREAM)


def is_pandas(value: object) -> bool:
    """Return True for a pandas frame or series, without importing pandas."""
    return type(value).__module__.partition(".")[0] == "pandas"


def is_array(value: object) -> bool:
    """Return True for a NumPy array."""
    return isinstance(value, np.ndarray)


def score_frame(data: Any, names: Sequence[str] | None = None) -> pl.DataFrame | None:
    """Convert arrays of scores to a data frame with one row per model and sample.

    Parameters
    ----------
    data : object
        Array of shape (samples,) or (samples, models), sequence of arrays, or mapping of model names to
        sequences of numbers.
    names : sequence of str, optional
        Names of the models in arrays.

    Returns
    -------
    DataFrame or None
        None if the data have another form, such as a table of columns.
    """
    if isinstance(data, Mapping):
        if any(names_a_metric(name) or (suggests_role(name) and len(name) > 1) for name in map(str, data)):
            return None
        columns, names = [np.asarray(values) for values in data.values()], [*data]
    elif is_array(data) or (isinstance(data, list | tuple) and data and all(map(is_array, data))):
        columns = [*data.T] if is_array(data) and data.ndim > 1 else [data] if is_array(data) else [*data]
    else:
        return None
    if len(columns) < 2 or any(column.ndim != 1 or column.dtype.kind not in "biuf" for column in columns):
        return None
    if names is None or len(names) != len(columns):
        names = [f"model{number}" for number in range(1, len(columns) + 1)]
    parts = [
        {"model": [str(name)] * column.size, "sample": [*range(column.size)], "score": column.astype(float)}
        for name, column in zip(names, columns, strict=True)
    ]
    return pl.concat(map(pl.DataFrame, parts))


class FrameSource(FrameInMemory):
    """A data frame in memory.

    Parameters
    ----------
    frame : object
        A data frame of Polars, pandas, PyArrow, DuckDB or another library that exports an Arrow stream, or a
        mapping of column names to sequences.
    """

    def __init__(self, frame: Any) -> None:
        super().__init__(LABEL, b"", None)  # a frame has no bytes to hash
        self._frame = pl.DataFrame([*map(plain_column, _to_polars(frame))])
        self._name_columns(self._frame.columns)
        if self._frame.height == 0:
            raise self._empty("a frame with no rows")


class ArrowSource(FrameInMemory):
    """A file in the Arrow IPC format, which is also that of Feather."""

    def __init__(self, label: str, data: bytes, sha256: str) -> None:
        super().__init__(label, b"", sha256)
        file = io.BytesIO(data)
        try:
            if data[:6] == b"ARROW1":  # the number of rows is known before anything is unpacked
                lazy = pl.scan_ipc(file)
                height = lazy.select(pl.len()).collect().item()
                guards.require_plausible_size(label, height, len(lazy.collect_schema()), len(data))
            frame = (pl.read_ipc if data[:6] == b"ARROW1" else pl.read_ipc_stream)(file)
        except guards.PARSE_ERRORS as error:
            raise guards.broken_file_error(
                f"{label}: the file cannot be read as Arrow", guards.error_reason(error)
            ) from None
        self._frame = pl.DataFrame([*map(plain_column, frame)])
        self._name_columns(self._frame.columns)
        if self._frame.height == 0:
            raise self._empty("a file with no rows")


class ArraySource(FrameInMemory):
    """A NumPy file with the scores of one model, of shape (samples,) or (runs, samples)."""

    def __init__(self, label: str, data: bytes, sha256: str) -> None:
        super().__init__(label, b"", sha256)
        try:
            array = np.load(io.BytesIO(data), allow_pickle=False)
            scores = np.atleast_2d(array).astype(float) if array.ndim < 3 else None
        except (ValueError, EOFError, TypeError) as error:
            python = (
                "json.dump({k: v.tolist() for k, v in np.load(FILE, allow_pickle=True).item().items()}, …)"
            )
            hint = f"save arrays of numbers, or a dictionary as JSON: {python}"
            raise guards.unreadable_error(f"{label}: the array", guards.error_reason(error), hint) from None
        if scores is None or not scores.size:
            hint = "save one array per model, with one row per run and one column per sample or task"
            raise InputError(f"{label}: not a table of scores", found=f"shape {array.shape}", hint=hint)
        places = np.indices(scores.shape).reshape(2, -1)
        columns = {"draw": places[0], "sample": places[1]} if len(scores) > 1 else {"sample": places[1]}
        self._frame = pl.DataFrame({**columns, "score": scores.ravel()}).with_columns(metric=pl.lit("score"))
        self._name_columns(self._frame.columns)


def _to_polars(data: Any) -> pl.DataFrame:
    """Convert a data frame or a mapping of columns to a Polars data frame."""
    try:
        if isinstance(data, pl.LazyFrame):
            return data.collect()
        if is_pandas(data):
            return _from_pandas(data)
        frame = pl.DataFrame(dict(data) if isinstance(data, Mapping) else data)
    except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
        example = "{'model': [...], 'sample': [...], 'metric': [...], 'score': [...]}"
        hint = f"pass columns of equal length: a frame, or a dict such as {example}"
        raise guards.unreadable_error("the frame", guards.error_reason(error), hint) from None
    return frame.rechunk()


def _from_pandas(data: Any) -> pl.DataFrame:
    """Convert a pandas frame or series to Polars, including its index.

    An unnamed integer index is dropped.

    Raises
    ------
    InputError
        If the column index has several levels.
    """
    frame = data if data.ndim > 1 else data.to_frame(data.name or "score")
    if frame.columns.nlevels > 1:
        raise InputError(
            f"the columns of the frame have {frame.columns.nlevels} levels of names",
            found=f"columns: {listing(frame.columns.to_list(), 4)}",
            hint="name the levels, for example frame.columns.names = ['metric', 'model'], and stack them to "
            "one row per score: frame.stack(frame.columns.names).rename('score')",
        )
    frame = _include_index(frame)
    try:
        import pyarrow  # noqa: F401  # Polars asks it for columns of text
    except ImportError:
        return pl.DataFrame([_column(str(name), frame[name]) for name in frame.columns])
    frame.columns = [str(name) for name in frame.columns]
    return pl.DataFrame(frame)


def _include_index(frame: Any) -> Any:
    """Return a pandas frame with its index as columns, unless the index is an unnamed integer index."""
    index = frame.index
    if index.nlevels == 1 and index.name is None and index.dtype.kind in "iu":
        return frame.reset_index(drop=True)
    defaults = [f"level_{i}" for i in range(index.nlevels)] if index.nlevels > 1 else ["index"]
    names = [default if name is None else name for name, default in zip(index.names, defaults, strict=True)]
    new = [name for name in names if name not in frame.columns]
    levels = index.to_frame(index=False)
    levels.columns = names
    result = frame.reset_index(drop=True)
    for i, name in enumerate(new):
        result.insert(i, name, levels[name])
    return result


def _column(name: str, series: Any) -> pl.Series:
    """Convert a pandas series to a Polars series, with times in UTC."""
    if getattr(series.dtype, "tz", None) is not None:
        series = series.dt.tz_convert("UTC").dt.tz_localize(None)
    values = series.to_numpy() if series.dtype.kind in "biufM" else series.astype(object).to_numpy()
    if values.dtype != object:
        return pl.Series(name, values)
    missing = series.isna()
    return build_column(name, [None if null else cell for cell, null in zip(values, missing, strict=True)])
