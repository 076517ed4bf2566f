"""Differences of means: a bootstrap-t that is never narrower than Student's t (method §4, "Means").

All commands compute the interval and the p-value of a difference of means here, so they never disagree. A
mean is a sum over independent units: samples, clusters of samples, samples within tasks, or whole tasks. Each
unit u contributes z_u to the deviation of a difference d from its expectation. A resample draws the units of
each stratum with replacement. Its statistic t* is the difference of its mean from d, in its own standard
errors. For a one-sided level β, a limit is as far from d as the larger of the 1 − β quantiles of t* and of
Student's t, in standard errors of d. Percentile intervals and Student's t are too short for skewed scores.
The quantiles of t* include the skewness.

Levels that the resamples do not resolve use Student's quantile, multiplied by the ratio of both quantiles at
the smallest level that is resolved.

With fewer than 10 samples, p-values are those of an exact test: random signs of the paired differences, or
random relabelling of unpaired scores. Intervals are cut at a boundary that the test rejects.

Binary scores (method §4, "Binary scores"): the p-value is the larger one of the score test and, if the
claimed difference is 0, of the mid-p value of the exact test. The score test alone is too liberal for unequal
sample sizes; the exact test is too conservative. Paired models are compared by Tango's score test, which is
McNemar's without a margin. For unpaired models, it is that of Miettinen and Nurminen. The interval of a
single rate is Wilson's.

References
----------
P. Hall (1988). Theoretical comparison of bootstrap confidence intervals. The Annals of Statistics 16(3),
927-953. doi:10.1214/aos/1176350933
T. Tango (1998). Equivalence test and confidence interval for the difference in proportions for the
paired-sample design. Statistics in Medicine 17(8), 891-908.
doi:10.1002/(SICI)1097-0258(19980430)17:8<891::AID-SIM780>3.0.CO;2-B
O. Miettinen, M. Nurminen (1985). Comparative analysis of two rates. Statistics in Medicine 4(2), 213-226.
doi:10.1002/sim.4780040211

Pairwise comparisons of models that were scored on different sets of tasks (method §16).

Each pair is compared on its shared tasks, provided that there are at least :data:`MIN_SHARED`. Plain means of
the available scores would depend on which tasks a model lacks. Least-squares means from an additive model
with model and task effects do not; they order models that are not significantly different.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import combinations, product
from math import comb

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskrank.engine import special
from riskrank.engine.evidence.evidence import Evidence
from riskrank.engine.evidence.student import Student
from riskrank.engine.evidence.unit_means import RESOLVED, Side, UnitMean, t_replicates
from riskrank.engine.numeric import bisect
from riskrank.engine.sampling.degrees_of_freedom import satterthwaite
from riskrank.engine.sampling.design import MIN_SAMPLES, ClusteredScores
from riskrank.engine.sampling.monte_carlo import p_value_interval
from riskrank.engine.sampling.strata import TaskDesign
from riskrank.engine.sampling.variance_components import ColumnMeans, cluster_means
from riskrank.engine.types import Booleans, Floats, Integers

# Steps of the bisection for a limit.
_STEPS = 50


@dataclass(frozen=True, eq=False)
class SuccessCounts:
    """Counts from which the difference of two success rates is estimated.

    Attributes
    ----------
    first, second : float
        For paired models, the numbers of samples on which only the first model succeeds and on which only the
        second does. For unpaired models, the number of successes of each.
    sizes : (float, float)
        Number of samples of each model; 0 for the second one if there is only one model.
    paired : bool
        True if both models share their samples.
    """

    first: float
    second: float
    sizes: tuple[float, float]
    paired: bool

    @property
    def estimate(self) -> float:
        """Difference of the success rates, first minus second model; the rate itself for a single model."""
        return self.first / self.sizes[0] - (self.second / self.sizes[1] if self.sizes[1] else 0.0)

    def p_value(self, difference: float = 0.0, sign: int = 1) -> float:
        """Return the one-sided p-value for the claim that the true difference exceeds `difference`.

        If `sign` is −1, the claim is that the true difference is smaller.
        """
        p_value = float(special.ndtr(-sign * self._score_statistic(difference)))
        return p_value if difference or not self.sizes[1] else max(p_value, self._mid_p_value(sign))

    @property
    def two_sided_p_value(self) -> float:
        """P-value for the null hypothesis of equal rates."""
        return min(1.0, 2 * min(self.p_value(sign=1), self.p_value(sign=-1)))

    def interval(self, level: float) -> tuple[float, float]:
        """Return the confidence limits at a two-sided level.

        The interval excludes 0 if and only if the p-value for a difference of 0 is at most the level. Limits
        of the opposite difference are the same to the last digit.
        """
        if self.sizes[1] and (self.first, self.sizes[0]) < (self.second, self.sizes[1]):
            low, high = SuccessCounts(self.second, self.first, self.sizes[::-1], self.paired).interval(level)
            return 0.0 - high, 0.0 - low
        low, high = self._score_limit(level, -1), self._score_limit(level, 1)
        if self.p_value(sign=1) > level / 2:
            low = min(low, 0.0)
        return low, max(high, 0.0) if self.p_value(sign=-1) > level / 2 else high

    def _score_limit(self, level: float, sign: int) -> float:
        """Return the largest difference that the score test does not reject at a two-sided level.

        If `sign` is −1 instead of 1, return the smallest one.
        """
        target = -float(special.ndtri(level / 2))
        return bisect(
            lambda bound: -sign * self._score_statistic(bound) <= target, self.estimate, float(sign), _STEPS
        )[1]

    def _score_statistic(self, difference: float) -> float:
        """Return the score statistic for a hypothetical difference of success rates.

        It is asymptotically standard normal if this is the true difference.
        """
        distance = self.estimate - difference
        if distance == 0:
            return 0.0
        if not self.sizes[1]:
            variance = difference * (1 - difference) / self.sizes[0]
        else:
            variance = (self._paired_variance if self.paired else self._unpaired_variance)(difference)
        return float(np.sign(distance) * np.inf) if variance <= 0 else float(distance / np.sqrt(variance))

    def _paired_variance(self, difference: float) -> float:
        """Return Tango's variance estimate, given the true `difference` of the rates."""
        n, (wins, losses) = self.sizes[0], (self.first, self.second)
        b = (2 * n - wins + losses) * difference - wins - losses
        c = -losses * difference * (1 - difference)
        lost = (np.sqrt(max(b * b - 8 * n * c, 0.0)) - b) / (4 * n)
        return float((2 * lost + difference * (1 - difference)) / n)

    def _unpaired_variance(self, difference: float) -> float:
        """Return the variance estimate of Miettinen and Nurminen, given the true difference."""
        (n, m), total, successes = self.sizes, sum(self.sizes), self.first + self.second
        # Cubic equation for the rate of the second model.
        a = ((n + 2 * m) * difference - total - successes) / (3 * total)
        b = (m * difference * difference - (total + 2 * self.second) * difference + successes) / total
        c = self.second * difference * (1 - difference) / total
        q = a**3 - a * b / 2 + c / 2
        p = np.copysign(np.sqrt(max(a * a - b / 3, 0.0)), q)
        angle = (np.pi + np.arccos(np.clip(q / p**3 if p else 0.0, -1.0, 1.0))) / 3
        rate = np.clip(2 * p * np.cos(angle) - a, max(0.0, -difference), min(1.0, 1 - difference))
        other = rate + difference
        return float((other * (1 - other) / n + rate * (1 - rate) / m) * total / (total - 1))

    def _mid_p_value(self, sign: int) -> float:
        """Return the one-sided mid-p value of the exact test for equal success rates.

        The alternative is that the first rate is larger, or smaller if `sign` is −1.
        """
        counts, sizes = (self.first, self.second)[::sign], self.sizes[::sign]
        at_least = [counts[0] + 1, counts[0]]
        if self.paired:  # McNemar's exact test
            total = sum(counts)
            tails = [special.betainc(max(k, 1e-300), total - k + 1, 0.5) for k in at_least if k <= total]
        else:  # Fisher's exact test
            tails = [_hypergeometric_tail(k, sum(counts), sizes) for k in at_least]
        return float(sum(tails) / 2)


