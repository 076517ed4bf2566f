"""How far the tables of one population spread: an effect a pair, and what each unit adds to it.

The statistic of a pair, on the scale on which it is normal, has the mean √n δ and the variance 1 in tables of
n samples; so the p-value of the test is about Φ(−√n δ − ξ) with a standard normal ξ. The effect δ is counted,
whatever the claim: if a share q of tables of m samples lies across the boundary, δ = −Φ⁻¹(q)/√m. How the ξ of
several pairs go together, and that of a table at hand, follow from influence functions (method §4) of

    T = b ∫D₊² − (1 − b) ∫D₋²,

whose sign says on which side of its boundary b a violation ratio lies, with D the difference of quantile
functions, or of integrated ones. T is of degree 2 in D, so that T over the standard deviation of ∫w dD, with
the weight w = b D₊ + (1 − b) D₋, is δ itself to first order (Euler). That takes most of the noise from the
count: what is counted is how often a table and its linear statistic lie on different sides.
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

# Levels at which quantile functions are compared.
_LEVELS = 1024

# Samples of the tables that effects are counted on: more of them until a statistic lies more than so many
# standard deviations from its boundary. Tables of a size, at least, and scores of all and of those at once.
_SIZES, _ENOUGH = (10, 40, 160, 640), 1.2
_TABLES, _COUNTED, _BATCH = 1000, 1 << 20, 1 << 18

# A statistic this near to its boundary lies on it, and counts half.
_ON_THE_BOUNDARY = 1e-12


@dataclass(frozen=True)
class Effects:
    """Of every pair of a family.

    Attributes
    ----------
    mean : ndarray, shape (m,)
        δ: how far the statistic lies from its boundary, in standard deviations of a size of 1.
    parts : tuple of ndarrays, shapes (units, m_i)
        What a unit moves the statistic by, in these: of all models together if they are drawn together, else
        of each. The variances of all parts are 1 in sum, or 0 where nothing varies.
    columns : tuple of ndarrays of int, shapes (m_i,)
        Pairs that the parts are about.
    counts : tuple of ndarrays, shapes (units,)
        Units of the pilot that each unit is drawn from: of its task, or all.
    """

    mean: Floats
    parts: tuple[Floats, ...]
    columns: tuple[Integers, ...]
    counts: tuple[Floats, ...]

    def noise_of(self, drawn: Sequence[Integers], size: int, tables: int = 1) -> Floats:
        """ξ of tables of some units, drawn one table after another, shape (tables, m)."""
        found = np.zeros((tables, len(self.mean)))
        for part, columns, units in zip(self.parts, self.columns, drawn, strict=True):
            found[:, columns] += part[units.reshape(tables, -1)].sum(axis=1) / sqrt(size)
        return found

    def noise(self, rng: np.random.Generator, tables: int) -> Floats:
        """ξ of so many tables of any size, shape (tables, m)."""
        found = np.zeros((tables, len(self.mean)))
        for part, columns, counts in zip(self.parts, self.columns, self.counts, strict=True):
            root = part / np.sqrt(counts)[:, None]
            if len(root) > len(columns):
                values, vectors = np.linalg.eigh(root.T @ root)
                root = (vectors * np.sqrt(np.maximum(values, 0.0))).T
            found[:, columns] += rng.standard_normal((tables, len(root))) @ root
        return found


def effects_of(scores: ClusteredScores, claim: Claim, family: Pairs, seed: int) -> Effects:
    """The effects of a population.

    Parameters
    ----------
    scores : ClusteredScores
    claim : Claim
    family : sequence of m (int, int)
    seed : int

    Returns
    -------
    Effects
    """
    scale = CommonScale.of(scores.values)
    scores = replace(scores, values=scale.of_all(scores.values))
    sampler = PilotSampler(scores)
    effects, distances = _influences(sampler, claim, family), Distances(sampler, claim, family)
    mean, near = effects.mean.copy(), np.ones(len(family), dtype=bool)
    for samples in _SIZES:
        size = max(round(samples / sampler.width), 1)
        found = _counted(distances, effects, size, np.random.default_rng([seed, 0, size]))
        mean = np.where(near, found, mean)
        near &= np.abs(mean) * sqrt(size) < _ENOUGH
        if not near.any():
            break
    return replace(effects, mean=mean)


def _counted(distances: Distances, linear: Effects, size: int, rng: np.random.Generator) -> Floats:
    """δ of each pair by the share of tables of a size that lie across the boundary, shape (m,)."""
    tables = max(_COUNTED // distances.numbers(size), _TABLES)
    across = np.zeros(len(linear.mean))
    for units, distance in distances.drawn(rng, size, tables):
        across += np.where(np.abs(distance) <= _ON_THE_BOUNDARY, 0.5, distance > 0).sum(axis=0)
        across -= (sqrt(size) * linear.mean + linear.noise_of(units, size, len(distance)) < 0).sum(axis=0)
    share = np.clip(ndtr(-sqrt(size) * linear.mean) + across / tables, 0.5 / tables, 1 - 0.5 / tables)
    return -ndtri(share) / sqrt(size)


@dataclass(frozen=True)
class Distances:
    """Distances of a claim's statistics from its boundary, below 0 where it holds, in drawn tables.

    Attributes
    ----------
    sampler : PilotSampler
    claim : Claim
    family : sequence of m (int, int)
    """

    sampler: PilotSampler
    claim: Claim
    family: Pairs

    def drawn(
        self, rng: np.random.Generator, size: int, tables: int
    ) -> Iterator[tuple[list[Integers], Floats]]:
        """Units of some tables after others, and the distances in these, shape (tables, m)."""
        step = max(_BATCH // self.numbers(size), 1)
        for start in range(0, tables, step):
            count = min(step, tables - start)
            units = self.sampler.chosen(rng, count * size)
            yield units, self.of(units, count)

    def of(self, drawn: Sequence[Integers], tables: int) -> Floats:
        """Distances in tables whose units were drawn one after another, shape (tables, m)."""
        sampler, kernel, design = self.sampler, self._kernel, self._design
        if design is None:
            ordered = [np.sort(values.reshape(tables, -1), axis=1) for values, _ in sampler.rows(drawn)]
            ratios = kernel.ratios(ordered)
        else:
            counts = []
            for units, lengths in zip(drawn, sampler.lengths, strict=False):
                rows = units.reshape(tables, -1) + len(lengths) * np.arange(tables)[:, None]
                counts.append(np.bincount(rows.ravel(), minlength=tables * len(lengths)).reshape(tables, -1))
            cumulated = design.of_counts(counts * (len(sampler.lengths) // len(counts)))
            ratios = kernel.ratios_of_steps(design.values, cumulated, max(sampler.scores.sizes))
        found = self.claim.statistic(ratios[0].transpose(2, 0, 1))
        return found[:, *np.transpose(self.family)] - self.claim.boundary

    def numbers(self, size: int) -> int:
        """Numbers that a table takes: its scores, or the weights of all scores there are."""
        drawn = size * self.sampler.width * self.sampler.scores.models
        return drawn if self._design is None else max(drawn, sum(self.sampler.scores.sizes))

    @cached_property
    def _kernel(self) -> ViolationKernel:
        pairs = None if self.claim.kind == RELATIVE else tuple(self.family)
        return ViolationKernel.of(self.sampler.scores.models, orders=(self.claim.order,), pairs=pairs)

    @cached_property
    def _design(self) -> WeightedDesign | None:
        """Weights of scores that do not all weigh the same; others are drawn and sorted."""
        scores = self.sampler.scores
        return None if scores.plain and scores.draws_per_sample() is not None else WeightedDesign(scores)


def _influences(sampler: PilotSampler, claim: Claim, family: Pairs) -> Effects:
    """Effects to first order, and the parts of the units."""
    pairs = np.array(family)
    shares = sampler.scores.weights
    curves = [_Curve.of(*both) for both in zip(sampler.scores.values, shares, strict=True)]
    apart = np.stack([curves[i].quantiles - curves[j].quantiles for i, j in family])
    if claim.order == 2:
        apart = np.cumsum(apart, axis=1) / _LEVELS
    boundary = 0.5 if claim.kind == RELATIVE else claim.boundary
    rate = boundary * np.maximum(apart, 0) + (1 - boundary) * np.maximum(-apart, 0)
    distance = (rate * apart).mean(axis=1)
    # Equal distributions differ by chance, and as well in their means as anywhere.
    rate[~rate.any(axis=1)] = 1.0
    if claim.order == 2:
        rate = np.cumsum(rate[:, ::-1], axis=1)[:, ::-1] / _LEVELS
    columns = [np.flatnonzero((pairs == model).any(axis=1)) for model in range(len(curves))]
    parts, counts = [], []
    for model, (curve, own) in enumerate(zip(curves, columns, strict=True)):
        influence = np.where(pairs[own, 0] == model, 1.0, -1.0) * curve.influence(rate[own])
        sizes = np.diff(sampler.bounds(model))
        counts.append(np.repeat(sizes, sizes).astype(np.float64))
        parts.append(_of_units(sampler, model, influence, shares[model]) * counts[model][:, None])
    if sampler.paired:
        together = np.zeros((len(parts[0]), len(pairs)))
        for part, own in zip(parts, columns, strict=True):
            together[:, own] += part
        parts, columns, counts = [together], [np.arange(len(pairs))], counts[:1]
    variance = np.zeros(len(pairs))
    for part, own, count in zip(parts, columns, counts, strict=True):
        variance[own] += (part**2 / count[:, None]).sum(axis=0)
    spread = np.sqrt(np.where(variance > 0, variance, np.inf))
    # Where nothing varies any distance is a certain one.
    mean = np.where(variance > 0, distance / spread, np.sign(distance) * 10.0)
    scaled = [part / spread[own] for part, own in zip(parts, columns, strict=True)]
    return Effects(mean, tuple(scaled), tuple(columns), tuple(counts))


@dataclass(frozen=True)
class _Curve:
    """A model's scores upwards: where they stood, the share up to each, and their quantiles at the levels."""

    ordered: Floats
    sorting: Integers
    shares: Floats
    quantiles: Floats

    @classmethod
    def of(cls, values: Floats, weights: Floats) -> _Curve:
        sorting = np.argsort(values, kind="stable")
        ordered, shares = values[sorting], np.cumsum(weights[sorting])
        levels = (np.arange(_LEVELS) + 0.5) / _LEVELS
        places = np.minimum(np.searchsorted(shares, levels), len(ordered) - 1)
        return cls(ordered, sorting, shares, ordered[places])

    def influence(self, rate: Floats) -> Floats:
        """What a score adds to ∫ rate dQ of each of some rates at the levels, shape (n, rates)."""
        at = np.clip((self.shares[:-1] * _LEVELS).astype(np.int64), 0, _LEVELS - 1)
        found = np.zeros((len(self.ordered), len(rate)))
        gaps = np.cumsum(rate[:, at].T * np.diff(self.ordered)[:, None], axis=0)
        found[self.sorting[1:]] = gaps
        return found


def _of_units(sampler: PilotSampler, model: int, influence: Floats, weights: Floats) -> Floats:
    """Sums over the scores of each unit, centred within its task."""
    centred = influence - weights @ influence
    sums = np.add.reduceat(weights[:, None] * centred, sampler.starts(model), axis=0)
    starts = sampler.bounds(model)
    means = np.add.reduceat(sums, starts[:-1], axis=0) / np.diff(starts)[:, None]
    return sums - np.repeat(means, np.diff(starts), axis=0)
