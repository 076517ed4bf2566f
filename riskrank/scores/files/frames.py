"""Data frames as sources: whatever speaks the Arrow PyCapsule protocol, or a dict of columns."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from riskrank.errors import InputError
from riskrank.scores.files.source import FrameInMemory, InputFile

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
        super().__init__(LABEL, b"", "")
        self._frame = _as_polars(given)
        self._name_columns(self._frame.columns)
        if self._frame.height == 0:
            raise self._empty("a frame with no rows")

    def input_file(self, rows: int) -> InputFile:
        """The provenance: a frame has no bytes to hash."""
        return InputFile(path=self.label, sha256=None, rows=rows)


def _as_polars(given: Any) -> pl.DataFrame:
    try:
        if isinstance(given, pl.LazyFrame):
            return given.collect()
        if is_of_pandas(given):
            from riskrank.scores.files.pandas_frames import from_pandas

            return from_pandas(given)
        frame = pl.DataFrame(dict(given) if isinstance(given, Mapping) else given)
    except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
        raise InputError(
            "the frame cannot be read",
            found=str(error).strip().partition("\n")[0] or type(error).__name__,
            hint="give columns of equal length: a frame, or a dict such as "
            "{'model': [...], 'sample': [...], 'metric': [...], 'score': [...]}",
        ) from None
    return frame.rechunk()