def _hypergeometric_tail(fewest: float, successes: float, sizes: tuple[float, ...]) -> float:
    """Return the probability that the first of two samples has at least `fewest` of all successes.

    `successes` is the number of successes in both samples together, and `sizes` holds the two sample sizes.
    """
    n, m = sizes
    counts = np.arange(max(fewest, successes - m), min(n, successes) + 1)

    def log_choose(size: float, chosen: Floats | float) -> Floats:
        """Return the logarithm of the binomial coefficient of `size` over `chosen`."""
        return -np.log1p(size) - special.betaln(size - chosen + 1, np.asarray(chosen) + 1)

    logs = log_choose(n, counts) + log_choose(m, successes - counts) - log_choose(n + m, successes)
    return float(np.exp(logs).sum())


_MOST_RELABELLINGS = 50_000
# Relative to the sum of the absolute values.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class MeanContrast:
    """Difference of two models' means and the units that it varies with.

    Attributes
    ----------
    estimate : float
        Difference of the two means.
    sides : tuple of Side
        Contributions of the units: a single element if the models share their units, otherwise one per model.
    informative : int
        Largest number m such that no p-value for "no difference" is below 2⁻ᵐ.
    judged : bool
        True if judge scores are calibrated on human labels.
    binary : (SuccessCounts, float, float) or None
        For binary scores: the counts of successes, the distance between the two values, and the mean score at
        a success rate of 0. None for other scores.
    few_samples : bool
        True for fewer than 10 samples of equal weight, which need an exact test.
    """

    estimate: float
    sides: tuple[Side, ...]
    informative: float
    judged: bool = False
    binary: tuple[SuccessCounts, float, float] | None = None
    few_samples: bool = False

    @classmethod
    def from_scores(
        cls, scores: ClusteredScores, first: int, second: int, factor: float = 1.0
    ) -> MeanContrast:
        """Build the contrast: mean of the first model minus `factor` times the mean of the second.

        `first` and `second` are the indices of the models.
        """
        means = UnitMean.from_scores(scores, first), UnitMean.from_scores(scores, second, factor)
        rounding, sides = means[0].rounding + means[1].rounding, [mean.side for mean in means]
        contributions, informative = [sides[0].parts, -sides[1].parts], np.inf
        if scores.joint_resamples:
            contributions = [contributions[0] + contributions[1]]
            sides = [replace(sides[0], counts=np.minimum(sides[0].counts, sides[1].counts))]
            if not scores.strata.random:
                differing = np.abs(means[0].shares - means[1].shares) > rounding
                informative = float(np.count_nonzero(differing))
        varying = [np.where(np.abs(parts) <= rounding, 0.0, parts) for parts in contributions]
        result = tuple(replace(side, parts=parts) for side, parts in zip(sides, varying, strict=True))
        difference = means[0].mean - means[1].mean
        binary = success_counts(scores, first, second) if factor == 1 else None
        few = has_few_samples(scores, [first, second])
        return cls(difference, result, informative, scores.judged, binary, few)

    @classmethod
    def from_mean(cls, scores: ClusteredScores, model: int, factor: float = 1.0) -> MeanContrast:
        """Build a contrast that consists of a single model's mean, multiplied by `factor`.

        `model` is the index of the model.
        """
        mean = UnitMean.from_scores(scores, model, factor)
        binary, values = None, factor * scores.values[model]
        low = -1.0 if values.min() < 0 else 0.0
        if np.isin(values, (low, low + 1)).all() and success_counts(scores, model, model):
            successes = float(np.count_nonzero(values > low))
            binary = SuccessCounts(successes, 0.0, (float(values.size), 0.0), False), 1.0, low
        few = has_few_samples(scores, [model])
        return cls(mean.mean, (mean.side,), np.inf, scores.judged, binary, few)

    def permutation_p_value(self, boundary: float, sign: int) -> float:
        """Return the one-sided p-value of an exact test: sign flips if paired, otherwise relabelling.

        The claim is "above the boundary" if `sign` is 1, and "below the boundary" if it is −1. If there are
        more than 50,000 possible labellings, the test uses a random sample of them.
        """
        first, *others = sorted((side.parts.size * side.parts for side in self.sides), key=len)
        pooled = np.concatenate((first + (self.estimate - boundary), *(-other for other in others)))
        if others:
            # The difference of the means rises with the sum of the first side.
            sums = pooled[_relabellings(first.size, pooled.size)].sum(axis=1)
        else:
            sums = np.array([*product((1.0, -1.0), repeat=first.size)]) @ pooled
        return float(np.mean(sign * (sums - sums[0]) >= -_ROUNDING * np.abs(pooled).sum()))

    @cached_property
    def error_and_df(self) -> tuple[float, float]:
        """Standard error of the estimate, and Satterthwaite's degrees of freedom."""
        largest = max(float(np.abs(side.parts).max()) for side in self.sides) or 1.0
        variances = np.concatenate([side.variances(largest) for side in self.sides])
        dof = satterthwaite(variances, np.concatenate([side.counts for side in self.sides]))
        return largest * float(np.sqrt(variances.sum())), max(float(dof.df) - self.judged, 1.0)


