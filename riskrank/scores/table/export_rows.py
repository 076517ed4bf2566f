"""A harness's export as a source of columns, like a file of scores; chosen by SQL, as long rows again."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from riskrank.errors import InputError
from riskrank.options.reading import ReadOptions
from riskrank.scores.exports.row_collector import REQUIRED_COLUMNS, order_columns
from riskrank.scores.exports.interface import INPUT_TEXT, OUTPUT_TEXT, Export
from riskrank.scores.files.parsing import MISSING, NOT_A_NUMBER, parse_scores
from riskrank.scores.files.source import InputFile, Source
from riskrank.scores.table.columns import assign_roles, named_roles
from riskrank.scores.table.preparation import prepared


def shaped(export: Export, options: ReadOptions, label: str) -> Export:
    """Apply `where`, `sql`, `matrix` and names of `columns` to an export.

    Parameters
    ----------
    export : Export
    options : ReadOptions
    label : str
        What the export is called in messages.

    Raises
    ------
    InputError
        If a condition or query fails or leaves no row, or what it gives is no long table of scores.
    """
    given = (options.columns, options.where, options.sql, options.matrix)
    if all(one is None for one in given):
        return export
    ((source, named),) = prepared([ExportSource(label, export)], named_roles(options), options)
    roles = assign_roles(source, named, options)
    names = {role: str(getattr(roles, role)) for role in ("model", "sample", "metric", "score")}
    if roles.draw is not None:
        names["draw"] = roles.draw
    if roles.task not in (None, "task"):
        names["task"] = str(roles.task)
    rest = [name for name in source.columns if name and name not in names.values()]
    frame = source.load([*names.values(), *rest]).rename({name: role for role, name in names.items()})
    values, state = parse_scores(frame["score"], source.decimal_comma)
    if state is not None:
        wrong = np.flatnonzero((state != 0) & (state != MISSING) & (state != NOT_A_NUMBER))
        if wrong.size:
            row = int(wrong[0])
            raise InputError(
                f"{source.label}: row {source.row_number(row)}, column {names['score']}: no number",
                found=str(frame["score"][row])[:80],
                hint="score has to be a number, or null where there is none",
            )
    rows = frame.with_columns(pl.Series("score", values).fill_nan(None), pl.exclude("score").cast(pl.String))
    known = set(rows["metric"].unique())
    directions = {name: way for name, way in export.directions.items() if name in known}
    return replace(export, rows=order_columns(rows), directions=directions)


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
        if INPUT_TEXT not in found.columns or not found.select(REQUIRED_COLUMNS).equals(
            rows.select(REQUIRED_COLUMNS)
        ):
            return None
        return found.select(pl.col(INPUT_TEXT).alias("input"), pl.col(OUTPUT_TEXT).alias("output"))[kept]

    def row_number(self, position: int) -> int:
        """The number of a row in the file ``convert`` writes, which has a header line."""
        return position + 2

    def input_files(self, rows: int, kept: np.ndarray | None = None) -> tuple[InputFile, ...]:
        """The provenance of every file of the export."""
        return self._export.inputs
