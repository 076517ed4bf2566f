"""Matrices with one row per sample and one column per model, or the transpose."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np
import polars as pl

from riskrank.engine.sampling.design import MIN_SAMPLES
from riskrank.engine.types import Names
from riskrank.errors import InputError, index_of, listing, option
from riskrank.options.interfaces import join_commas
from riskrank.options.reading import ReadOptions
from riskrank.scores.files.derived import DerivedSource
from riskrank.scores.files.source import Source
from riskrank.scores.layouts import long_and_wide
from riskrank.scores.layouts.column_profiles import AVERAGED, Columns, format_excluded
from riskrank.scores.layouts.layout import Reading, both_directions, describe_assumed_directions, set_roles
from riskrank.scores.layouts.refusals import reject_totals, reject_training_curves
from riskrank.scores.layouts.row_keys import RowKeys, find_keys, key_options
from riskrank.scores.names.directions import has_long_tail, is_metric_name
from riskrank.scores.names.vocabulary import (
    are_task_names,
    column_for_role,
    is_task_name,
    is_unnamed,
    split_words,
    vocabulary,
    words,
)
from riskrank.scores.table.columns import SAMPLE_ROLES
from riskrank.scores.table.written_numbers import reject_mixed_columns

# Limits for outliers: among fractions a maximum, otherwise a ratio to the median magnitude.
_MAX_SHARE_EXCESS, _MAX_RATIO = 1.5, 5.0
# Columns are metrics if at least this share of their names contains a word for a metric.
_MAX_METRIC_SHARE = 0.5
# Share of the names that must contain a word for the word to count as common to all of them.
_ALMOST_ALL, _MANY_SHARE, _MANY = 0.9, 0.5, 20
# Name of a quantile, such as p(95), and fewest columns of statistics in a table of summaries.
_QUANTILE, _MIN_STATISTICS = re.compile(r"[pP](?:\(\d+\)|\d\d(?:\.\d+)?)"), 3
# Minimum number of samples in a table without sample names.
_MIN_UNNAMED = 3


def read_matrix(
    columns: Columns, named: Mapping[str, str], options: ReadOptions, *, doubtful: bool = False
) -> list[Reading]:
    """Return the possible ways to read a table in which each numeric column is a model.

    The list is empty if the column names show that the columns are metrics.

    Parameters
    ----------
    columns : Columns
    named : mapping of str to str
        Columns that the user assigned to roles, by role.
    options : ReadOptions
    doubtful : bool
        Whether to include layouts that the user must confirm, because the columns may be metrics.
    """
    if not named and options.matrix is None:
        reject_training_curves(columns)
        if means := long_and_wide.read_means(columns, options):
            return means
    assigned = {part for column in named.values() for part in (column, *column.split("+"))}
    free = [name for name in columns.names if name not in assigned]
    label = named.get("sample") or ("sample" if "sample" in free else "")
    keys = RowKeys(sample=label, task=named.get("task", "")) if label else find_keys(columns, [], [], free)
    sample = keys.sample
    used = {part for key in (sample, keys.cluster, keys.task, keys.draw) for part in (key, *key.split("+"))}
    free = [name for name in free if name not in used]
    models, excluded, metric = _select_models(columns, free, options, doubtful=doubtful)
    few = len(models) < 2 or columns.height < (2 if sample else _MIN_UNNAMED)
    if not models or (options.matrix is None and few):
        return []
    readings: list[Reading] = []
    # A mean over the columns is computed for models, which the rows then name.
    averaged = options.matrix is None and not named and AVERAGED in excluded.values()
    if averaged and columns.is_key(sample) and column_for_role("sample", [sample]) is None:
        return long_and_wide.read_rows(columns, sample, named, options)
    if "sample" not in named and long_and_wide.rows_may_be_models(columns, sample, models):
        readings = long_and_wide.read_rows(columns, sample, named, options)
        if options.matrix is None and are_task_names(models):
            return readings
        # A role set by the user is sufficient, except for missing cells of a requested matrix.
        extra = long_and_wide.missing_scores_option(options) if options.matrix else {}
        board_options = set_roles(options, {"model": sample}, **extra)
        readings = [replace(board, options=board_options) for board in readings]
    guessed = options.matrix is None and metric == "score"
    changes: dict[str, object] = {"matrix": metric}
    gaps = any(np.isnan(columns.numbers(name)).any() for name in models)
    if is_task_name(sample) and (gaps or long_and_wide.MIN_TASKS <= columns.height < MIN_SAMPLES):
        changes |= long_and_wide.missing_scores_option(options)
    roles = {"sample": sample if sample != "sample" else "", "draw": keys.draw}
    outliers = [] if options.matrix or options.models or doubtful else _range_outliers(columns, models)
    inliers = [name for name in models if name not in outliers]
    if outliers and len(inliers) < 2:
        return []
    for chosen in (inliers, models) if 1 < len(inliers) < len(models) else (models,):
        rows = f"one row per sample ({sample or 'numbered'})"
        summary = f"a matrix: {rows}, one column per model ({listing(chosen)})"
        summary += f"; metric = {metric}" if options.matrix is None else ""
        summary += f"; ignored: {format_excluded(excluded)}" if excluded else ""
        selected = options.models or (tuple(chosen) if excluded or chosen is inliers else ())
        base = set_roles(options, roles, **changes, models=selected, **key_options(keys, options))
        readings += [
            Reading(summary="; ".join([summary, *notes, *keys.notes]), options=choice)
            for choice, notes in _possible_directions(columns, models, metric, sample, base, guessed=guessed)
        ]
    return readings


def _select_models(
    columns: Columns, free: Names, options: ReadOptions, *, doubtful: bool
) -> tuple[list[str], dict[str, str], str]:
    """Return the columns that are models, the excluded columns with reasons, and the metric.

    They are chosen from the columns `free`. Unless `doubtful` is set, none are models if they may be metrics,
    repeats or tasks.
    """
    models, excluded = columns.split_scores(free, columns_are_models=True)
    models = [name for name in options.models if name in free] or models
    in_words = [name for name in models if (text := columns.text_scores.get(name)) and text.outcomes]
    if not options.models and len(in_words) < len(models):
        excluded |= dict.fromkeys(in_words, "text")
        models = [name for name in models if name not in in_words]
    if options.matrix is not None:
        return models, excluded, options.matrix
    # Names that count up from 0 or 1 denote repeats or folds; statistics summarise the scores of a row.
    summaries = vocabulary("statistics", "averages")
    statistics = [name for name in models if words(name) <= summaries or _QUANTILE.fullmatch(name)]
    are_statistics = len(statistics) >= _MIN_STATISTICS and 2 * len(statistics) >= len(models)
    if are_statistics or all(name.isdecimal() for name in models):
        return [], excluded, ""
    shared = long_and_wide.common_metric(models)
    if not options.models:
        excluded |= dict.fromkeys(_find_counts(columns, models), "integers in a different range")
        models = [name for name in models if name not in excluded]
    share, may_be_metrics = _proportion_of_metrics(models)
    # If the file name gives the metric, one of many models may have the name of a metric, such as elo.
    may_be_metrics = bool(shared) or (may_be_metrics and not columns.file_metric)
    unclear = not doubtful and (may_be_metrics or not _may_share_metric(columns, models))
    metric = columns.file_metric or shared or "score"
    return ([] if share >= _MAX_METRIC_SHARE or unclear else models), excluded, metric


def _possible_directions(
    columns: Columns, models: Names, metric: str, sample: str, options: ReadOptions, *, guessed: bool
) -> list[tuple[ReadOptions, list[str]]]:
    """Return options for each possible direction of a metric, the most likely first, with notes.

    There are two directions if the direction is unknown and the options request tests.

    Parameters
    ----------
    columns : Columns
    models : sequence of str
        Columns with the scores of one model each.
    metric, sample : str
        Name of the metric, and column that names samples.
    options : ReadOptions
    guessed : bool
        Whether the name of the metric is a guess, which implies no direction.
    """
    assumed = describe_assumed_directions([metric], options, guessed=guessed)
    rows = np.stack([columns.numbers(name) for name in models], axis=1)
    values = rows[~np.isnan(rows)]
    # Of ranks of the models on each sample, which may be tied, 1 is the best.
    first, last = np.fmin.reduce(rows, axis=1), np.fmax.reduce(rows, axis=1)
    is_rank = (first == 1) & (last > 1) & (last <= (~np.isnan(rows)).sum(axis=1))
    if guessed and assumed and is_rank.all() and (values == np.rint(values)).all():
        choices = both_directions([metric], options, lower_first=True)
        return choices if options.tests else choices[:1]
    # Benchmark scores and binary scores are higher-is-better.
    clear = is_task_name(sample) or np.isin(values, (0, 1)).all()
    if clear or not (guessed and assumed and options.tests):
        return [(options, assumed)]
    return both_directions([metric], options, lower_first=has_long_tail(values))


def _proportion_of_metrics(names: Sequence[str]) -> tuple[float, bool]:
    """Return the proportion of names that contain a word for a metric.

    Words shared by nearly all names, or by most names if there are many, are ignored.

    Returns
    -------
    proportion : float
    may_be_metrics : bool
        True if some columns may be metrics even though the proportion is low.
    """
    parts = [split_words(name) for name in names]
    most = _MANY_SHARE if len(names) >= _MANY else _ALMOST_ALL
    common = {word for word in {*chain(*parts)} if sum(word in part for part in parts) > most * len(names)}
    own = [[word for word in part if word not in common] for part in parts]
    metrics = [part for part in own if is_metric_name(" ".join(part))]
    complete = any(all(map(is_metric_name, part)) for part in metrics)
    partly = [word for word in common if any(word not in part for part in parts)]
    return len(metrics) / len(names), complete or any(map(is_metric_name, partly))


def _find_counts(columns: Columns, models: Sequence[str]) -> list[str]:
    """Return the model columns of integers that are far larger than the fractions in most other ones."""
    sizes = dict(zip(models, long_and_wide.magnitudes(columns, models), strict=True))
    fractions = [name for name in models if not columns.is_integer(name)]
    if len(fractions) < 2 or 2 * len(fractions) < len(models):
        return []
    largest = long_and_wide.MAX_SCALE_RATIO * max(sizes[name] for name in fractions)
    return [name for name in models if name not in fractions and sizes[name] > largest]


def _range_outliers(columns: Columns, models: Sequence[str]) -> list[str]:
    """Return the model columns whose range suggests that they hold a different metric from the rest."""
    sizes = dict(zip(models, long_and_wide.magnitudes(columns, models), strict=True))
    # Two models on percentage and fraction scales are rejected with a clearer message.
    if len(models) == 2 and max(sizes.values()) > _MAX_RATIO**2 * min(sizes.values()):
        return []
    n_shares = sum(size == 1 for size in sizes.values())
    if 2 * n_shares >= len(models):
        return [name for name, size in sizes.items() if size > _MAX_SHARE_EXCESS]
    median = float(np.median([*sizes.values()]))
    return [name for name, size in sizes.items() if not median / _MAX_RATIO <= size <= median * _MAX_RATIO]


def _may_share_metric(columns: Columns, models: Sequence[str]) -> bool:
    """Return True if the model columns may contain the same metric.

    Their scales are similar, or some are fractions and the others percentages.
    """
    if long_and_wide.have_similar_scale(columns, models):
        return True
    maxima = [float(np.fmax.reduce(columns.numbers(name))) for name in models]
    minima = [float(np.fmin.reduce(columns.numbers(name))) for name in models]
    shares = [top for top in maxima if top <= 1]
    return min(minima) >= 0 and bool(shares) and all(top <= 1 or 1.5 < top <= 100 for top in maxima)


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
        """Choose the columns that are models; the scores are loaded later."""
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

    def _inner_position(self, position: int) -> int:
        """Convert the position of a score to that of its row in the matrix."""
        return position % self._height

    def column_of(self, column: str, position: int) -> str:
        """Return the column of the file from which the value at a position was read.

        For scores, it is named after the model.
        """
        return self._models[position // self._height] if column == "score" else column

    def _column(self, name: str) -> pl.Series:
        """Return one column of the long table; `name` is model, sample, metric, score or a further column."""
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
    """Return the columns that hold the scores of one model each, and the columns that describe samples.

    `roles` maps roles to columns, and `names` are the requested models. If `roles` has a model column, each
    score column holds a task instead of a model.
    """
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
    if transposed:
        models, excluded = long_and_wide.task_columns(columns, numbers)
    else:
        models, excluded = columns.split_scores(numbers, columns_are_models=True)
    if excluded and not transposed:
        name, reason = next(iter(excluded.items()))
        problem = f"{source.label}: column '{name}' does not look like scores of a model: {reason}"
        flag = option("models", join_commas(models) or "A,B")
        hint = f"name the models: {flag}; if this column is a model, add it"
        raise InputError(problem, found=f"numeric columns: {listing(numbers, 20)}", hint=hint)
    if not models:
        hint = "a matrix needs one numeric column per model"
        raise source.error_with_columns("no column can be a model", hint)
    return tuple(models), [] if transposed else [name for name in free if name not in models]