@cache
def _relabellings(size: int, total: int) -> Integers:
    """Return the positions assigned to the first sample in each relabelling, shape (labellings, size).

    `size` is the size of the first sample, `total` that of both samples together. If there are at most 50,000
    relabellings, all are enumerated, otherwise they are drawn at random. The first row is the observed
    labelling.
    """
    if comb(total, size) <= _MOST_RELABELLINGS:
        return np.array([*combinations(range(total), size)])
    rng = np.random.default_rng(0)
    drawn = [rng.choice(total, size, replace=False) for _ in range(_MOST_RELABELLINGS)]
    return np.array([np.arange(size), *drawn])


def has_few_samples(scores: ClusteredScores, models: Sequence[int]) -> bool:
    """Return True if one of the given models has fewer than 10 samples in a simple design.

    A simple design has no tasks, clusters, weights or judge.
    """
    plain = not (scores.judged or scores.strata.random or scores.strata.has_several_tasks)
    counts = [scores.cluster_counts[model] for model in models]
    return (
        plain
        and min(counts) < MIN_SAMPLES
        and all(scores.sizes[model] == count for model, count in zip(models, counts, strict=True))
        and all(np.ptp(scores.mean_weights[model]) <= 1e-12 for model in models)
    )


def success_counts(
    scores: ClusteredScores, first: int, second: int
) -> tuple[SuccessCounts, float, float] | None:
    """Count the successes of two models with binary scores.

    `first` and `second` are the indices of the models.

    Returns
    -------
    (SuccessCounts, float, float) or None
        Counts, distance between the two values, and 0, the mean difference at equal success rates. None
        unless the scores have two distinct values (or are all 0 or all 1), one score per unit, and equal
        weights. Also None for unpaired models on several tasks.
    """
    strata = scores.strata
    if scores.judged or strata.random or (strata.has_several_tasks and not scores.paired):
        return None
    low = min(float(values.min()) for values in scores.values)
    high = max(float(values.max()) for values in scores.values)
    high += low == high and abs(low) in (0.0, 1.0)
    one_score_per_unit = all(scores.cluster_counts[model] == scores.sizes[model] for model in (first, second))
    equal_weights = np.ptp(scores.mean_weights[first]) <= 1e-12
    if not (low < high and is_binary(scores.values) and one_score_per_unit and equal_weights):
        return None
    pair = [scores.values[model] == high for model in (first, second)]
    sizes = float(pair[0].size), float(pair[1].size)
    if not scores.paired:
        return SuccessCounts(float(pair[0].sum()), float(pair[1].sum()), sizes, False), high - low, 0.0
    wins, losses = np.count_nonzero(pair[0] & ~pair[1]), np.count_nonzero(pair[1] & ~pair[0])
    return SuccessCounts(float(wins), float(losses), sizes, True), high - low, 0.0


