"""Scores as arrays, of which larger is better: rows, people's beside a judge's, what commands compute on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from riskrank.engine.types import Floats, Integers
from riskrank.errors import UsageError, index_of, option
from riskrank.options.reading import ReadOptions
from riskrank.scores.files.source import InputFile
from riskrank.scores.table.metrics import original_units
from riskrank.scores.table.metrics_file import MetricSpec
from riskrank.scores.table.score_counts import Scored
from riskrank.scores.table.suite import NO_SUITE, Suite

if TYPE_CHECKING:
    from riskrank.engine.judges.correction import Correction
    from riskrank.scores.table.baseline import Overlap, Unshared
    from riskrank.scores.table.designs import FoldDesign, NoiseDesign
    from riskrank.scores.table.texts import Texts


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
    suite : Suite
        The tasks the samples belong to; None where they are of one kind.
    overlap : Overlap or None
        What the new scores and a baseline have in common.
    unshared : tuple of Unshared
        Samples that were left out, as not all models have them.
    best : tuple of ndarray, or None
        `values` with what is missing at the best there can be, where something is and `missing` is ``auto``
        or ``bounds``; there `values` have it at the worst.
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
    told_bounds : mapping of str to (float, float)
        Smallest and largest score there can be, of the metrics of which the files tell it.
    texts : Texts or None
        Where what was asked and answered stands, where somebody wants it and the files have it.
    judged : Judged or None
        People's scores and a judge's, of which the only column is made: two rows of a sample that people
        scored, one of the others.
    units : tuple of ndarray of int64, or None
        Per model the place of each row's sample, or cluster, in the order of time; None where there is none.
    folds : FoldDesign or None
        Which folds of cross-validation the samples are; None where they are samples.
    noise : NoiseDesign or None
        Scores by sample and level, where sources of noise were named.
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
    suite: Suite = NO_SUITE
    overlap: Overlap | None = None
    unshared: tuple[Unshared, ...] = ()
    best: tuple[np.ndarray, ...] | None = None
    scored: tuple[Scored, ...] = ()
    told_bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    judged: Judged | None = None
    texts: Texts | None = None
    units: tuple[Integers, ...] | None = None
    folds: FoldDesign | None = None
    noise: NoiseDesign | None = None

    @property
    def means_only(self) -> bool:
        """Whether nothing but means can be compared."""
        return self.folds is not None or self.noise is not None

    def at_best(self) -> ScoreTable:
        """The table with what is missing at the best there can be; the same where nothing is told of it."""
        return self if self.best is None else replace(self, values=self.best, best=None)

    def index(self, model: str) -> int:
        """The index of a model by its name; a UsageError names the nearest."""
        return index_of(model, self.models, kind="model")

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
        parts = zip(self.values, self.row_samples, counts, strict=True)
        for model, (rows, sample, count) in enumerate(parts):
            draw = np.arange(len(rows)) - np.repeat(np.cumsum(count) - count, count)
            scores[model, sample, draw] = rows
        return scores

    def raw(self, model: int) -> np.ndarray:
        """A model's scores in their original units, shape (rows_i, m).

        Exact but for ``neg_log``, which is undone by exp(−x).
        """
        return original_units(self.values[model], self.metrics)


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Score vectors, sorted by model, sample and then by their values.

    Attributes
    ----------
    model, sample : ndarray of int64, shape (r,)
        Whose vector it is, and on which sample.
    values : ndarray of float64, shape (r, m)
        Scores on every metric.
    """

    model: np.ndarray
    sample: np.ndarray
    values: np.ndarray

    def take(self, kept: np.ndarray) -> Rows:
        """The rows of an index or mask."""
        return Rows(model=self.model[kept], sample=self.sample[kept], values=self.values[kept])

    def with_sorted_draws(self) -> Rows:
        """The draws of a sample in the order of their values, whatever the order of the file."""
        keys = [self.values[:, metric] for metric in reversed(range(self.values.shape[1]))]
        return self.take(np.lexsort([*keys, self.sample, self.model]))


@dataclass(frozen=True)
class LabelShift:
    """How labels chosen by outcome would show it: the judge's means on them and on the others differ.

    Attributes
    ----------
    model : str
        The model whose p-value is smallest.
    difference : float
        Its judge's mean on labelled samples less that on the others, as the file has it.
    p_value : float
        Welch's, adjusted by Holm over models.
    models : int
        Models of which it is significant.
    """

    model: str
    difference: float
    p_value: float
    models: int

    @property
    def warning(self) -> str:
        """What it means for every figure that rests on the labels."""
        others, side = self.models - 1, "higher" if self.difference > 0 else "lower"
        also = f", and so for {others} other model{'s' * (others > 1)}" if others else ""
        return (
            f"the labelled samples do not look chosen by chance: the judge's mean of {self.model} is "
            f"{abs(self.difference):.3g} {side} on them than on the others (Welch's t, Holm over models, "
            f"p = {self.p_value:.2g}){also}; what they correct may be off"
        )


@dataclass(frozen=True, eq=False)
class Judged:
    """A judge's scores of all samples of every model, corrected by people's.

    Attributes
    ----------
    human, judge : str
        Names of the metrics.
    labelled : ndarray of int64, shape (n,)
        Samples that people scored, the same of every model.
    others : ndarray of int64, shape (N − n,)
        Samples that only the judge scored.
    corrections : tuple of Correction
        By model; oriented, the judge's scores on people's scale.
    raw : tuple of ndarray, shapes (N,)
        The judge's own scores, oriented, those of labelled samples first.
    why_mapped : str
        Why the judge is taken to score on another scale; empty where it is on people's.
    judge_sign : float
        −1 where less of the judge's metric is better in the file.
    shift : LabelShift
        Whether labels look chosen by outcome.
    """

    human: str
    judge: str
    labelled: Integers
    others: Integers
    corrections: tuple[Correction, ...]
    raw: tuple[Floats, ...]
    why_mapped: str
    judge_sign: float
    shift: LabelShift

    @property
    def strata(self) -> tuple[Integers, tuple[Floats, ...]]:
        """Of every row of a model 0 where people scored its sample, else 1; signed weights of the rows."""
        order, _ = by_sample(self.labelled, self.others)
        n = len(self.labelled)
        of_row = np.repeat([0, 1], [2 * n, len(self.others)])[order]
        return of_row, tuple(one.rows()[1][order] for one in self.corrections)


def by_sample(labelled: Integers, others: Integers) -> tuple[Integers, Integers]:
    """Order by sample of human scores, judge's scores of labelled samples and of others; the samples."""
    samples = np.concatenate((labelled, labelled, others))
    order = np.argsort(samples, kind="stable")
    return order, samples[order]
