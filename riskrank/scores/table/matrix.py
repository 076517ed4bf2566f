"""A matrix of scores: one row a sample and one column a model, or one row a model and one column a sample."""

from collections.abc import Mapping

import polars as pl

from riskrank.engine.types import Names
from riskrank.errors import InputError, index_of, listing, option
from riskrank.options.flags import among_commas
from riskrank.scores.files.derived import DerivedSource
from riskrank.scores.files.source import Source
from riskrank.scores.layouts.column_profiles import Columns
from riskrank.scores.layouts.total_rows import refuse_totals
from riskrank.scores.names.vocabulary import is_unnamed
from riskrank.scores.table.columns import OF_SAMPLES
from riskrank.scores.table.written_numbers import refuse_mixed


class MatrixSource(DerivedSource):
    """A matrix as long rows: model, sample, metric and score.

    Parameters
    ----------
    inner : Source
    metric : str
        What the numbers are.
    of_sample : mapping of str to str
        Columns of the roles sample, draw, task and cluster; of the role model where a row is a model.
    models : sequence of str
        Columns asked for; all numeric ones by default.

    Raises
    ------
    InputError
        If no column holds a model's scores, nothing names the samples and a column might, or last rows sum
        up all others.
    UsageError
        If a model is asked for that is no column.
    """

    def __init__(self, inner: Source, metric: str, of_sample: Mapping[str, str], models: Names = ()) -> None:
        super().__init__(inner)
        self._of_sample = of_sample
        # What the columns are called: models, or on its side samples.
        self._across = "sample" if "model" in of_sample else "model"
        self._models, beside = _models(inner, of_sample, models)
        if "sample" in of_sample and self._across == "model":
            refuse_totals(inner, of_sample["sample"], self._models)
        self._metric = metric
        self._height = inner.load([self._models[0]]).height
        further = [role for role in OF_SAMPLES[1:] if role in of_sample]
        self.columns = tuple(dict.fromkeys(("model", "sample", "metric", "score", *further, *beside)))

    def load(self, names: Names) -> pl.DataFrame:
        """The named columns of the long table, model after model."""
        return pl.DataFrame([self._column(name) for name in names])

    def file_of(self, position: int) -> str:
        """The file a score stands in."""
        return self._inner.file_of(position % self._height)

    def row_number(self, position: int) -> int:
        """The number of the row of the file a score stands in."""
        return self._inner.row_number(position % self._height)

    def column_of(self, column: str, position: int) -> str:
        """The column of the file a score stands in: its model's."""
        return self._models[position // self._height] if column == "score" else column

    def _column(self, name: str) -> pl.Series:
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
        column = self._of_sample.get(name, "" if name == "sample" else name)
        if not column:
            cells_of = pl.Series(name, [str(row) for row in range(1, self._height + 1)])
        else:
            cells_of = self._inner.load([column])[column].alias(name)
        return pl.concat([cells_of] * models)


def _models(source: Source, of_sample: Mapping[str, str], asked: Names) -> tuple[tuple[str, ...], list[str]]:
    """Columns of models, and further ones of samples, which hold no scores."""
    on_its_side = "model" in of_sample
    free = [name for name in source.columns if name and name not in of_sample.values()]
    frame = source.load(free)
    columns = Columns(frame, free, decimal_comma=source.decimal_comma)
    if asked and not on_its_side:
        told = [free[index_of(name, free, kind="column", parameter="models")] for name in asked]
        scores = {*told, *columns.measures(free, models=True)[0]}
        return tuple(told), [name for name in free if name not in scores]
    named = [name for name in free if not is_unnamed(name) and name not in source.folder_columns]
    kinds = {name: columns.held(name) for name in named}
    refuse_mixed(source, frame.select(name for name, kind in kinds.items() if kind == "text"), "models")
    numbers = [name for name, kind in kinds.items() if kind == "number"]
    models, gone = columns.measures(numbers, models=not on_its_side)
    if gone and not on_its_side:
        raise InputError(
            f"{source.label}: column '{next(iter(gone))}' looks like no scores of a model: "
            f"{next(iter(gone.values()))}",
            found=f"columns of numbers: {listing(numbers, 20)}",
            hint=f"name the models: {option('models', among_commas(models) or 'A,B')}; one that is called so "
            "belongs among them",
        )
    if not models:
        hint = "a matrix has a column of numbers a model"
        raise source.refused("no column is left that could be a model", hint)
    return tuple(models), [] if on_its_side else [name for name in free if name not in models]