def is_binary(values: Sequence[Floats]) -> bool:
    """Return True if the scores of all models have at most two distinct values."""
    low, high = min(column.min() for column in values), max(column.max() for column in values)
    return all(((column == low) | (column == high)).all() for column in values)


def mean_evidence(
    differences: Sequence[MeanContrast],
    boundary: ArrayLike = 0.0,
    *,
    resamples: int | str = "auto",
    seed: int = 0,
) -> Evidence:
    """Return p-values and intervals for the claims that differences of means are above a boundary.

    Parameters
    ----------
    differences : sequence of C MeanContrast
        Differences about which the claims are made.
    boundary : array_like, shape (C,)
        The claims are that the differences are above these values.
    resamples : int or "auto"
        Minimum number of resamples.
    seed : int
        Seed of the random streams.
    """
    bounds = np.broadcast_to(np.asarray(boundary, dtype=np.float64), (len(differences),))
    # Binary scores have closed forms.
    resampled = [() if difference.binary else difference.sides for difference in differences]
    replicates = t_replicates(resampled, resamples, seed)
    return BootstrapT(tuple(differences), bounds, replicates).evidence()


@dataclass(frozen=True, eq=False)
class PairDifferences(Student):
    """Differences of means of all ordered pairs of k models, shape (k, k).

    Attributes
    ----------
    resampled : Evidence
        P-values and intervals of the k² differences.
    """

    test: str = field(default="bootstrap-t", kw_only=True)
    resampled: Evidence = field(kw_only=True)

    @classmethod
    def from_scores(cls, scores: ClusteredScores) -> PairDifferences:
        """Compute the differences in means of all ordered pairs of models."""
        k = scores.models
        contrasts = [MeanContrast.from_scores(scores, *divmod(pair, k)) for pair in range(k * k)]
        error, df = np.array([contrast.error_and_df for contrast in contrasts]).T.reshape(2, k, k)
        evidence = mean_evidence(contrasts)
        return cls(evidence.estimate.reshape(k, k), error, df, resampled=evidence)

    @property
    def mirrored(self) -> Student:
        """The same differences with reversed signs and without bootstrap replicates."""
        return Student(-self.value, self.error, self.df)

    def p_above(self, boundary: ArrayLike = 0.0) -> Floats:
        """Return one-sided p-values for the claim that the difference is above 0, shape (k, k).

        `boundary` is ignored.
        """
        return self.resampled.p_above.reshape(self.value.shape)

    def interval(self, level: float = 0.05, boundary: ArrayLike = 0.0) -> tuple[Floats, Floats]:
        """Return the limits of individual confidence intervals at a two-sided level, shapes (k, k).

        `boundary` is ignored.
        """
        low, high = self.resampled.interval(level)
        return low.reshape(self.value.shape), high.reshape(self.value.shape)


