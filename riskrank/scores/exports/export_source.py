"""A harness's export as a source of columns, like a file of scores."""

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl

from riskrank.scores.exports.gathering import REQUIRED
from riskrank.scores.exports.interface import ANSWERED, ASKED, Export
from riskrank.scores.files.source import InputFile, Source


class ExportSource(Source):
    """Long rows that a reader made; rows are numbered as ``convert`` writes them.

    `again` reads the same files for the texts of some samples.
    """

    def __init__(
        self, label: str, export: Export, again: Callable[[frozenset[str]], Export] | None = None
    ) -> None:
        super().__init__(label, b"", "")
        self.columns = tuple(export.rows.columns)
        self._export = export
        self._again = again

    def load(self, names: Sequence[str]) -> pl.DataFrame:
        """The named columns."""
        return self._export.rows.select(names)

    def texts(self, kept: np.ndarray) -> pl.DataFrame | None:
        """What was asked and answered in the rows at some positions: the files are read once more for it."""
        if self._again is None:
            return None
        rows = self._export.rows
        found = self._again(frozenset(rows["sample"].gather(kept))).rows
        # Files that were written anew since have other rows.
        if ASKED not in found.columns or not found.select(REQUIRED).equals(rows.select(REQUIRED)):
            return None
        return found.select(pl.col(ASKED).alias("input"), pl.col(ANSWERED).alias("output"))[kept]

    def row_number(self, position: int) -> int:
        """The number of a row in the file ``convert`` writes, which has a header line."""
        return position + 2

    def input_files(self, rows: int, kept: np.ndarray | None = None) -> tuple[InputFile, ...]:
        """The provenance of every file of the export."""
        return self._export.inputs
