"""Rows that stay in a frame: a converted export may have millions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, overload

import polars as pl


class FrameRows(Sequence[Mapping[str, Any]]):
    """The rows of a frame as mappings, made when they are asked for.

    Attributes
    ----------
    frame : DataFrame
    """

    def __init__(self, frame: pl.DataFrame) -> None:
        self.frame = frame

    def __len__(self) -> int:
        return self.frame.height

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return self.frame.iter_rows(named=True)

    @overload
    def __getitem__(self, index: int) -> Mapping[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> FrameRows: ...
    def __getitem__(self, index: int | slice) -> Mapping[str, Any] | FrameRows:
        if isinstance(index, slice):
            return FrameRows(self.frame[index])
        return self.frame.row(index, named=True)