def sampled_task_p_values(differences: Floats, shares: Floats) -> Floats:
    """Return one-sided p-values for differences in macro means over sampled tasks.

    Parameters
    ----------
    differences : ndarray, shape (m, T)
        Differences of m pairs of models on T sampled tasks.
    shares : ndarray, shape (T,)
        Weights of the tasks, with sum 1.

    Returns
    -------
    ndarray, shape (m,)
        The same p-values as those of :class:`PairDifferences` for a design with sampled tasks.
    """
    contrasts, counts = [], np.array([1 / (shares**2).sum()])
    for row in differences:
        mean, stratum = float(shares @ row), np.zeros(shares.size, dtype=np.int64)
        contrasts.append(MeanContrast(mean, (Side(shares * (row - mean), stratum, counts, 0),), np.inf))
    return mean_evidence(contrasts).p_above


def task_column_means(
    values: Floats, clusters: NDArray, design: TaskDesign | None, model: int
) -> ColumnMeans:
    """Return the task-weighted means of the columns of one model's scores, with standard errors.

    Parameters
    ----------
    values : ndarray, shape (n, m)
        Scores of the model, one row per score.
    clusters : ndarray, shape (n,)
        Resampling unit of each row; ignored if tasks are resampled.
    design : TaskDesign or None
        Task design of all models. Without it, the result equals that of `cluster_means`.
    model : int
        Index of the model.

    Returns
    -------
    ColumnMeans
        The standard errors are NaN if a task has only one unit.
    """
    if design is None:
        return cluster_means(values, clusters)
    tasks, results = design.select_rows(lambda rows: (rows[model],)), []
    for column in values.T:
        scores = ClusteredScores.build([column], [clusters], tasks=tasks)
        mean = MeanContrast.from_mean(scores, 0)
        several = np.bincount(mean.sides[0].strata).min() > 1
        results.append((mean.estimate, mean.error_and_df[0] if several else np.nan))
    return ColumnMeans(*np.array(results).T)


