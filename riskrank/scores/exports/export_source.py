"""A harness's export as a source of columns, like a file of scores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from riskrank.scores.exports.interface import Export
from riskrank.scores.files.source import InputFile, Source


class ExportSource(Source):
    """Long rows that a reader made; rows are numbered as ``convert`` writes them."""

    def __init__(self, label: str, export: Export) -> None:
        super().__init__(label, b"", "")
        self.columns = tuple(export.rows.columns)
        self._export = export

    def load(self, names: Sequence[str]) -> pl.DataFrame:
        """The named columns."""
        return self._export.rows.select(names)

    def row_number(self, position: int) -> int:
        """The number of a row in the file ``convert`` writes, which has a header line."""
        return position + 2

    def input_files(self, rows: int, kept: np.ndarray | None = None) -> tuple[InputFile, ...]:
        """The provenance of every file of the export."""
        return self._export.inputs
