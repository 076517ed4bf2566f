"""Permutation tests of tail differences between unpaired models (method §4, "Unpaired models").

The tail mean of a small sample is biased towards mild values. The bias is even larger in resamples, because
these cannot contain failures that were never observed. Therefore each replicate is shifted by twice the
average bias of the resamples. In addition, a permutation test must confirm a difference. It pools the units
of both models and reassigns them at random, within tasks if there are any. The test statistic is the
standardised difference of the two tail means.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import ceil, sqrt

import numpy as np

from riskrank.engine.family import Family
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.types import Booleans, Floats, Integers

# Entries of a batch of permutations, which limits memory.
_BATCH = 1 << 21

# Scores kept beyond the tail's share, in standard deviations of the number drawn from it.
_MARGIN = 10.0

_MIN_DRAWS, _MAX_DRAWS = 999, 49_999


def correct_bias(estimate: Floats, replicates: Floats) -> Floats:
    """Shift replicates by twice their mean bias relative to the estimate, shape (B, ...)."""
    # A mean can overflow to infinity, which still compares correctly.
    with np.errstate(over="ignore", invalid="ignore"):
        return replicates - 2 * (replicates.mean(axis=0) - estimate)


@dataclass(frozen=True)
class PermutedTails:
    """Permutation tests for tail differences between pairs of models, adjusted as a family of claims.

    Parameters
    ----------
    scores : ClusteredScores
    level : float
        Proportion of worst samples.
    claims : int
        Number of claims in the family.
    family : Family
    seed : int
    """

    scores: ClusteredScores
    level: float
    claims: int
    family: Family
    seed: int
    _cache: dict[tuple[int, int], float] = field(default_factory=dict, repr=False, compare=False)

    def p_adjusted(self, worse: int, better: int) -> float:
        """Return the adjusted p-value for the null hypothesis "the tail of `worse` is not worse".

        Return 0 for models that share resamples; they need no permutation test.
        """
        if self.scores.joint_resamples:
            return 0.0
        if (worse, better) not in self._cache:
            strictest = self.family.interval_level(self.claims)
            draws = int(np.clip(ceil(5 / strictest), _MIN_DRAWS, max(_MAX_DRAWS, ceil(2 / strictest))))
            p_value = permuted_p_value(self.scores, worse, better, self.level, draws=draws, seed=self.seed)
            self._cache[worse, better] = self.family.rescale_p_value(strictest, p_value)
        return self._cache[worse, better]

    def correct_bias(self, estimate: Floats, replicates: Floats) -> Floats:
        """Correct the bias of replicates if the models are unpaired; otherwise return them unchanged."""
        return replicates if self.scores.joint_resamples else correct_bias(estimate, replicates)


def permuted_p_value(
    scores: ClusteredScores, worse: int, better: int, level: float, *, draws: int, seed: int, shift: float = 0
) -> float:
    """Return the permutation p-value for the null hypothesis "the tail mean of `worse` is not worse".

    Parameters
    ----------
    scores : ClusteredScores
        Unpaired models.
    worse, better : int
        Indices of the model whose tail is claimed to be worse, and of the other model.
    level : float
        Proportion of worst samples.
    draws : int
        Number of random permutations.
    seed : int
    shift : float
        Margin by which the tail may be worse; it is subtracted from the other model's scores.

    Returns
    -------
    float
        At least 1 / (draws + 1).
    """
    pool = _Pool.from_scores(scores, worse, better, level, shift)
    observed = float(pool.standardised_differences(pool.is_worse[None, :])[0])
    rng, beyond, done = np.random.default_rng([seed, 20]), 0, 0
    while done < draws:
        count = min(draws - done, max(_BATCH // pool.values.size, 1))
        beyond += int(
            np.count_nonzero(
                pool.standardised_differences(pool.draw(count, rng)) >= observed - 1e-9 * abs(observed)
            )
        )
        done += count
    return (1 + beyond) / (draws + 1)


def permutation_test(
    scores: ClusteredScores,
    pair: tuple[int, int],
    level: float | None,
    boundary: float,
    *,
    draws: int,
    seed: int,
) -> Callable[[int], float] | None:
    """Return a permutation test of "the first model's tail exceeds the second's by more than the boundary".

    Returns
    -------
    callable or None
        Function that returns the one-sided p-value for the claim "by more" (argument 1) or "by less"
        (argument −1). None for means, and for models that share resamples.
    """
    if level is None or scores.joint_resamples:
        return None

    def p_value(side: int) -> float:
        better, worse = pair[::side]
        shift = side * boundary
        return permuted_p_value(scores, worse, better, level, draws=draws, seed=seed, shift=shift)

    return p_value


@dataclass(frozen=True)
class _Pool:
    """Pooled scores of two models in ascending order, with their units and tasks.

    If every sample is a separate unit, only the worst samples are kept: more than any permutation can place
    in a tail.

    Attributes
    ----------
    values : ndarray, shape (d,)
    unit, task : ndarray of int, shapes (d,)
        Unit and task of each score.
    is_worse : ndarray of bool, shape (U,)
        True for units of the model whose tail is claimed to be worse.
    task_of : ndarray of int, shape (U,)
        Task of each unit.
    weights : ndarray, shape (T,)
        Weights of the tasks.
    units, rows : ndarray of int, shape (T, 2)
        Number of units and of scores per task and model, including those not kept.
    level : float
    """

    values: Floats
    unit: Integers
    task: Integers
    is_worse: Booleans
    task_of: Integers
    weights: Floats
    units: Integers
    rows: Integers
    level: float

    @classmethod
    def from_scores(
        cls, scores: ClusteredScores, worse: int, better: int, level: float, shift: float
    ) -> _Pool:
        """Pool the scores of two models, after subtracting `shift` from the scores of the better one."""
        pair = (worse, better)
        values = np.concatenate([scores.values[worse], scores.values[better] - shift])
        counts = [scores.cluster_counts[model] for model in pair]
        unit = np.concatenate([scores.clusters[worse], scores.clusters[better] + counts[0]])
        is_worse, strata = np.arange(sum(counts)) < counts[0], scores.strata
        task_of, weights = np.concatenate([strata.cluster_tasks[model] for model in pair]), strata.weights
        sides = [np.where(is_worse[units], 0, 1) for units in (np.arange(is_worse.size), unit)]
        units, rows = (
            np.bincount(2 * task_of[of] + side, minlength=2 * weights.size).reshape(-1, 2)
            for of, side in zip((np.arange(is_worse.size), unit), sides, strict=True)
        )
        order = np.argsort(values, kind="stable")
        if weights.size == 1 and values.size == is_worse.size:
            share = level + _MARGIN * sqrt(level * (1 - level) / min(counts))
            order = order[: ceil(min(share, 1.0) * is_worse.size)]
            is_worse, task_of = is_worse[unit[order]], task_of[unit[order]]
            unit[order] = np.arange(order.size)
        unit_of = unit[order]
        return cls(values[order], unit_of, task_of[unit_of], is_worse, task_of, weights, units, rows, level)

    def draw(self, count: int, rng: np.random.Generator) -> Booleans:
        """Draw permutations as masks of the first model's units, shape (count, U).

        Each model keeps its number of units per task.
        """
        units = np.empty((count, self.is_worse.size), dtype=bool)
        for task, (n, m) in enumerate(self.units.tolist()):
            columns = np.flatnonzero(self.task_of == task)
            keys = rng.random((count, columns.size))
            chosen = rng.hypergeometric(n, m, columns.size, count) if columns.size else np.zeros(count)
            places = keys.argsort(axis=1).argsort(axis=1)
            units[:, columns] = places < chosen[:, None]
        return units

    def standardised_differences(self, mask: Booleans) -> Floats:
        """Return the standardised difference of tail means for each permutation, shape (count,)."""
        first, error = self._tail_means(mask, 0)
        second, second_error = self._tail_means(~mask, 1)
        spread = np.sqrt(error + second_error)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(second == first, 0.0, (second - first) / spread)

    def _tail_means(self, mask: Booleans, side: int) -> tuple[Floats, Floats]:
        """Return tail means and their squared standard errors for each permutation, shape (count,) each."""
        weights = mask[:, self.unit] * (
            self.weights[self.task] / self._rows_per_task(mask, side)[:, self.task]
        )
        reached = np.minimum(np.cumsum(weights, axis=1), self.level)
        tail = np.diff(reached, axis=1, prepend=0.0) @ self.values / self.level
        end = np.count_nonzero(reached < self.level * (1 - 1e-12), axis=1)
        quantile = self.values[np.minimum(end, self.values.size - 1)]
        below = weights * np.minimum(self.values - quantile[:, None], 0.0)
        variance = np.zeros(len(mask))
        for task in range(self.weights.size):
            columns = np.flatnonzero(self.task_of[self.unit] == task)
            sums = self._sum_by_unit(below, columns)
            count = max(int(self.units[task, side]), 2)
            variance += (sums**2).sum(axis=1) - sums.sum(axis=1) ** 2 / count
        return tail, np.maximum(variance, 0.0) / self.level**2

    def _sum_by_unit(self, values: Floats, columns: Integers) -> Floats:
        """Sum the values in the given columns by unit."""
        sorting = columns[np.argsort(self.unit[columns], kind="stable")]
        starts = np.flatnonzero(np.diff(self.unit[sorting], prepend=-1))
        if starts.size == columns.size:
            return values[:, columns]
        return np.add.reduceat(values[:, sorting], starts, axis=1)

    def _rows_per_task(self, mask: Booleans, side: int) -> Integers:
        """Return the number of scores of one model in each task, by permutation, shape (count, T)."""
        if self.units.sum() == self.rows.sum():
            return np.broadcast_to(self.rows[:, side], (len(mask), self.weights.size))
        sizes = np.zeros((self.is_worse.size, self.weights.size))
        np.add.at(sizes, (self.unit, self.task), 1)
        return np.maximum(mask @ sizes, 1).astype(np.int64)