@dataclass(frozen=True, eq=False)
class BootstrapT:
    """Bootstrap replicates t* of differences of means, in units of their standard errors.

    Attributes
    ----------
    differences : tuple of C MeanContrast
        Differences of means about which claims are made.
    boundary : ndarray, shape (C,)
        The claims are that the differences are above these values.
    replicates : ndarray, shape (C, B)
        Replicates of t*, sorted in ascending order.
    """

    differences: tuple[MeanContrast, ...]
    boundary: Floats
    replicates: Floats

    @cached_property
    def estimate(self) -> Floats:
        """Differences of means, shape (C,)."""
        return np.array([difference.estimate for difference in self.differences])

    @cached_property
    def _errors_and_dfs(self) -> Floats:
        """Standard errors (row 0) and degrees of freedom (row 1) of the differences, shape (2, C)."""
        return np.array([difference.error_and_df for difference in self.differences]).reshape(-1, 2).T

    def _critical_values(self, level: float, sign: int) -> Floats:
        """Return one-sided critical values, the larger of the quantiles of t* and of Student's t, shape (C,).

        The quantiles are those of t if `sign` is 1, and of −t if it is −1.
        """
        df, count = self._errors_and_dfs[1], self.replicates.shape[1]
        resolved = max(level, RESOLVED / (count + 1))
        index = int(resolved * (count + 1) * (1 + 1e-12))
        largest = self.replicates[:, -index] if sign > 0 else -self.replicates[:, index - 1]
        student = -special.stdtrit(df, resolved)
        critical = np.maximum(largest, student)
        return critical if resolved == level else critical * -special.stdtrit(df, level) / student

    def p_above(self, boundary: Floats, sign: int) -> Floats:
        """Return one-sided p-values for the claims, with Monte Carlo limits.

        The claim is "above the boundary" if `sign` is 1, and "below the boundary" if it is −1.

        Returns
        -------
        ndarray, shape (3, C)
            P-values, lower limits, upper limits.
        """
        (error, df), count = self._errors_and_dfs, self.replicates.shape[1]
        distance, resolved = sign * (self.estimate - boundary), RESOLVED / (count + 1)
        t = distance / np.where(error > 0, error, 1.0)
        beyond = self.replicates >= t[:, None] if sign > 0 else self.replicates <= -t[:, None]
        exceedances = beyond.sum(axis=1)
        result = p_value_interval(np.maximum(exceedances, RESOLVED - 1), count)
        # A p-value that is not resolved has the relative Monte Carlo error of the smallest one that is.
        ratio = special.stdtrit(df, resolved) / self._critical_values(resolved, sign)
        far = special.stdtr(df, t * ratio) * (result / resolved)
        result = np.where(exceedances + 1 < RESOLVED, far, result)
        result = np.maximum(result, special.stdtr(df, -t))
        # Without variation, use a sign test in which all signs are equal.
        result = np.where(error > 0, result, np.where(distance > 0, 0.5 ** (df + 1), 1.0))
        for i, difference in enumerate(self.differences):
            if boundary[i] == 0 and distance[i] > 0:
                result[:, i] = np.maximum(result[:, i], 0.5**difference.informative)
            if difference.binary is not None:
                rates, width, start = difference.binary
                result[:, i] = rates.p_value((boundary[i] - start) / width, sign)
            elif difference.few_samples:
                result[:, i] = difference.permutation_p_value(float(boundary[i]), sign)
        return np.minimum(result, 1.0)

    def interval(self, level: float) -> tuple[Floats, Floats]:
        """Return the lower and upper confidence limits at a two-sided level, shapes (C,).

        They are consistent with the p-values at 0 and at the boundary.
        """
        error = self._errors_and_dfs[0]
        low = self.estimate - self._critical_values(level / 2, 1) * error
        high = self.estimate + self._critical_values(level / 2, -1) * error
        for i, difference in enumerate(self.differences):
            if difference.binary is not None:
                rates, width, start = difference.binary
                low[i], high[i] = (start + width * limit for limit in rates.interval(level))
        few = np.array([difference.few_samples for difference in self.differences], dtype=bool)
        for bound in (np.zeros_like(low), self.boundary):
            above, below = (self.p_above(bound, sign)[0] <= level / 2 for sign in (1, -1))
            low = np.where(above, np.where(few, np.maximum(low, bound), low), np.minimum(low, bound))
            high = np.where(below, np.where(few, np.minimum(high, bound), high), np.maximum(high, bound))
        return low, high

    def evidence(self) -> Evidence:
        """Return p-values, intervals and standard errors for all claims, shapes (C,)."""
        above, below = (self.p_above(self.boundary, sign) for sign in (1, -1))
        error, df = self._errors_and_dfs
        return Evidence.build(
            self.estimate,
            above[0],
            below[0],
            error=error,
            boundary=self.boundary,
            samples=df + 1,
            interval=self.interval,
            mc_bounds=np.stack([above[1:], below[1:]]).transpose(2, 0, 1),
            resamples=self.replicates.shape[1],
        )


