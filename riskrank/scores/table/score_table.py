"""The validated score table: what every command computes on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import BinaryIO

import numpy as np

from riskrank.asked.reading import ReadOptions
from riskrank.engine.types import Integers
from riskrank.errors import InputError, UsageError, did_you_mean, listing, option
from riskrank.scores.files.opening import InputFile, Source
from riskrank.scores.table.assemble import assemble
from riskrank.scores.table.baseline import Overlap
from riskrank.scores.table.filled import FILLING, filled
from riskrank.scores.table.metrics import oriented, original_units, resolve_metrics
from riskrank.scores.table.metrics_file import MetricSpec
from riskrank.scores.table.reading import read_frame
from riskrank.scores.table.rows import Rows
from riskrank.scores.table.scored import Scored, scored
from riskrank.scores.table.scores import Scores, select
from riskrank.scores.table.suite import Suite, suite_of
from riskrank.scores.table.tasks import incomplete_tasks, of_one_column, of_scored_tasks
from riskrank.scores.table.validate import (
    constant_metrics,
    divided_samples,
    out_of_range,
    too_few_models,
    too_large,
    unusable_scores,
)

__all__ = ["InputFile", "ScoreTable", "checked_table", "read_scores"]


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoreTable:
    """Scores of several models, oriented so that larger is better.

    Attributes
    ----------
    models : tuple of str
        Sorted by name.
    metrics : tuple of MetricSpec
        In the order asked for, else sorted by name.
    samples : tuple of str
        Sorted; those of all models together.
    paired : bool
        Whether every model has every sample.
    values : tuple of ndarray of float64, each of shape (rows_i, m)
        Per model, transformed and oriented; sorted by sample, the draws of a sample by their values.
        Read-only.
    row_samples : tuple of ndarray of int64, each of shape (rows_i,)
        Per model, the sample of each row as an index into `samples`; non-decreasing. Read-only.
    clusters : tuple of ndarray of int64, each of shape (rows_i,)
        Per model, the unit of resampling of each row: its sample, or an index into `cluster_names`.
        Read-only.
    cluster_names : tuple of str, or None
        Sorted; None where samples are drawn one by one.
    groups : tuple of ndarray of int64, each of shape (rows_i,), or None
        Per model, the group of each row as an index into `group_names`; None where nobody grouped samples.
    group_names : tuple of str
        Sorted.
    suite : Suite or None
        The tasks the samples belong to; None where they are of one kind.
    overlap : Overlap or None
        What the new scores and a baseline have in common.
    best : tuple of ndarray, or None
        `values` with what is missing at the best there can be, where `missing` is ``bounds``; there `values`
        have it at the worst.
    scored : tuple of Scored
        Of every model and metric that lacks scores, how many there are and why.
    has_draws : bool
        Whether some model has more than one row for a sample.
    inputs : tuple of InputFile
    warnings : tuple of str
    rows : int
        Input rows read.
    options : ReadOptions
        How it was read.
    """

    models: tuple[str, ...]
    metrics: tuple[MetricSpec, ...]
    samples: tuple[str, ...]
    paired: bool
    values: tuple[np.ndarray, ...]
    row_samples: tuple[np.ndarray, ...]
    clusters: tuple[np.ndarray, ...]
    cluster_names: tuple[str, ...] | None
    has_draws: bool
    inputs: tuple[InputFile, ...]
    warnings: tuple[str, ...]
    rows: int
    options: ReadOptions = field(default_factory=ReadOptions)
    groups: tuple[Integers, ...] | None = None
    group_names: tuple[str, ...] = ()
    suite: Suite | None = None
    overlap: Overlap | None = None
    best: tuple[np.ndarray, ...] | None = None
    scored: tuple[Scored, ...] = ()

    def at_best(self) -> ScoreTable:
        """The table with what is missing at the best there can be; the same where nothing is told of it."""
        return self if self.best is None else replace(self, values=self.best, best=None)

    def index(self, model: str) -> int:
        """The index of a model by its name; a UsageError names the nearest."""
        if model not in self.models:
            raise UsageError(
                f"there is no model '{model}'",
                found=f"the scores hold {listing(self.models)}",
                hint=did_you_mean(model, self.models, otherwise="name one of these models"),
            )
        return self.models.index(model)

    def column(self, metric: int) -> tuple[np.ndarray, ...]:
        """One metric, by its index: per model an array of shape (rows_i,)."""
        return tuple(values[:, metric] for values in self.values)

    def as_draws(self) -> np.ndarray:
        """All scores of a paired table, shape (models, samples, draws, metrics).

        A sample with fewer draws than the most is filled up with rows of NaN.
        """
        if not self.paired:
            raise UsageError(
                "this needs the same samples of all models",
                found=option("unpaired", True),
                hint=f"leave it out; {option('missing', 'drop')} compares on the samples all models have",
            )
        counts = [np.bincount(sample, minlength=len(self.samples)) for sample in self.row_samples]
        most = max(int(count.max()) for count in counts)
        scores = np.full((len(self.models), len(self.samples), most, len(self.metrics)), np.nan)
        for model, (rows, sample, count) in enumerate(
            zip(self.values, self.row_samples, counts, strict=True)
        ):
            draw = np.arange(len(rows)) - np.repeat(np.cumsum(count) - count, count)
            scores[model, sample, draw] = rows
        return scores

    def raw(self, model: int) -> np.ndarray:
        """A model's scores in their original units, shape (rows_i, m).

        Exact but for ``neg_log``, which is undone by exp(−x).
        """
        return original_units(self.values[model], self.metrics)


def read_scores(
    paths: Sequence[str | Source], options: ReadOptions | None = None, stdin: BinaryIO | None = None
) -> ScoreTable:
    """Read, check and orient the scores of one or more files.

    Parameters
    ----------
    paths : sequence of str or Source
        Files, glob patterns, ``-`` for `stdin`, or open sources.
    options : ReadOptions, optional
    stdin : BinaryIO, optional

    Returns
    -------
    ScoreTable
        The same arrays, bit for bit, whatever the order of the rows and the format of the files.

    Raises
    ------
    InputError
        If a file, its columns or its values cannot be used.
    UsageError
        If the options contradict each other or name something unknown.
    """
    options = options or ReadOptions()
    return checked_table(read_frame(paths, options, stdin))


def checked_table(scores: Scores) -> ScoreTable:
    """Select, check and orient what was read; errors are those of `read_scores`."""
    options = scores.options
    scores = of_scored_tasks(select(scores))
    specs, warnings = resolve_metrics(scores)
    _check(too_few_models(scores, options.min_models))
    _check(unusable_scores(scores, nan_is_missing=options.missing != "error"))
    _check(too_large(scores, options.largest))
    _check(out_of_range(scores, specs))
    _check(divided_samples(scores, unpaired=options.unpaired))
    _check(incomplete_tasks(scores))
    told = scored(scores)
    if options.missing not in FILLING:
        return replace(_laid_out(scores, specs, warnings), scored=told)
    table = replace(_laid_out(filled(scores, specs), specs, warnings), scored=told)
    if options.missing == "worst":
        return table
    return replace(table, best=_laid_out(filled(scores, specs, best=True), specs, warnings).values)


def _laid_out(scores: Scores, specs: tuple[MetricSpec, ...], warnings: Sequence[str]) -> ScoreTable:
    """Orient what was checked, and bring it into rows."""
    values = oriented(scores, specs)
    scores, specs, of_task = of_one_column(scores, specs)
    rows, dropped = assemble(scores, values)
    _check(incomplete_tasks(scores, rows))
    _check(() if scores.options.allow_constant else constant_metrics(scores, rows.values, specs))
    table = _table(scores, rows, specs, (*scores.notes.warnings, *warnings, *dropped))
    return _with_suite(table, scores, of_task)


def _check(problems: Iterable[InputError]) -> None:
    for error in problems:
        raise error


def _with_suite(table: ScoreTable, scores: Scores, of_task: Mapping[str, MetricSpec] | None) -> ScoreTable:
    """The table with its tasks, and what is to be said of them."""
    options, suite = table.options, None
    if scores.has("task") or options.task_weight:
        suite = suite_of(scores, table.samples, table.row_samples, of_task)
    if suite is None:
        return table
    notes = () if options.weighs_tasks else (suite.pooled(),)
    return replace(table, suite=suite, warnings=(*table.warnings, *notes))


def _table(
    scores: Scores,
    rows: Rows,
    specs: tuple[MetricSpec, ...],
    warnings: tuple[str, ...],
) -> ScoreTable:
    used = np.zeros(len(scores.samples), dtype=bool)
    used[rows.sample] = True
    sample = rows.sample if used.all() else (np.cumsum(used) - 1)[rows.sample]
    samples = tuple(name for name, keep in zip(scores.samples, used, strict=True) if keep)
    pair = rows.model * len(samples) + sample
    rows.values.flags.writeable = False
    sample = np.ascontiguousarray(sample, dtype=np.int64)
    sample.flags.writeable = False
    cuts = np.searchsorted(rows.model, np.arange(1, len(scores.models)))
    row_samples = tuple(np.split(sample, cuts))
    clusters, cluster_names = row_samples, None
    if scores.has("cluster"):
        cluster, cluster_names = scores.of_rows("cluster", rows)
        clusters = tuple(np.split(cluster, cuts))
    groups: tuple[Integers, ...] | None = None
    group_names: tuple[str, ...] = ()
    if scores.has("group"):
        group, group_names = scores.of_rows("group", rows)
        groups = tuple(np.split(group, cuts))
    return ScoreTable(
        models=scores.models,
        metrics=specs,
        samples=samples,
        paired=not scores.options.unpaired,
        values=tuple(np.split(rows.values, cuts)),
        row_samples=row_samples,
        clusters=clusters,
        cluster_names=cluster_names,
        has_draws=bool(np.any(pair[1:] == pair[:-1])),
        inputs=scores.notes.inputs,
        warnings=warnings,
        rows=scores.notes.rows,
        options=scores.options,
        groups=groups,
        group_names=group_names,
        overlap=scores.notes.overlap,
    )
