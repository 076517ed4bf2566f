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

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import sqrt

import numpy as np
from scipy.special import ndtr, ndtri

from riskrank.engine.common_scale import CommonScale
from riskrank.engine.dominance.inference import RELATIVE, Claim
from riskrank.engine.dominance.violation import ViolationKernel
from riskrank.engine.power.simulation import PilotSampler
from riskrank.engine.sampling.design import ClusteredScores
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

    def of(self, some: Integers) -> Effects:
        """The same of some pairs."""
        place = np.full(len(self.mean), -1)
        place[some] = np.arange(len(some))
        kept = [place[columns] >= 0 for columns in self.columns]
        parts = tuple(part[:, own] for part, own in zip(self.parts, kept, strict=True))
        columns = tuple(place[own[here]] for own, here in zip(self.columns, kept, strict=True))
        return Effects(self.mean[some], parts, columns, self.counts)

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
    effects = _influences(sampler, claim, family)
    mean, some = effects.mean.copy(), np.arange(len(family))
    for samples in _SIZES:
        size = max(round(samples / sampler.width), 1)
        pairs, rng = [family[at] for at in some.tolist()], np.random.default_rng([seed, 0, size])
        mean[some] = counted(sampler, claim, effects.of(some), pairs, size, rng)
        some = some[np.abs(mean[some]) * sqrt(size) < _ENOUGH]
        if not some.size:
            break
    return replace(effects, mean=mean)


def counted(
    sampler: PilotSampler,
    claim: Claim,
    linear: Effects,
    family: Pairs,
    size: int,
    rng: np.random.Generator,
) -> Floats:
    """δ of each pair by the share of tables of a size that lie across the boundary, shape (m,)."""
    scores = sampler.scores
    drawn = size * sampler.width * scores.models
    # Weights are those of all scores, whichever are drawn.
    numbers = drawn if scores.plain else max(drawn, sum(scores.sizes))
    tables = max(_COUNTED // numbers, _TABLES)
    looked = None if claim.kind == RELATIVE else tuple(family)
    kernel = ViolationKernel.of(scores.models, orders=(claim.order,), pairs=looked)
    ratios_of = _sorted_ratios if scores.plain else partial(_weighted_ratios, design=WeightedDesign(scores))
    across, left, step = np.zeros(len(family)), tables, max(_BATCH // numbers, 1)
    while left:
        now = min(step, left)
        units = sampler.chosen(rng, now * size)
        ratios = ratios_of(sampler, kernel, units, now)
        distance = claim.statistic(ratios)[:, *np.transpose(family)] - claim.boundary
        across += np.where(np.abs(distance) <= _ON_THE_BOUNDARY, 0.5, distance > 0).sum(axis=0)
        across -= (sqrt(size) * linear.mean + linear.noise_of(units, size, now) < 0).sum(axis=0)
        left -= now
    share = np.clip(ndtr(-sqrt(size) * linear.mean) + across / tables, 0.5 / tables, 1 - 0.5 / tables)
    return -ndtri(share) / sqrt(size)


def _sorted_ratios(
    sampler: PilotSampler, kernel: ViolationKernel, drawn: Sequence[Integers], tables: int
) -> Floats:
    """Ratios of all pairs in tables whose units were drawn one after another, (tables, k, k)."""
    draw, k = sampler.of(drawn), sampler.scores.models
    rows = np.full((tables, k), draw.samples[0].size // tables)
    if draw.clusters is not None:
        each = drawn[0].size // tables
        rows = np.stack([np.bincount(own // each, minlength=tables) for own in draw.clusters], axis=1)
    starts = np.cumsum(rows, axis=0) - rows
    found = np.empty((tables, k, k))
    # Clusters of different sizes make tables of different sizes: those of equal sizes go together.
    layouts, member = np.unique(rows, axis=0, return_inverse=True)
    for number, layout in enumerate(layouts.tolist()):
        chosen = np.flatnonzero(member.ravel() == number)
        ordered = [
            np.sort(value[starts[chosen, model, None] + np.arange(many)], axis=1)
            for model, (value, many) in enumerate(zip(draw.samples, layout, strict=True))
        ]
        found[chosen] = kernel.ratios(ordered)[0].transpose(2, 0, 1)
    return found


def _weighted_ratios(
    sampler: PilotSampler,
    kernel: ViolationKernel,
    drawn: Sequence[Integers],
    tables: int,
    *,
    design: WeightedDesign,
) -> Floats:
    """The same of a suite, whose scores weigh by their tasks."""
    counts, scores = [], sampler.scores
    for units, own in zip(drawn, sampler.lengths, strict=False):
        of_table = np.repeat(np.arange(tables), units.size // tables)
        flat = np.bincount(of_table * len(own) + units, minlength=tables * len(own))
        counts.append(flat.reshape(tables, len(own)))
    cumulated = design.of_counts(counts * (scores.models // len(counts)))
    return kernel.ratios_of_steps(design.values, cumulated, max(scores.sizes))[0].transpose(2, 0, 1)


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
    parts = []
    for model, (curve, own) in enumerate(zip(curves, columns, strict=True)):
        sign = np.where(pairs[own, 0] == model, 1.0, -1.0)
        parts.append(_of_units(sampler, model, sign * curve.influence(rate[own]), shares[model]))
    counts = [_counts(sampler, model) for model in range(len(curves))]
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
    """Sums over the scores of each unit, centred within its task, for a mean over as many units."""
    centred = influence - weights @ influence
    sums = np.add.reduceat(weights[:, None] * centred, sampler.starts(model), axis=0)
    starts = sampler.bounds(model)
    means = np.add.reduceat(sums, starts[:-1], axis=0) / np.diff(starts)[:, None]
    return (sums - np.repeat(means, np.diff(starts), axis=0)) * _counts(sampler, model)[:, None]


def _counts(sampler: PilotSampler, model: int) -> Floats:
    """Units that each unit is drawn from."""
    sizes = np.diff(sampler.bounds(model))
    return np.repeat(sizes, sizes).astype(np.float64)
