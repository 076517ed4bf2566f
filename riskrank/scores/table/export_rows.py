"""Exports of evaluation harnesses, filtered and reshaped like a file of scores."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from riskrank.errors import InputError
from riskrank.options.reading import ReadOptions
from riskrank.scores.exports.reader import INPUT_TEXT, OUTPUT_TEXT, REQUIRED_COLUMNS, Export, order_columns
from riskrank.scores.files.parsing import MISSING, NOT_A_NUMBER, parse_scores
from riskrank.scores.files.source import InputFile, Source
from riskrank.scores.table.columns import assign_roles, option_columns
from riskrank.scores.table.preparation import prepare_sources


def reshape_export(export: Export, options: ReadOptions, label: str) -> Export:
    """Apply the options `where`, `sql`, `matrix` and `columns` to an export.

    Parameters
    ----------
    export : Export
    options : ReadOptions
    label : str
        Name of the export in messages.

    Raises
    ------
    InputError
        If a condition or query fails or leaves no rows, or its result is not a long table of scores.
    """
    requested = (options.columns, options.where, options.sql, options.matrix)
    if all(value is None for value in requested):
        return export
    ((source, named),) = prepare_sources([ExportSource(label, export)], option_columns(options), options)
    roles = assign_roles(source, named, options)
    names = {role: str(getattr(roles, role)) for role in ("model", "sample", "metric", "score")}
    if roles.draw is not None:
        names["draw"] = roles.draw
    if roles.task not in (None, "task"):
        names["task"] = str(roles.task)
    extra = [name for name in source.columns if name and name not in names.values()]
    frame = source.load([*names.values(), *extra]).rename({name: role for role, name in names.items()})
    values, state = parse_scores(frame["score"], source.decimal_comma)
    if state is not None:
        invalid = np.flatnonzero((state != 0) & (state != MISSING) & (state != NOT_A_NUMBER))
        if invalid.size:
            row = int(invalid[0])
            problem = f"{source.label}: row {source.row_number(row)}, column {names['score']}: not a number"
            hint = "write a number, or null if the score is missing"
            raise InputError(problem, found=str(frame["score"][row])[:80], hint=hint)
    rows = frame.with_columns(pl.Series("score", values).fill_nan(None), pl.exclude("score").cast(pl.String))
    metrics = set(rows["metric"].unique())
    directions = {name: direction for name, direction in export.directions.items() if name in metrics}
    return replace(export, rows=order_columns(rows), directions=directions)


class ExportSource(Source):
    """A source with the rows of an export in long format, numbered as ``convert`` writes them.

    Parameters
    ----------
    label : str
        Name of the export in messages.
    export : Export
    reread : callable, optional
        Function that reads the same files again, with the texts of the given samples.
    """

    def __init__(
        self, label: str, export: Export, reread: Callable[[frozenset[str]], Export] | None = None
    ) -> None:
        """Store the label, the export, and the function that reads it again with texts of samples."""
        super().__init__(label, b"", "")
        self.columns = tuple(export.rows.columns)
        self._export = export
        self._reread = reread

    def load(self, names: Sequence[str]) -> pl.DataFrame:
        """Return the named columns."""
        return self._export.rows.select(names)

    def texts(self, positions: np.ndarray) -> pl.DataFrame | None:
        """Return the model inputs and outputs of the rows at some positions, or None if unavailable.

        The files are read again. Texts are unavailable if the files cannot be read again or have changed.
        """
        if self._reread is None:
            return None
        rows = self._export.rows
        fresh = self._reread(frozenset(rows["sample"].gather(positions))).rows
        # Files that were rewritten in the meantime have different rows.
        stored = rows.select(REQUIRED_COLUMNS)
        if INPUT_TEXT not in fresh.columns or not fresh.select(REQUIRED_COLUMNS).equals(stored):
            return None
        return fresh.select(pl.col(INPUT_TEXT).alias("input"), pl.col(OUTPUT_TEXT).alias("output"))[positions]

    def row_number(self, position: int) -> int:
        """Return the line number, in the file that ``convert`` writes, of the row at a position.

        The file has a header.
        """
        return position + 2

    def input_files(self, rows: int, positions: np.ndarray | None = None) -> tuple[InputFile, ...]:
        """Return the provenance of every file of the export, whatever the rows or positions."""
        return self._export.inputs
