"""Effect sizes of pairs, and the influence of each unit on the statistics of a table.

On a suitable scale, the statistic of a pair is normal with mean √n δ and variance 1 in tables of n samples.
So the p-value of the test is approximately Φ(−√n δ − ξ), where ξ is standard normal. The effect size δ is
estimated by simulation for any claim. If a proportion q of tables of m samples lies across the boundary, δ =
−Φ⁻¹(q)/√m. The joint distribution of ξ over several pairs, and the value of ξ for a given table, follow from
influence functions (method §4) of

    T = b ∫D₊² − (1 − b) ∫D₋².

The sign of T shows on which side of its boundary b a violation ratio lies; D is the difference of quantile
functions, or of integrated ones. T is homogeneous of degree 2 in D. So T divided by the standard deviation of
∫w dD, with the weight w = b D₊ + (1 − b) D₋, is δ itself to first order (Euler). This reduces the noise of
the simulation, which only counts how often a table and its linear statistic lie on different sides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt

import numpy as np
from scipy.special import ndtr, ndtri

from riskrank.engine.common_scale import CommonScale
from riskrank.engine.dominance.inference import RELATIVE, Claim
from riskrank.engine.dominance.violation import ViolationKernel
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.pilot_sampler import PilotSampler
from riskrank.engine.sampling.weighted_resamples import WeightedDesign
from riskrank.engine.types import Floats, Integers

Pairs = Sequence[tuple[int, int]]

# Number of levels at which quantile functions are compared.
_LEVELS = 1024

# Samples per simulated table: they increase until the statistic lies far enough from its boundary, in
# standard deviations. Smallest number of tables per size, and numbers in all tables and in one batch.
_SIZES, _FAR_ENOUGH = (10, 40, 160, 640), 1.2
_MIN_TABLES, _MAX_WORK, _BATCH_WORK = 1000, 1 << 20, 1 << 18

# A statistic this close to its boundary lies on it, and counts half.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Effects:
    """Effect sizes of all pairs of a family, and the influence of each unit on their statistics.

    Attributes
    ----------
    mean : ndarray, shape (m,)
        Effect size δ: distance of the statistic from its boundary, in standard deviations for n = 1.
    influences : tuple of ndarrays, shapes (units, m_i)
        Influence of each unit on the statistics, on the same scale. There is a single array if all models are
        resampled jointly, otherwise one per model. Their variances sum to 1 per pair, or to 0 if a statistic
        has no variance.
    columns : tuple of ndarrays of int, shapes (m_i,)
        Pair of each column of the influence arrays.
    counts : tuple of ndarrays, shapes (units,)
        Number of units in the stratum of each unit.
    """

    mean: Floats
    influences: tuple[Floats, ...]
    columns: tuple[Integers, ...]
    counts: tuple[Floats, ...]

    def unit_noise(self, draws: Sequence[Integers], size: int, tables: int = 1) -> Floats:
        """Return the noise ξ in tables with the given units, shape (tables, m).

        The `draws` contain the units of all tables, one table after the other.
        """
        noise = np.zeros((tables, len(self.mean)))
        for part, columns, units in zip(self.influences, self.columns, draws, strict=True):
            noise[:, columns] += part[units.reshape(tables, -1)].sum(axis=1) / sqrt(size)
        return noise

    def simulate_noise(self, rng: np.random.Generator, tables: int) -> Floats:
        """Simulate the noise ξ in tables of any size, shape (tables, m)."""
        noise = np.zeros((tables, len(self.mean)))
        for part, columns, counts in zip(self.influences, self.columns, self.counts, strict=True):
            root = part / np.sqrt(counts)[:, None]
            if len(root) > len(columns):
                values, vectors = np.linalg.eigh(root.T @ root)
                root = (vectors * np.sqrt(np.maximum(values, 0.0))).T
            noise[:, columns] += rng.standard_normal((tables, len(root))) @ root
        return noise


def estimate_effects(scores: ClusteredScores, claim: Claim, family: Pairs, seed: int) -> Effects:
    """Estimate the effect sizes of a population.

    Parameters
    ----------
    scores : ClusteredScores
    claim : Claim
    family : sequence of m (int, int)
        Ordered pairs (winner, loser).
    seed : int
        Seed of the simulation.

    Returns
    -------
    Effects
    """
    scale = CommonScale.fit(scores.values)
    scores = replace(scores, values=scale.apply_all(scores.values))
    sampler = PilotSampler(scores)
    effects, distances = _influences(sampler, claim, family), Distances(sampler, claim, family)
    mean, near = effects.mean.copy(), np.ones(len(family), dtype=bool)
    for samples in _SIZES:
        size = max(round(samples / sampler.n_strata), 1)
        simulated = _simulated_effects(distances, effects, size, np.random.default_rng([seed, 0, size]))
        mean = np.where(near, simulated, mean)
        near &= np.abs(mean) * sqrt(size) < _FAR_ENOUGH
        if not near.any():
            break
    return replace(effects, mean=mean)


def _simulated_effects(distances: Distances, linear: Effects, size: int, rng: np.random.Generator) -> Floats:
    """Return the effect size δ of each pair, from the proportion of simulated tables across the boundary."""
    tables = max(_MAX_WORK // distances.work(size), _MIN_TABLES)
    across = np.zeros(len(linear.mean))
    for units, distance in distances.draw(rng, size, tables):
        across += np.where(np.abs(distance) <= _ROUNDING, 0.5, distance > 0).sum(axis=0)
        across -= (sqrt(size) * linear.mean + linear.unit_noise(units, size, len(distance)) < 0).sum(axis=0)
    share = np.clip(ndtr(-sqrt(size) * linear.mean) + across / tables, 0.5 / tables, 1 - 0.5 / tables)
    return -ndtri(share) / sqrt(size)


@dataclass(frozen=True)
class Distances:
    """Simulated distances of a claim's statistics from the boundary; negative if the claim holds.

    Attributes
    ----------
    sampler : PilotSampler
    claim : Claim
    family : sequence of m (int, int)
        Ordered pairs (winner, loser).
    """

    sampler: PilotSampler
    claim: Claim
    family: Pairs

    def draw(
        self, rng: np.random.Generator, size: int, tables: int
    ) -> Iterator[tuple[list[Integers], Floats]]:
        """Yield batches of simulated tables: their units, and their distances of shape (tables, m)."""
        step = max(_BATCH_WORK // self.work(size), 1)
        for start in range(0, tables, step):
            count = min(step, tables - start)
            units = self.sampler.draw_units(rng, count * size)
            yield units, self.for_units(units, count)

    def for_units(self, draws: Sequence[Integers], tables: int) -> Floats:
        """Return the distances in tables with the given units, shape (tables, m).

        The `draws` contain the units of all tables, one table after the other.
        """
        sampler, kernel, design = self.sampler, self._kernel, self._design
        if design is None:
            ordered = [
                np.sort(values.reshape(tables, -1), axis=1) for values, _ in sampler.drawn_scores(draws)
            ]
            ratios = kernel.ratios(ordered)
        else:
            counts = []
            for units, sizes in zip(draws, sampler.unit_sizes, strict=False):
                rows = units.reshape(tables, -1) + len(sizes) * np.arange(tables)[:, None]
                counts.append(np.bincount(rows.ravel(), minlength=tables * len(sizes)).reshape(tables, -1))
            cumulated = design.resample_weights(counts * (len(sampler.unit_sizes) // len(counts)))
            ratios = kernel.ratios_of_steps(design.values, cumulated, max(sampler.scores.sizes))
        statistic = self.claim.statistic(ratios[0].transpose(2, 0, 1))
        return statistic[:, *np.transpose(self.family)] - self.claim.boundary

    def work(self, size: int) -> int:
        """Return the work per table: its number of scores, or that of all scores in a weighted design."""
        n_scores = size * self.sampler.n_strata * self.sampler.scores.models
        return n_scores if self._design is None else max(n_scores, sum(self.sampler.scores.sizes))

    @cached_property
    def _kernel(self) -> ViolationKernel:
        """Kernel that computes the violation ratios of the family."""
        pairs = None if self.claim.kind == RELATIVE else tuple(self.family)
        return ViolationKernel.for_models(self.sampler.scores.models, orders=(self.claim.order,), pairs=pairs)

    @cached_property
    def _design(self) -> WeightedDesign | None:
        """Weighted design; None if all scores have equal weight."""
        scores = self.sampler.scores
        return None if scores.unweighted and scores.scores_per_unit() is not None else WeightedDesign(scores)


def _influences(sampler: PilotSampler, claim: Claim, family: Pairs) -> Effects:
    """Return first-order effect sizes, and the influence of each unit."""
    pairs = np.array(family)
    shares = sampler.scores.weights
    curves = [_Curve.from_scores(*column) for column in zip(sampler.scores.values, shares, strict=True)]
    difference = np.stack([curves[i].quantiles - curves[j].quantiles for i, j in family])
    if claim.order == 2:
        difference = np.cumsum(difference, axis=1) / _LEVELS
    boundary = 0.5 if claim.kind == RELATIVE else claim.boundary
    rate = boundary * np.maximum(difference, 0) + (1 - boundary) * np.maximum(-difference, 0)
    distance = (rate * difference).mean(axis=1)
    # Equal distributions have no first-order influence; use that of the means.
    rate[~rate.any(axis=1)] = 1.0
    if claim.order == 2:
        rate = np.cumsum(rate[:, ::-1], axis=1)[:, ::-1] / _LEVELS
    columns = [np.flatnonzero((pairs == model).any(axis=1)) for model in range(len(curves))]
    parts, counts = [], []
    for model, (curve, pair_columns) in enumerate(zip(curves, columns, strict=True)):
        influence = np.where(pairs[pair_columns, 0] == model, 1.0, -1.0) * curve.influence(rate[pair_columns])
        sizes = np.diff(sampler.stratum_bounds(model))
        counts.append(np.repeat(sizes, sizes).astype(np.float64))
        parts.append(_unit_sums(sampler, model, influence, shares[model]) * counts[model][:, None])
    if sampler.paired:
        joint = np.zeros((len(parts[0]), len(pairs)))
        for part, pair_columns in zip(parts, columns, strict=True):
            joint[:, pair_columns] += part
        parts, columns, counts = [joint], [np.arange(len(pairs))], counts[:1]
    variance = np.zeros(len(pairs))
    for part, pair_columns, count in zip(parts, columns, counts, strict=True):
        variance[pair_columns] += (part**2 / count[:, None]).sum(axis=0)
    spread = np.sqrt(np.where(variance > 0, variance, np.inf))
    # Without variance, the distance is the same in every table.
    mean = np.where(variance > 0, distance / spread, np.sign(distance) * 10.0)
    scaled = [part / spread[pair_columns] for part, pair_columns in zip(parts, columns, strict=True)]
    return Effects(mean, tuple(scaled), tuple(columns), tuple(counts))


@dataclass(frozen=True)
class _Curve:
    """Sorted scores of one model, with their original order, cumulative weights, and quantiles on a grid."""

    ordered: Floats
    sorting: Integers
    shares: Floats
    quantiles: Floats

    @classmethod
    def from_scores(cls, values: Floats, weights: Floats) -> _Curve:
        """Sort the scores of one model and compute their cumulative weights and quantiles."""
        sorting = np.argsort(values, kind="stable")
        ordered, shares = values[sorting], np.cumsum(weights[sorting])
        levels = (np.arange(_LEVELS) + 0.5) / _LEVELS
        indices = np.minimum(np.searchsorted(shares, levels), len(ordered) - 1)
        return cls(ordered, sorting, shares, ordered[indices])

    def influence(self, rate: Floats) -> Floats:
        """Return the influence of each score on ∫ rate(t) dQ(t), for each row of rates, shape (n, rates)."""
        index = np.clip((self.shares[:-1] * _LEVELS).astype(np.int64), 0, _LEVELS - 1)
        result = np.zeros((len(self.ordered), len(rate)))
        gaps = np.cumsum(rate[:, index].T * np.diff(self.ordered)[:, None], axis=0)
        result[self.sorting[1:]] = gaps
        return result


def _unit_sums(sampler: PilotSampler, model: int, influence: Floats, weights: Floats) -> Floats:
    """Return the weighted sums of influences over each unit, centred within its stratum."""
    centred = influence - weights @ influence
    sums = np.add.reduceat(weights[:, None] * centred, sampler.first_rows(model), axis=0)
    starts = sampler.stratum_bounds(model)
    means = np.add.reduceat(sums, starts[:-1], axis=0) / np.diff(starts)[:, None]
    return sums - np.repeat(means, np.diff(starts), axis=0)
