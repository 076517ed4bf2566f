"""Scores as arrays, oriented so that larger is better: the data on which all commands compute."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from riskrank.engine.types import Floats, Integers
from riskrank.errors import InputError, UsageError, index_of, listing, option
from riskrank.options.reading import ReadOptions
from riskrank.scores.files.query import exclude_values, is_number
from riskrank.scores.files.source import InputFile
from riskrank.scores.table.metric_specs import MetricSpec
from riskrank.scores.table.metrics import to_original_units
from riskrank.scores.table.scores import ScoreCount
from riskrank.scores.table.suite import NO_SUITE, Suite

if TYPE_CHECKING:
    from riskrank.engine.judges import Correction
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
    judge_scores : mapping of str to ndarray, shapes (k, n)
        Scores of each judge in the units of the file, if judges are a source of noise.
    required : frozenset of str
        Samples that a new model of a gate must pass if the old model passes.
    published : ndarray, shape (k,), or None
        Published standard errors of the models' only scores, in the units of the file.
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
    judge_scores: Mapping[str, Floats] = field(default_factory=dict)
    required: frozenset[str] = frozenset()
    published: Floats | None = None

    @property
    def means_only(self) -> bool:
        """True if the scores allow only comparisons of means, not of distributions."""
        return any(design is not None for design in (self.folds, self.noise, self.published))

    def best_case(self) -> ScoreTable:
        """Return the table with missing scores imputed by the best possible ones.

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
        """Return the scores on one metric, given by index, as one array of shape (rows_i,) per model."""
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
            problem = "this command needs the same samples for all models"
            hint = f"remove it; {option('missing', 'drop')} compares all models on their common samples"
            raise UsageError(problem, found=option("unpaired", True), hint=hint)
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
        """Warning that the labelled samples do not look like a random selection."""
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
    """Return the order that sorts calibrated rows by sample, and the sample of each sorted row.

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


def group_tables(table: ScoreTable) -> dict[str, ScoreTable]:
    """Split a table by group; return one table per group name.

    Numeric names come first, in numeric order.

    Parameters
    ----------
    table : ScoreTable
        Table with groups.

    Raises
    ------
    InputError
        If a model has no samples in a group.
    """
    codes, tables = table.groups, {}
    assert codes is not None  # the callers have groups
    names = dict(enumerate(table.group_names))
    numeric = sorted((i for i in names if is_number(names[i])), key=lambda i: float(names[i]))
    for number in dict.fromkeys([*numeric, *names]):
        positions = [np.flatnonzero(code == number) for code in codes]
        for model, code, rows in zip(table.models, codes, positions, strict=True):
            if not rows.size:
                present = listing(names[i] for i in np.unique(code).tolist())
                exclude = exclusion_hint(table, [names[number]])
                raise InputError(
                    f"model '{model}' has no samples in the group '{names[number]}' of "
                    f"{table.options.group_by}",
                    found=f"the model has samples in {present}",
                    hint=f"{exclude}, or select complete models: {option('models', 'A,B')}",
                )
        tables[names[number]] = _select_rows(table, positions)
    return tables


def task_tables(table: ScoreTable) -> dict[str, ScoreTable]:
    """Split a table of a suite by task; return one table per task name."""
    suite = table.suite
    tasks = tuple(suite.task_codes[samples] for samples in table.row_samples)
    return group_tables(replace(table, groups=tasks, group_names=suite.names, suite=NO_SUITE))


def exclusion_hint(table: ScoreTable, names: Sequence[str]) -> str:
    """Return a hint on how to exclude some groups of a table."""
    options = table.options
    condition = exclude_values(str(options.group_by), names, table.group_names, options.where)
    return f"exclude {'this group' if len(names) == 1 else 'these groups'}: {option('where', condition)}"


def _select_rows(table: ScoreTable, positions: Sequence[np.ndarray]) -> ScoreTable:
    """Return the table with the rows at the given positions of each model."""

    def select(arrays: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
        """Return the selected elements of each model's array."""
        return tuple(array[rows] for array, rows in zip(arrays, positions, strict=True))

    used, samples = _renumber(select(table.row_samples))
    units, clusters = _renumber(select(table.clusters))
    names = table.cluster_names
    return replace(
        table,
        samples=tuple(table.samples[code] for code in used),
        values=select(table.values),
        best=None if table.best is None else select(table.best),
        row_samples=samples,
        clusters=samples if names is None else clusters,
        cluster_names=None if names is None else tuple(names[code] for code in units),
        has_repeats=any(np.any(np.diff(sample) == 0) for sample in samples),
        groups=None,
        group_names=(),
        units=None if table.units is None else _renumber(select(table.units))[1],
        suite=table.suite and table.suite.subset(used),
    )


def _renumber(codes: Sequence[np.ndarray]) -> tuple[list[int], tuple[np.ndarray, ...]]:
    """Replace codes by numbers from 0, in the order of the codes.

    Returns
    -------
    values : list of int
        Distinct codes, sorted.
    indices : tuple of ndarray of int
        Each of the given arrays, with codes replaced by indices into `values`.
    """
    used, numbers = np.unique(np.concatenate(codes), return_inverse=True)
    cuts = np.cumsum([part.size for part in codes])[:-1]
    return used.tolist(), tuple(np.split(numbers.astype(np.int64), cuts))