# Smallest number of tasks shared by the models of a pair.
MIN_SHARED = 6


def shared_differences(values: Floats, units: Integers) -> Student:
    """Return the differences in means for all pairs of models, each on the tasks that both share.

    Parameters
    ----------
    values : ndarray, shape (k, n)
        Score of each model on each task; NaN if missing.
    units : ndarray of int, shape (n,)
        Cluster of each task, for example all votes by one person; distinct numbers for independent tasks.

    Returns
    -------
    Student
        Shape (k, k), from paired tests; NaN for models that share too few units.
    """
    k = len(values)
    value, error, df = np.full((3, k, k), np.nan)
    np.fill_diagonal(value, 0.0)
    np.fill_diagonal(error, 0.0)
    np.fill_diagonal(df, 1.0)
    for i, j in combinations(range(k), 2):
        shared = np.isfinite(values[i] - values[j])
        unit = units[shared]
        if np.unique(unit).size >= MIN_SHARED:
            scores = ClusteredScores.build([values[i][shared], values[j][shared]], [unit, unit])
            contrast = MeanContrast.from_scores(scores, 0, 1)
            value[i, j], value[j, i] = contrast.estimate, -contrast.estimate
            (error[i, j], df[i, j]), (error[j, i], df[j, i]) = [contrast.error_and_df] * 2
    return Student(value, error, df)


def additive_means(values: Floats) -> Floats:
    """Estimate each model's mean over all tasks with additive effects of models and tasks.

    Parameters
    ----------
    values : ndarray, shape (k, n)
        Scores (NaN if missing) of models in a single group of :func:`connected_groups`.

    Returns
    -------
    ndarray, shape (k,)
        Equal to the plain means if no score is missing.
    """
    present = np.isfinite(values)
    scores, counts = np.where(present, values, 0.0), present.sum(axis=0)
    # After elimination of the task effects, the model effects are determined up to a constant.
    share = present / np.maximum(counts, 1)
    equations = np.diag(present.sum(axis=1)) - share @ present.T
    targets = scores.sum(axis=1) - share @ scores.sum(axis=0)
    effects = np.linalg.lstsq(equations, targets, rcond=None)[0]
    has_scores = counts > 0
    tasks = (scores - present * effects[:, None]).sum(axis=0)[has_scores] / counts[has_scores]
    return effects + tasks.mean()


def transitive_closure(edges: Booleans) -> Booleans:
    """Return a mask of the pairs (i, j) with a path from i to j in a directed graph, shape (k, k)."""
    reachable = edges.copy()
    for middle in range(len(reachable)):
        reachable |= reachable[:, [middle]] & reachable[[middle]]
    return reachable


def connected_groups(compared: Booleans) -> list[list[int]]:
    """Return the connected components of the comparison graph, the largest first.

    Parameters
    ----------
    compared : ndarray of bool, shape (k, k)
        Symmetric; True if two models are compared.
    """
    reachable = transitive_closure(compared | np.eye(len(compared), dtype=bool))
    groups = {tuple(np.flatnonzero(row).tolist()) for row in reachable}
    return sorted(map(list, groups), key=lambda group: (-len(group), group))


def cyclic_wins(wins: Booleans) -> list[tuple[int, int]]:
    """Return the wins that are part of a cycle, such as A beats B, B beats C, C beats A.

    Each element is a pair (winner, loser).
    """
    reachable = transitive_closure(wins)
    return [(i, j) for i, j in np.argwhere(wins).tolist() if reachable[j, i]]


def topological_order(wins: Booleans, means: Floats) -> Integers:
    """Order models so that every winner precedes the models it beats; otherwise sort them by mean.

    Return the indices of the models, the best first.

    Parameters
    ----------
    wins : ndarray of bool, shape (k, k)
        True where the first model beats the second; must not contain a cycle.
    means : ndarray, shape (k,)
        Mean of each model; larger is better.
    """
    remaining, order = list(np.argsort(-means, kind="stable").tolist()), []
    while remaining:
        order.append(next(i for i in remaining if not wins[remaining, i].any()))
        remaining.remove(order[-1])
    return np.array(order, dtype=np.int64)
