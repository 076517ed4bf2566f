"""Score matrices: one row per sample and one column per model, or the transpose."""

from collections.abc import Mapping

import polars as pl

from riskrank.engine.types import Names
from riskrank.errors import InputError, index_of, listing, option
from riskrank.options.interfaces import join_commas
from riskrank.scores.files.derived import DerivedSource
from riskrank.scores.files.source import Source
from riskrank.scores.layouts.column_profiles import Columns
from riskrank.scores.layouts.leaderboard import task_columns
from riskrank.scores.layouts.total_rows import reject_totals
from riskrank.scores.names.vocabulary import is_unnamed
from riskrank.scores.table.columns import SAMPLE_ROLES
from riskrank.scores.table.written_numbers import reject_mixed_columns


class MatrixSource(DerivedSource):
    """A matrix in long format, with columns for model, sample, metric and score.

    Parameters
    ----------
    inner : Source
    metric : str
        Name of the metric to which the numbers belong.
    roles : mapping of str to str
        Columns with the roles sample, draw, task and cluster. A column with the role model indicates a
        transposed matrix, in which each row is a model.
    models : sequence of str
        Model columns; all numeric columns by default.

    Raises
    ------
    InputError
        If no column contains the scores of a model, the last rows are totals, or samples have no names
        although a column might contain them.
    UsageError
        If a requested model is not a column.
    """

    def __init__(self, inner: Source, metric: str, roles: Mapping[str, str], models: Names = ()) -> None:
        super().__init__(inner)
        self._roles = roles
        # Role of the column names: models, or samples in a transposed matrix.
        self._across = "sample" if "model" in roles else "model"
        self._models, extra = _pick_models(inner, roles, models)
        if "sample" in roles and self._across == "model":
            reject_totals(inner, roles["sample"], self._models)
        self._metric = metric
        self._height = inner.load([self._models[0]]).height
        further = [role for role in SAMPLE_ROLES[1:] if role in roles]
        self.columns = tuple(dict.fromkeys(("model", "sample", "metric", "score", *further, *extra)))

    def load(self, names: Names) -> pl.DataFrame:
        """Return the named columns of the long table, one model after another."""
        return pl.DataFrame([self._column(name) for name in names])

    def file_of(self, position: int) -> str:
        """Return the file that contains a score."""
        return self._inner.file_of(position % self._height)

    def row_number(self, position: int) -> int:
        """Return the row number of a score in its file."""
        return self._inner.row_number(position % self._height)

    def column_of(self, column: str, position: int) -> str:
        """Return the column of a score in its file, which is named after its model."""
        return self._models[position // self._height] if column == "score" else column

    def _column(self, name: str) -> pl.Series:
        """Return one column of the long table."""
        models = len(self._models)
        if name == "score":
            frame = self._inner.load(self._models)
            parts = [frame[model].alias(name).to_frame() for model in self._models]
            return pl.concat(parts, how="vertical_relaxed")[name]
        if name == self._across:
            cells = [pl.repeat(model, self._height, dtype=pl.String, eager=True) for model in self._models]
            return pl.concat(cells).alias(name)
        if name == "metric":
            return pl.repeat(self._metric, models * self._height, eager=True).alias(name)
        column = self._roles.get(name, "" if name == "sample" else name)
        if not column:
            cells_of = pl.Series(name, [str(row) for row in range(1, self._height + 1)])
        else:
            cells_of = self._inner.load([column])[column].alias(name)
        return pl.concat([cells_of] * models)


def _pick_models(source: Source, roles: Mapping[str, str], names: Names) -> tuple[tuple[str, ...], list[str]]:
    """Return the model columns, and further sample columns without scores."""
    transposed = "model" in roles
    free = [name for name in source.columns if name and name not in roles.values()]
    frame = source.load(free)
    columns = Columns(frame, free, decimal_comma=source.decimal_comma)
    if names and not transposed:
        selected = [free[index_of(name, free, kind="column", parameter="models")] for name in names]
        scores = {*selected, *columns.split_scores(free, columns_are_models=True)[0]}
        return tuple(selected), [name for name in free if name not in scores]
    named = [name for name in free if not is_unnamed(name) and name not in source.folder_columns]
    kinds = {name: columns.raw_kind(name) for name in named}
    reject_mixed_columns(
        source, frame.select(name for name, kind in kinds.items() if kind == "text"), "models"
    )
    numbers = [name for name, kind in kinds.items() if kind == "number"]
    models, excluded = (
        task_columns(columns, numbers)
        if transposed
        else columns.split_scores(numbers, columns_are_models=True)
    )
    if excluded and not transposed:
        raise InputError(
            f"{source.label}: column '{next(iter(excluded))}' does not look like scores of a model: "
            f"{next(iter(excluded.values()))}",
            found=f"numeric columns: {listing(numbers, 20)}",
            hint=f"name the models: {option('models', join_commas(models) or 'A,B')}; if this column is a "
            "model, add it",
        )
    if not models:
        hint = "a matrix needs one numeric column per model"
        raise source.error_with_columns("no column can be a model", hint)
    return tuple(models), [] if transposed else [name for name in free if name not in models]
