"""Whose worst samples are worse, of two models that were drawn apart (method §4, "Unpaired models").

The few worst of a small sample look too mild, and those of its resamples milder still: what a model never
drew it never draws again. So each resample is moved back by twice what resamples are off on average, and what
the resamples call worse has to stand against relabelling as well: whole units of both models are pooled and
dealt out anew, within tasks where there are any, and the difference of the two tail means in standard errors
is held against the same of the deals.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import ceil, sqrt

import numpy as np

from riskrank.engine.family import Family
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.types import Booleans, Floats, Integers

# Entries of a batch of deals, so that they stay in memory.
_BATCH = 1 << 21

# Scores beyond a tail's share are looked at by so many standard deviations of how many are dealt of it.
_ROOM = 10.0

_FEWEST_DEALS, _MOST_DEALS = 999, 49_999


def less_bias(estimate: Floats, replicates: Floats) -> Floats:
    """Replicates moved back by twice what they are off on average, shape (B, ...)."""
    # At the end of the range a mean may overflow, and compares rightly all the same.
    with np.errstate(over="ignore", invalid="ignore"):
        return replicates - 2 * (replicates.mean(axis=0) - estimate)


@dataclass(frozen=True)
class Relabelled:
    """What relabelling says of the tails of pairs, in a family of claims.

    Parameters
    ----------
    scores : ClusteredScores
    level : float
        Share of the worst samples.
    claims : int
        In the family.
    family : Family
    seed : int
    """

    scores: ClusteredScores
    level: float
    claims: int
    family: Family
    seed: int
    _known: dict[tuple[int, int], float] = field(default_factory=dict, repr=False, compare=False)

    def p_adjusted(self, worse: int, better: int) -> float:
        """Adjusted p-value of "the tail of the one is no worse than that of the other".

        0 of models that are drawn together: their resamples need no second opinion.
        """
        if self.scores.drawn_together:
            return 0.0
        if (worse, better) not in self._known:
            strictest = self.family.level(self.claims)
            deals = int(np.clip(ceil(5 / strictest), _FEWEST_DEALS, max(_MOST_DEALS, ceil(2 / strictest))))
            found = permuted_p_value(self.scores, worse, better, self.level, deals=deals, seed=self.seed)
            self._known[worse, better] = self.family.judged_at(strictest, found)
        return self._known[worse, better]

    def less_bias(self, estimate: Floats, replicates: Floats) -> Floats:
        """Replicates moved back by twice what they are off on average, of models drawn apart."""
        return replicates if self.scores.drawn_together else less_bias(estimate, replicates)


def permuted_p_value(
    scores: ClusteredScores, worse: int, better: int, level: float, *, deals: int, seed: int, shift: float = 0
) -> float:
    """P-value of "the mean of the worst samples of one model is no worse than another's".

    Parameters
    ----------
    scores : ClusteredScores
        Of models that are not paired.
    worse, better : int
        The two models.
    level : float
        Share of the worst samples.
    deals : int
        How often their units are dealt out anew.
    seed : int
    shift : float
        What the other's scores are moved down by before: how much worse the one may be.

    Returns
    -------
    float
        At least 1 / (deals + 1).
    """
    pool = _Pool.of(scores, worse, better, level, shift)
    found = float(pool.gap(pool.own[None, :])[0])
    rng, beyond, done = np.random.default_rng([seed, 20]), 0, 0
    while done < deals:
        count = min(deals - done, max(_BATCH // pool.values.size, 1))
        beyond += int(np.count_nonzero(pool.gap(pool.dealt(count, rng)) >= found - 1e-9 * abs(found)))
        done += count
    return (1 + beyond) / (deals + 1)


def second_opinion(
    scores: ClusteredScores,
    pair: tuple[int, int],
    level: float | None,
    boundary: float,
    *,
    deals: int,
    seed: int,
) -> Callable[[int], float] | None:
    """What relabelling says of "the first's tail lies above the other's by more than the boundary".

    Returns
    -------
    callable or None
        P-value of that (1) or of "below" (−1); None of means, and of models that are drawn together.
    """
    if level is None or scores.drawn_together:
        return None

    def p_value(side: int) -> float:
        better, worse = pair[::side]
        shift = side * boundary
        return permuted_p_value(scores, worse, better, level, deals=deals, seed=seed, shift=shift)

    return p_value


@dataclass(frozen=True)
class _Pool:
    """Scores of two models together, upwards, with the units and tasks they belong to.

    Of single samples only the worst are kept, more than any deal can give one model as its worst share.

    Attributes
    ----------
    values : ndarray, shape (d,)
    unit, task : ndarray of int, shapes (d,)
        Of each score.
    own : ndarray of bool, shape (U,)
        Units of the model whose tail is claimed to be worse.
    task_of : ndarray of int, shape (U,)
        Task of each unit.
    weights : ndarray, shape (T,)
        What a task weighs.
    units, rows : ndarray of int, shapes (T, 2)
        Units and scores a task, of the one model and of the other, kept or not.
    level : float
    """

    values: Floats
    unit: Integers
    task: Integers
    own: Booleans
    task_of: Integers
    weights: Floats
    units: Integers
    rows: Integers
    level: float

    @classmethod
    def of(cls, scores: ClusteredScores, worse: int, better: int, level: float, shift: float) -> _Pool:
        pair = (worse, better)
        values = np.concatenate([scores.values[worse], scores.values[better] - shift])
        counts = [scores.cluster_counts[model] for model in pair]
        unit = np.concatenate([scores.clusters[worse], scores.clusters[better] + counts[0]])
        own, strata = np.arange(sum(counts)) < counts[0], scores.strata
        task_of, weights = np.concatenate([strata.of_cluster[model] for model in pair]), strata.weights
        sides = [np.where(own[units], 0, 1) for units in (np.arange(own.size), unit)]
        units, rows = (
            np.bincount(2 * task_of[of] + side, minlength=2 * weights.size).reshape(-1, 2)
            for of, side in zip((np.arange(own.size), unit), sides, strict=True)
        )
        order = np.argsort(values, kind="stable")
        if weights.size == 1 and values.size == own.size:
            reach = level + _ROOM * sqrt(level * (1 - level) / min(counts))
            order = order[: ceil(min(reach, 1.0) * own.size)]
            own, task_of = own[unit[order]], task_of[unit[order]]
            unit[order] = np.arange(order.size)
        kept = unit[order]
        return cls(values[order], kept, task_of[kept], own, task_of, weights, units, rows, level)

    def dealt(self, count: int, rng: np.random.Generator) -> Booleans:
        """Units of the one model by as many deals, shape (count, U): each task gives it as many as it had."""
        found = np.empty((count, self.own.size), dtype=bool)
        for task, (mine, others) in enumerate(self.units.tolist()):
            columns = np.flatnonzero(self.task_of == task)
            keys = rng.random((count, columns.size))
            many = rng.hypergeometric(mine, others, columns.size, count) if columns.size else np.zeros(count)
            places = keys.argsort(axis=1).argsort(axis=1)
            found[:, columns] = places < many[:, None]
        return found

    def gap(self, own: Booleans) -> Floats:
        """By how many standard errors the tail of the one lies below the other's, shape (deals,)."""
        first, error = self._tail(own, 0)
        second, other = self._tail(~own, 1)
        spread = np.sqrt(error + other)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(second == first, 0.0, (second - first) / spread)

    def _tail(self, own: Booleans, side: int) -> tuple[Floats, Floats]:
        """Means of the worst shares and their squared standard errors, shapes (deals,)."""
        weights = own[:, self.unit] * (self.weights[self.task] / self._rows(own, side)[:, self.task])
        reached = np.minimum(np.cumsum(weights, axis=1), self.level)
        tail = np.diff(reached, axis=1, prepend=0.0) @ self.values / self.level
        end = np.count_nonzero(reached < self.level * (1 - 1e-12), axis=1)
        quantile = self.values[np.minimum(end, self.values.size - 1)]
        below = weights * np.minimum(self.values - quantile[:, None], 0.0)
        variance = np.zeros(len(own))
        for task in range(self.weights.size):
            columns = np.flatnonzero(self.task_of[self.unit] == task)
            sums = self._by_unit(below, columns)
            count = max(int(self.units[task, side]), 2)
            variance += (sums**2).sum(axis=1) - sums.sum(axis=1) ** 2 / count
        return tail, np.maximum(variance, 0.0) / self.level**2

    def _by_unit(self, values: Floats, columns: Integers) -> Floats:
        """Sums over the scores of each unit."""
        sorting = columns[np.argsort(self.unit[columns], kind="stable")]
        starts = np.flatnonzero(np.diff(self.unit[sorting], prepend=-1))
        if starts.size == columns.size:
            return values[:, columns]
        return np.add.reduceat(values[:, sorting], starts, axis=1)

    def _rows(self, own: Booleans, side: int) -> Integers:
        """Scores of one model a task, shape (deals, T): units of unequal size change that with every deal."""
        if self.units.sum() == self.rows.sum():
            return np.broadcast_to(self.rows[:, side], (len(own), self.weights.size))
        of = np.zeros((self.own.size, self.weights.size))
        np.add.at(of, (self.unit, self.task), 1)
        return np.maximum(own @ of, 1).astype(np.int64)
