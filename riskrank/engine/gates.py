"""Bootstrap replicates of differences in tail means, and the scores of one side of a comparison.

Resampling units may belong to tasks, or be tasks themselves; method §8 defines their weights. Without tasks,
all units belong to one task. If judge scores are calibrated on human labels (method §12), a calibrated tail
needs the weights of all rows.

A resample gives every resampling unit a random weight. The weights are exponential (Rubin's Bayesian
bootstrap). For many scores this is equivalent to drawing with replacement; for a tail with few scores it is
better. Scores are sorted once and summed.

Resamples only contain observed scores. If two models agree in the tails of 30 samples, every resample shows
no difference, although one sample in 25 may be a loss. The exact limit of a proportion (Clopper and Pearson
1934) counts one loss more than observed, and so does this module for tail means. Before the lower limit of an
interval is resampled, one sample is added against the claim; before the upper limit, one in its favour. Its
score is the mean of the samples in the tail and the worst possible score.

References
----------
C. J. Clopper and E. S. Pearson (1934). The use of confidence or fiducial limits illustrated in the case of
the binomial. Biometrika 26(4), 404-413. doi:10.1093/biomet/26.4.404
D. B. Rubin (1981). The Bayesian bootstrap. The Annals of Statistics 9(1), 130-134. doi:10.1214/aos/1176345338
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from riskrank.engine.judges import MIN_UNLABELLED, JudgedRows, tune_for_tail
from riskrank.engine.numeric import weighted_sums
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.resamples import BLOCK, ResampleBlock, make_blocks
from riskrank.engine.sampling.steps import StepMaker, Steps, make_monotone, to_weight_units
from riskrank.engine.types import Booleans, Floats, Integers


@dataclass(frozen=True)
class SideTasks:
    """Tasks of one model's resampling units.

    Attributes
    ----------
    unit_tasks : ndarray of int, shape (C,)
        Task of each unit; if tasks are sampled, each unit is a task.
    weights : ndarray, shape (T,)
        Weight of each task.
    random : bool
        True if tasks are sampled.
    """

    unit_tasks: Integers
    weights: Floats
    random: bool = False

    @property
    def has_several(self) -> bool:
        """True if there is more than one task."""
        return self.weights.size > 1

    @property
    def heaviest_task(self) -> int:
        """Index of the task in which one more unit has the largest effect on the mean."""
        return int(np.argmax(self.weights / np.maximum(np.bincount(self.unit_tasks), 1)))

    def weigh(self, unit_weights: Floats, sizes: Floats) -> Floats:
        """Return the weight of a single score of each unit in each resample.

        The weights of all scores sum to 1.

        Parameters
        ----------
        unit_weights : ndarray, shape (B, C)
            Weight of each unit.
        sizes : ndarray, shape (C,)
            Number of scores of each unit.

        Returns
        -------
        ndarray, shape (B, C)
        """
        if self.random:
            result = unit_weights * (self.weights / sizes)
            return result / weighted_sums(result, sizes)[:, None]
        result = np.empty_like(unit_weights)
        for task, weight in enumerate(self.weights.tolist()):
            units = np.flatnonzero(self.unit_tasks == task) if self.has_several else slice(None)
            task_weights = unit_weights[:, units]
            result[:, units] = task_weights * (weight / weighted_sums(task_weights, sizes[units]))[:, None]
        return result


# Placeholder for units without tasks; all belong to one task.
SINGLE_TASK = SideTasks(np.empty(0, dtype=np.int64), np.ones(1))


@dataclass(frozen=True)
class SideScores:
    """Scores of one model in a comparison.

    Attributes
    ----------
    values : ndarray, shape (n,)
        Scores; larger is better.
    clusters : ndarray of int, shape (n,)
        Resampling unit of each score, 0, 1, ... without gaps.
    tasks : SideTasks
        Tasks of the units.
    """

    values: Floats
    clusters: Integers
    tasks: SideTasks = SINGLE_TASK

    def __post_init__(self) -> None:
        """Replace the placeholder for missing tasks by a single task."""
        if self.tasks is SINGLE_TASK:
            unit_tasks = np.zeros(int(self.clusters[-1]) + 1, dtype=np.int64)
            object.__setattr__(self, "tasks", replace(SINGLE_TASK, unit_tasks=unit_tasks))

    @classmethod
    def from_scores(cls, scores: ClusteredScores, model: int) -> SideScores:
        """Extract the scores of the model with index `model`."""
        strata = scores.strata
        tasks = SideTasks(strata.cluster_tasks[model], strata.weights, strata.random)
        return cls(scores.values[model], scores.clusters[model], tasks)

    @property
    def sizes(self) -> NDArray[np.int_]:
        """Number of scores of each unit, shape (C,)."""
        return np.bincount(self.clusters)

    @property
    def sums(self) -> Floats:
        """Sum of the scores of each unit, shape (C,)."""
        return np.asarray(np.bincount(self.clusters, self.values), dtype=np.float64)

    @property
    def observed(self) -> Floats:
        """Observed scores, from which the worst plausible score is estimated."""
        return self.values

    @property
    def weights(self) -> Floats:
        """Weight of a single score of each unit in the sample, shape (C,)."""
        return self.weigh(np.ones((1, len(self.sizes))))[0]

    def weigh(self, unit_weights: Floats) -> Floats:
        """Return the weight of a single score of each unit in each resample, shape (B, C).

        `unit_weights` has the same shape and holds the weight of the unit in the resample.
        """
        return self.tasks.weigh(unit_weights, self.sizes.astype(np.float64))

    def worst_quantile(self, proportion: float) -> float:
        """Return the quantile of the scores at a low `proportion`, with scores weighted by task."""
        weights = self.weights[self.clusters] if self.tasks.has_several else None
        return float(np.quantile(self.values, proportion, method="inverted_cdf", weights=weights))

    def with_unit(self, score: float) -> SideScores:
        """Return a copy with one more unit in the task where it has the largest effect on the mean.

        The unit has the average size of the units of that task, and all its scores equal `score`.
        """
        units = self.clusters[self.tasks.unit_tasks[self.clusters] == self.tasks.heaviest_task]
        count = max(round(float(np.unique(units, return_counts=True)[1].mean())), 1)
        return SideScores(
            np.concatenate([self.values, np.full(count, score)]),
            np.concatenate([self.clusters, np.full(count, self.clusters[-1] + 1)]),
            replace(self.tasks, unit_tasks=np.append(self.tasks.unit_tasks, self.tasks.heaviest_task)),
        )


@dataclass(frozen=True)
class LabelledPair:
    """Human labels for two models.

    Attributes
    ----------
    labels : int
        Number of samples with human labels, n.
    samples : int
        Number of samples with judge scores, N.
    label_variance : float
        Variance of the mean difference, estimated from the human scores alone.
    """

    labels: int
    samples: int
    label_variance: float

    @classmethod
    def from_scores(cls, scores: ClusteredScores, new: int, old: int) -> LabelledPair:
        """Count the labelled samples of two models, and estimate the variance of their mean difference.

        `new` and `old` are the indices of the models.
        """
        rows = (JudgedRows.from_scores(scores, model) for model in (new, old))
        first, second = (judged.values[judged.human] for judged in rows)
        counts = scores.strata.counts(new)
        labels = int(counts[0])
        return cls(labels, int(counts.sum()), float((first - second).var(ddof=1)) / labels)

    @property
    def max_labels(self) -> int:
        """Largest possible number of labels; some samples must remain without a label."""
        return self.samples - MIN_UNLABELLED

    def irreducible_proportion(self, variance: float) -> float:
        """Return the proportion of the variance of a calibrated difference that more labels cannot remove.

        `variance` is (A − G)/n + G/N, where A/n is the variance from labels alone. The second term remains
        even if all samples are labelled.
        """
        if variance <= 0:
            return 0.0
        return min((self.label_variance - variance) / (self.samples / self.labels - 1) / variance, 1.0)


@dataclass(frozen=True)
class TailSide(SideScores):
    """Human and judge scores of one model, with the factors by which they enter a calibrated tail mean.

    Attributes
    ----------
    factors : ndarray, shape (n,)
        1 for human scores, −λ' for judge scores of the same samples, λ' for other judge scores.
    is_human : ndarray of bool, shape (n,)
        True for human scores.
    """

    factors: Floats = field(kw_only=True)
    is_human: Booleans = field(kw_only=True)

    @classmethod
    def from_scores(cls, scores: ClusteredScores, model: int) -> TailSide:
        """Extract the human and judge scores of the model with index `model`."""
        rows, strata = JudgedRows.from_scores(scores, model), scores.strata
        tasks = SideTasks(strata.cluster_tasks[model], np.ones(2))
        shares = rows.signed * strata.counts(model)[strata.cluster_tasks[model][scores.clusters[model]]]
        return cls(rows.values, scores.clusters[model], tasks, factors=shares, is_human=rows.human)

    @property
    def observed(self) -> Floats:
        """Human scores only."""
        return self.values[self.is_human]

    def worst_quantile(self, proportion: float) -> float:
        """Return the quantile of the human scores at a low `proportion`."""
        return float(np.quantile(self.observed, proportion, method="inverted_cdf"))

    def with_unit(self, score: float) -> TailSide:
        """Return a copy with one more sample: the given human score and the median judge score."""
        judge = (self.tasks.unit_tasks[self.clusters] == 0) & ~self.is_human
        unit = int(self.clusters[-1]) + 1
        return replace(
            self,
            values=np.append(self.values, [score, float(np.median(self.values[judge]))]),
            clusters=np.append(self.clusters, [unit, unit]),
            tasks=replace(self.tasks, unit_tasks=np.append(self.tasks.unit_tasks, 0)),
            factors=np.append(self.factors, [1.0, float(self.factors[judge][0])]),
            is_human=np.append(self.is_human, [True, False]),
        )

    def tails(self, unit_weights: Floats, level: float) -> Floats:
        """Return the calibrated tail mean in each resample, shape (B,).

        `unit_weights` holds the weight of each unit in the resamples, shape (B, C). `level` is the proportion
        of the worst scores in the tail.
        """
        weights = self.tasks.weigh(unit_weights, np.ones(unit_weights.shape[1]))
        maker = StepMaker.from_scores(self.values, self.clusters)
        order = np.argsort(self.values, kind="stable")
        rows = to_weight_units(weights.take(maker.units, axis=1) * self.factors[order])
        if maker.starts is not None:
            rows = np.add.reduceat(rows, maker.starts, axis=1)
        return Steps(maker.values, make_monotone(maker.values, np.cumsum(rows, axis=1))).tail_means(level)


# Weights generated at once: 32 MB of doubles.
_WEIGHTS = 1 << 22


@dataclass(frozen=True)
class Comparison:
    """Two models on one column of scores, and the statistic that is compared.

    Attributes
    ----------
    new, old : SideScores
        Scores of the two models.
    paired : bool
        True if both models share the units.
    level : float
        Tail level p: proportion of the worst scores.
    lowest : float
        The worst possible score.
    """

    new: SideScores
    old: SideScores
    paired: bool
    level: float
    lowest: float

    @classmethod
    def from_scores(
        cls, scores: ClusteredScores, new: int, old: int, level: float, lowest: float
    ) -> Comparison:
        """Build the comparison of two models; `new` and `old` are their indices.

        `level` is the proportion of worst scores in the tail, and `lowest` the worst possible score. Scores
        of a judge are calibrated on human labels for this tail.
        """
        if not scores.judged:
            sides = [SideScores.from_scores(scores, model) for model in (new, old)]
            return cls(sides[0], sides[1], scores.joint_resamples, level, lowest)
        tuned = tune_for_tail(scores, level)
        tails = [TailSide.from_scores(tuned, model) for model in (new, old)]
        return cls(tails[0], tails[1], True, level, lowest)

    def with_adverse_sample(self) -> Comparison:
        """Return a copy with one more sample that counts against the new model, to bound unobserved failures.

        On this sample, the new model has a bad score and the old one a median score. If tasks are sampled,
        the comparison is returned unchanged, because a single unobserved failure cannot be a whole task.
        """
        if self.new.tasks.random:
            return self
        observed, quantile = self.new.observed, self.new.worst_quantile(self.level)
        below = observed[observed < quantile]
        worst = float((self.lowest + below.sum()) / (1 + below.size))
        middle = float(np.median(self.old.observed))
        return replace(self, new=self.new.with_unit(worst), old=self.old.with_unit(middle))

    def with_favourable_sample(self) -> Comparison:
        """Return a copy with one more sample that counts against the old model.

        On this sample, the old model has a bad score and the new one a median score. If tasks are sampled,
        the comparison is returned unchanged.
        """
        adverse = replace(self, new=self.old, old=self.new).with_adverse_sample()
        return replace(adverse, new=adverse.old, old=adverse.new)


def resampled_differences(comparisons: Sequence[Comparison], *, resamples: int, seed: int) -> list[Floats]:
    """Resample the statistic of each comparison, new minus old.

    Parameters
    ----------
    comparisons : sequence of Comparison
        Pairs of models, with the statistic to compare.
    resamples : int
        Number of resamples, B.
    seed : int
        Seed of the random streams; comparisons with the same number of units share their resamples.

    Returns
    -------
    list of ndarray, shapes (B,)
        Resampled differences, one array per comparison.
    """
    results = []
    for comparison in comparisons:
        new, old, level = comparison.new, comparison.old, comparison.level
        counts = int(new.clusters[-1]) + 1, int(old.clusters[-1]) + 1
        parts = [
            resampled_statistics(new, first, level) - resampled_statistics(old, second, level)
            for first, second in _draw_weights(*counts, comparison.paired, resamples, seed)
        ]
        results.append(np.concatenate(parts))
    return results


def observed_difference(comparison: Comparison) -> float:
    """Return the observed value of the compared statistic, new minus old."""
    new, old = (observed_tail_mean(side, comparison.level) for side in (comparison.new, comparison.old))
    return new - old


def observed_tail_mean(side: SideScores, level: float) -> float:
    """Return the tail mean of the observed scores of a model, for the worst proportion `level` of scores."""
    return float(resampled_statistics(side, np.ones((1, len(side.sizes))), level)[0])


def tail_means(side: SideScores, weights: Floats, level: float) -> Floats:
    """Return the tail mean of one model's scores in every resample, ``F^(-2)(p) / p`` (method §3).

    Parameters
    ----------
    side : SideScores
        Scores of the model, with their resampling units.
    weights : ndarray, shape (B, units)
        Weight of each unit.
    level : float
        Proportion p of the worst scores, in (0, 1].

    Returns
    -------
    ndarray, shape (B,)
    """
    order = np.argsort(side.values, kind="stable")
    targets = level * weighted_sums(weights, side.sizes.astype(np.float64))[:, None]
    # The tail of a resample usually ends within twice as many scores of the sample.
    length = min(order.size, int(2 * level * order.size) + 50)
    while True:
        score_weights = weights[:, side.clusters[order[:length]]]
        passed = np.cumsum(score_weights, axis=1)
        if length == order.size or np.all(passed[:, -1:] >= targets):
            break
        length = min(order.size, 2 * length)
    inside = np.clip(targets - (passed - score_weights), 0.0, score_weights)
    return weighted_sums(inside, side.values[order[:length]]) / targets[:, 0]


def resampled_statistics(side: SideScores | TailSide, unit_weights: Floats, level: float | None) -> Floats:
    """Return the mean or tail mean of one model in every resample, for any design.

    Parameters
    ----------
    side : SideScores or TailSide
        Scores of the model, with their resampling units.
    unit_weights : ndarray, shape (B, units)
        Weight of each unit before the tasks are weighted.
    level : float or None
        Proportion of the worst scores for a tail mean; None for the mean of all scores.

    Returns
    -------
    ndarray, shape (B,)
    """
    if isinstance(side, TailSide):
        assert level is not None
        return side.tails(unit_weights, level)
    if level is not None:
        return tail_means(side, side.weigh(unit_weights) if side.tasks.has_several else unit_weights, level)
    if side.tasks.has_several:
        return weighted_sums(side.weigh(unit_weights), side.sums)
    return weighted_sums(unit_weights, side.sums) / weighted_sums(unit_weights, side.sizes.astype(np.float64))


def _draw_weights(
    new: int, old: int, paired: bool, resamples: int, seed: int
) -> Iterator[tuple[Floats, Floats]]:
    """Draw bootstrap weights for the units of two models, and yield them in batches.

    Parameters
    ----------
    new, old : int
        Number of resampling units of each model.
    paired : bool
        True if both models share their units, and so the weights.
    resamples, seed : int
        Number of resamples, and seed of their random streams.

    Yields
    ------
    (ndarray, ndarray), shapes (rows, new) and (rows, old)
        Weights for the units of the new and of the old model.
    """
    step = max(_WEIGHTS // (new + old), 1)
    draws = _block_weights(make_blocks(resamples, seed), new, 0 if paired else old, step)
    while group := list(islice(draws, max(step // BLOCK // 8, 1))):
        first, second = (np.concatenate(rows) for rows in zip(*group, strict=True))
        yield first, first if paired else second


def _block_weights(
    blocks: Iterable[ResampleBlock], new: int, old: int, step: int
) -> Iterator[tuple[Floats, Floats]]:
    """Draw exponential weights for the units of two models, and yield them in batches.

    `new` and `old` are their numbers of units. A batch has at most `step` resamples of one block: a pair of
    arrays of shapes (rows, new) and (rows, old).
    """
    for block in blocks:
        rng = block.generator()
        for start in range(0, block.count, step):
            rows = min(step, block.count - start)
            yield rng.standard_exponential((rows, new)), rng.standard_exponential((rows, old))
