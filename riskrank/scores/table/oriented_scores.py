"""Scores as arrays, oriented so that larger is better: the data on which all commands compute."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from riskrank.engine.types import Floats, Integers
from riskrank.errors import UsageError, index_of, option
from riskrank.options.reading import ReadOptions
from riskrank.scores.files.source import InputFile
from riskrank.scores.table.metrics import to_original_units
from riskrank.scores.table.metrics_file import MetricSpec
from riskrank.scores.table.score_counts import ScoreCount
from riskrank.scores.table.suite import NO_SUITE, Suite

if TYPE_CHECKING:
    from riskrank.engine.judges.correction import Correction
    from riskrank.scores.table.baseline import Overlap, UnmatchedSamples
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
        In the requested order, or otherwise sorted by name.
    samples : tuple of str
        Samples of all models, sorted.
    paired : bool
        True if all models have the same samples.
    values : tuple of ndarray of float64, each of shape (rows_i, m)
        Transformed and oriented scores of each model, sorted by sample; repeats of a sample are sorted by
        value. Read-only.
    row_samples : tuple of ndarray of int64, each of shape (rows_i,)
        Sample of each row, as an index into `samples`, per model; non-decreasing. Read-only.
    clusters : tuple of ndarray of int64, each of shape (rows_i,)
        Resampling unit of each row, per model: its sample, or an index into `cluster_names`. Read-only.
    cluster_names : tuple of str, or None
        Sorted; None if samples are resampled independently.
    groups : tuple of ndarray of int64, each of shape (rows_i,), or None
        Group of each row, as an index into `group_names`, per model; None if there are no groups.
    group_names : tuple of str
        Sorted.
    suite : Suite
        Tasks to which the samples belong; `NO_SUITE` if there are none.
    overlap : Overlap or None
        Samples and metrics that the new scores share with a baseline.
    unmatched : tuple of UnmatchedSamples
        Samples excluded because not all models have them.
    best : tuple of ndarray, or None
        `values` with missing scores replaced by the best possible ones; `values` itself then contains the
        worst possible ones. None unless scores are missing and `missing` is ``auto`` or ``bounds``.
    unbounded : mapping of str to str
        Metrics without bounds of which too many scores are missing to decide a claim, with their likely
        bounds as a TOML line, which may be empty.
    scored : tuple of ScoreCount
        Number of scores and reasons for missing ones, for every model and metric with missing scores.
    has_repeats : bool
        True if any model has more than one row for a sample.
    inputs : tuple of InputFile
    warnings : tuple of str
    rows : int
        Number of input rows read.
    options : ReadOptions
        Options used for reading.
    score_bounds : mapping of str to (float, float)
        Smallest and largest possible score, for metrics whose bounds are stated in the files.
    texts : Texts or None
        Locations of prompts and answers, if they are requested and the files contain them.
    judged : CalibratedJudge or None
        Human and judge scores from which the only column is computed. A sample with a human score has two
        rows, any other sample has one.
    units : tuple of ndarray of int64, or None
        Position in time of each row's sample or cluster, per model; None if there is no order in time.
    folds : FoldDesign or None
        Cross-validation folds that the samples represent; None if samples are not folds.
    noise : NoiseDesign or None
        Scores by sample and noise level, if noise sources were named.
    """

    models: tuple[str, ...]
    metrics: tuple[MetricSpec, ...]
    samples: tuple[str, ...]
    paired: bool
    values: tuple[np.ndarray, ...]
    row_samples: tuple[np.ndarray, ...]
    clusters: tuple[np.ndarray, ...]
    cluster_names: tuple[str, ...] | None
    has_repeats: bool
    inputs: tuple[InputFile, ...]
    warnings: tuple[str, ...]
    rows: int
    options: ReadOptions = field(default_factory=ReadOptions)
    groups: tuple[Integers, ...] | None = None
    group_names: tuple[str, ...] = ()
    suite: Suite = NO_SUITE
    overlap: Overlap | None = None
    unmatched: tuple[UnmatchedSamples, ...] = ()
    best: tuple[np.ndarray, ...] | None = None
    unbounded: Mapping[str, str] = field(default_factory=dict)
    scored: tuple[ScoreCount, ...] = ()
    score_bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    judged: CalibratedJudge | None = None
    texts: Texts | None = None
    units: tuple[Integers, ...] | None = None
    folds: FoldDesign | None = None
    noise: NoiseDesign | None = None

    @property
    def means_only(self) -> bool:
        """True if only means can be compared."""
        return self.folds is not None or self.noise is not None

    def best_case(self) -> ScoreTable:
        """Return the table with missing scores replaced by the best possible ones.

        If no scores are missing, return the table itself.
        """
        return self if self.best is None else replace(self, values=self.best, best=None)

    def index(self, model: str) -> int:
        """Return the index of a model with a given name.

        Raises
        ------
        UsageError
            If there is no such model; the message suggests the closest name.
        """
        return index_of(model, self.models, kind="model")

    def column(self, metric: int) -> tuple[np.ndarray, ...]:
        """Return the scores on one metric, as an array of shape (rows_i,) per model."""
        return tuple(values[:, metric] for values in self.values)

    def score_array(self) -> np.ndarray:
        """Return all scores of a paired table, with shape (models, samples, repeats, metrics).

        Samples with fewer repeats than the maximum are padded with NaN.

        Raises
        ------
        UsageError
            If the table is unpaired.
        """
        if not self.paired:
            raise UsageError(
                "this command needs the same samples for all models",
                found=option("unpaired", True),
                hint=f"remove it; {option('missing', 'drop')} compares all models on their common samples",
            )
        counts = [np.bincount(sample, minlength=len(self.samples)) for sample in self.row_samples]
        n_repeats = max(int(count.max()) for count in counts)
        scores = np.full((len(self.models), len(self.samples), n_repeats, len(self.metrics)), np.nan)
        parts = zip(self.values, self.row_samples, counts, strict=True)
        for model, (rows, sample, count) in enumerate(parts):
            repeat = np.arange(len(rows)) - np.repeat(np.cumsum(count) - count, count)
            scores[model, sample, repeat] = rows
        return scores

    def raw(self, model: int) -> np.ndarray:
        """Return the scores of a model in original units, with shape (rows_i, m).

        The values are exact, except for ``neg_log``, which is inverted by exp(−x).
        """
        return to_original_units(self.values[model], self.metrics)


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Score vectors, sorted by model and sample, then by value.

    Attributes
    ----------
    model, sample : ndarray of int64, shape (r,)
        Model and sample of each vector.
    values : ndarray of float64, shape (r, m)
        Scores on every metric.
    """

    model: np.ndarray
    sample: np.ndarray
    values: np.ndarray

    def take(self, indices: np.ndarray) -> Rows:
        """Return the rows selected by an index array or mask."""
        return Rows(model=self.model[indices], sample=self.sample[indices], values=self.values[indices])

    def with_sorted_repeats(self) -> Rows:
        """Return the rows with the repeats of each sample sorted by value, whatever their original order."""
        keys = [self.values[:, metric] for metric in reversed(range(self.values.shape[1]))]
        return self.take(np.lexsort([*keys, self.sample, self.model]))


@dataclass(frozen=True)
class LabelShift:
    """Difference between the judge's mean scores on labelled and unlabelled samples.

    A significant difference suggests that samples to label were chosen by outcome.

    Attributes
    ----------
    model : str
        The model with the smallest p-value.
    difference : float
        Its mean judge score on labelled samples minus that on unlabelled ones, in original units.
    p_value : float
        P-value of Welch's test for equal means, Holm-adjusted over models.
    models : int
        Number of models with a significant difference.
    """

    model: str
    difference: float
    p_value: float
    models: int

    @property
    def warning(self) -> str:
        """Warning that labelled samples do not look randomly chosen, so that estimates may be biased."""
        more, side = self.models - 1, "higher" if self.difference > 0 else "lower"
        addition = f"; the same holds for {more} other model{'s' * (more > 1)}" if more else ""
        return (
            f"the labelled samples do not look random: the mean judge score of {self.model} is "
            f"{abs(self.difference):.3g} {side} on them than on the others (Welch's t, Holm over models, "
            f"p = {self.p_value:.2g}){addition}; the calibration may be biased"
        )


@dataclass(frozen=True, eq=False)
class CalibratedJudge:
    """Judge scores of every model on all samples, calibrated on human labels.

    Attributes
    ----------
    human, judge : str
        Names of the metrics.
    labelled : ndarray of int64, shape (n,)
        Samples with a human score, the same for every model.
    unlabelled : ndarray of int64, shape (N − n,)
        Samples with only a judge score.
    corrections : tuple of Correction
        One per model; oriented, with judge scores mapped to the human scale.
    raw : tuple of ndarray, shapes (N,)
        Original judge scores of each model, oriented, those of labelled samples first.
    mapping_reason : str
        Why judge scores are mapped to another scale; empty if the scales agree.
    judge_sign : float
        −1 if the judge's metric is lower-is-better in the file, otherwise 1.
    shift : LabelShift
        Test for samples that were labelled because of their outcome.
    """

    human: str
    judge: str
    labelled: Integers
    unlabelled: Integers
    corrections: tuple[Correction, ...]
    raw: tuple[Floats, ...]
    mapping_reason: str
    judge_sign: float
    shift: LabelShift

    @property
    def strata(self) -> tuple[Integers, tuple[Floats, ...]]:
        """Stratum of each row of a model, and signed weights of the rows.

        Returns
        -------
        stratum : ndarray of int, shape (rows,)
            0 for labelled samples and 1 for unlabelled ones; the same for every model.
        weights : tuple of ndarray, each of shape (rows,)
            Weights of the rows of each model.
        """
        order, _ = order_by_sample(self.labelled, self.unlabelled)
        n = len(self.labelled)
        codes = np.repeat([0, 1], [2 * n, len(self.unlabelled)])[order]
        return codes, tuple(correction.weighted_rows()[1][order] for correction in self.corrections)


def order_by_sample(labelled: Integers, unlabelled: Integers) -> tuple[Integers, Integers]:
    """Return the order that sorts rows by sample, and the sample of each sorted row.

    The unsorted rows are human scores of labelled samples, judge scores of labelled samples, and judge scores
    of unlabelled samples, in this order.

    Parameters
    ----------
    labelled : ndarray of int, shape (n,)
    unlabelled : ndarray of int, shape (N − n,)

    Returns
    -------
    order, sample : ndarray of int, shapes (N + n,)
    """
    samples = np.concatenate((labelled, labelled, unlabelled))
    order = np.argsort(samples, kind="stable")
    return order, samples[order]