@dataclass(frozen=True, kw_only=True, eq=False)
class ModelAverages:
    """Average score of each of N models on each of m metrics.

    Attributes
    ----------
    oriented : ndarray of float64, shape (N, m)
        Averages of the transformed scores, oriented so that larger is better. NaN if a score is missing.
    raw : ndarray of float64, shape (N, m)
        The same averages in original units. Within a column, they rank the models in the same or the reverse
        order. For ``neg_log``, they are geometric means.
    larger_is_better : ndarray of bool, shape (m,)
        True if larger values in original units are better.
    expected_scores, missing_scores : int
        Number of expected (model, sample, metric) scores, and number of those that are missing.
    first_missing : tuple of str, or None
        Model, sample and metric of the first missing score. The sample is ``""`` if the table has no
        samples or the model has no score on this metric at all.
    """

    oriented: np.ndarray
    raw: np.ndarray
    larger_is_better: np.ndarray
    expected_scores: int
    missing_scores: int
    first_missing: tuple[str, str, str] | None


def model_averages(table: ScoreTable) -> ModelAverages:
    """Average the scores of every model on every metric; the tasks of a suite are weighted.

    An average over fewer samples than other models have is not comparable. It is therefore NaN if any
    expected score is missing. Metrics may have different samples: a score is expected on every sample for
    which some model has a score on that metric. In an unpaired table, only the model's own samples count.

    Parameters
    ----------
    table : ScoreTable
        Table without repeats. It may contain NaN if it was read with ``missing="keep"``.
    """
    values, sample = np.concatenate(table.values), np.concatenate(table.row_samples)
    model = np.repeat(np.arange(len(table.models)), [len(rows) for rows in table.values])
    present, expected = ~np.isnan(values), expected_scores(table)
    missing = expected & ~present
    oriented = values.copy() if len(values) == len(table.models) else _model_means(table, present)
    incomplete = np.zeros_like(oriented, dtype=bool)
    np.logical_or.at(incomplete, model, missing)
    oriented[incomplete] = np.nan
    located = None
    if missing.any():
        row, metric = np.argwhere(missing)[0]
        name = table.samples[sample[row]] if present[model == model[row], metric].any() else ""
        located = (table.models[model[row]], name, table.metrics[metric].name)
    logarithm = np.array([spec.transform == "neg_log" for spec in table.metrics])
    higher = np.array([spec.direction == "higher" for spec in table.metrics])
    return ModelAverages(
        oriented=oriented,
        raw=to_original_units(oriented, table.metrics),
        larger_is_better=higher ^ logarithm,
        expected_scores=int(expected.sum()),
        missing_scores=int(missing.sum()),
        first_missing=located,
    )


def expected_scores(table: ScoreTable) -> np.ndarray:
    """Return a mask of the rows and metrics that should have a score, shape (rows of all models, m)."""
    present, sample = ~np.isnan(np.concatenate(table.values)), np.concatenate(table.row_samples)
    expected = np.zeros((len(table.samples), present.shape[1]), dtype=bool)
    np.logical_or.at(expected, sample, present)
    expected[:, ~expected.any(axis=0)] = True  # metrics on which no model has scores
    return expected[sample]


def _model_means(table: ScoreTable, present: np.ndarray) -> np.ndarray:
    """Return the mean score of each model on each metric, with shape (models, metrics).

    Sums are exact, so that models with the same scores in different order remain tied.

    Parameters
    ----------
    table : ScoreTable
    present : ndarray of bool, shape (rows of all models, metrics)
        True if a row has a score.
    """
    means = np.full((len(table.models), present.shape[1]), np.nan)
    stops = np.cumsum([len(rows) for rows in table.values])
    suite = table.suite if table.options.weighs_tasks else NO_SUITE
    for i, (rows, mask) in enumerate(zip(table.values, np.split(present, stops[:-1]), strict=True)):
        for k in range(present.shape[1]):
            scores = rows[mask[:, k], k]
            if not scores.size:
                continue
            mean = math.fsum(scores.tolist()) / scores.size
            if suite:
                mean = _macro_mean(scores, suite, suite.task_codes[table.row_samples[i][mask[:, k]]])
            # Rounding must not change a constant that is repeated on every sample, such as a price.
            means[i, k] = min(max(mean, scores.min()), scores.max())
    return means


def _macro_mean(scores: np.ndarray, suite: Suite, tasks: np.ndarray) -> float:
    """Return the mean of task means, with the weights of a suite; tasks without scores are omitted.

    `tasks` holds the task of each score.
    """
    used = np.unique(tasks).tolist()
    parts = [scores[tasks == task].tolist() for task in used]
    weights = [float(suite.weights[task]) for task in used]
    if not any(weights):
        return math.fsum(scores.tolist()) / scores.size
    terms = [weight * math.fsum(part) / len(part) for weight, part in zip(weights, parts, strict=True)]
    return math.fsum(terms) / math.fsum(weights)
