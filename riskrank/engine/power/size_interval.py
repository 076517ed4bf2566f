"""How far the size a pilot suggests can be believed: each resample of the pilot suggests one of its own.

With n samples a claim is significant about as often as Φ(√n δ − c) says. δ is the effect, in standard
deviations of what one sample adds; c is the height of the test. The effect is counted, whatever the claim: if
a share q of data sets of m samples lies across the boundary, δ = −Φ⁻¹(q)/√m. The height is read off the power
simulated at the size found, so that correction, guard and resampling of the test are in it. Several pairs at
once are taken for independent: their powers are multiplied.

Resamples of the pilot have effects, and so sizes, of their own. Their quantiles are corrected for the median
(Efron 1987), since the hardest of several pairs is harder still in most resamples, and expanded for few
samples.

References
----------
B. Efron (1987). Better bootstrap confidence intervals. Journal of the American Statistical Association
82(397), 171-185. doi:10.1080/01621459.1987.10478410
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, pi, sqrt

import numpy as np
from scipy.special import ndtr, ndtri

from riskrank.engine.common_scale import CommonScale
from riskrank.engine.dominance.claims import RELATIVE, Claim
from riskrank.engine.dominance.violation import ViolationKernel
from riskrank.engine.power.required_size import RequiredSize
from riskrank.engine.power.samplers import Draw, PilotSampler
from riskrank.engine.power.simulation import Run
from riskrank.engine.sampling.expanded_percentile import expanded_share
from riskrank.engine.sampling.freedom import Behind, satterthwaite
from riskrank.engine.types import Floats, Integers

LEVEL = 0.95
"""How often the interval holds the size that is truly needed."""

# Resamples of the pilot, and how many share a random stream.
_RESAMPLES = 400
_BLOCK = 10

# Data sets an effect is counted on: at least so many, and so many scores for one of the pilot, so that the
# noise of counting stays below that of the pilot. A huge pilot need not be followed that closely.
_FEWEST_SETS, _MOST_SETS = 200, 2000
_SCORES_COUNTED = 10

# The pilot's own effects have no noise to spare: so many times the data sets.
_PILOT_SETS = 50

# Data sets are so small that of the largest effect thinkable (two errors above) this many standard deviations
# can be counted, and no smaller than this many samples, of which there is hardly a ratio.
_COUNTABLE = 2.2
_SMALLEST_SET = 5

# Scores drawn at once.
_BATCH = 1 << 18

# A statistic this near to its boundary lies on it, and counts half.
_ON_THE_BOUNDARY = 1e-12

# Largest size that is told from infinity.
_ENDLESS = 1e12


@dataclass(frozen=True)
class SizeInterval:
    """The sizes a pilot is compatible with.

    Attributes
    ----------
    low, high : int or None
        Samples per model; None for more than `limit`.
    limit : int
        Largest size of the search.
    level : float
        Nominal coverage.
    """

    low: int | None
    high: int | None
    limit: int
    level: float = LEVEL


@dataclass(frozen=True)
class Counting:
    """Count how often a claim's statistic lies across its boundary in small data sets.

    Attributes
    ----------
    sampler : PilotSampler
        The pilot, on a common scale.
    claim : Claim
    pairs : tuple of (int, int)
        Winner and loser of each claim made.
    size : int
        Samples of a data set, m; of a suite those of a task.
    sets : int
        Data sets drawn from each resample of the pilot.
    """

    sampler: PilotSampler
    claim: Claim
    pairs: tuple[tuple[int, int], ...]
    size: int
    sets: int

    def effects(self, sampler: PilotSampler, rng: np.random.Generator, sets: int) -> Floats:
        """δ of each pair in a population, shape (pairs,)."""
        across, left = np.zeros(len(self.pairs)), sets
        step = max(_BATCH // (self._units * len(sampler.values)), 1)
        while left:
            now = min(step, left)
            statistic = self._statistics(sampler(rng, now * self.size), now)
            distance = statistic - self.claim.boundary
            on = np.abs(distance) <= _ON_THE_BOUNDARY
            across += np.where(on, 0.5, distance > 0).sum(axis=0)
            left -= now
        return -ndtri((across + 0.5) / (sets + 1)) / sqrt(self.size)

    def _statistics(self, draw: Draw, sets: int) -> Floats:
        """The statistic of each pair in each data set, shape (sets, pairs)."""
        rows = np.stack(self._rows(draw, sets), axis=1)
        starts = np.cumsum(rows, axis=0) - rows
        winners, losers = np.array(self.pairs).T
        found = np.empty((sets, len(winners)))
        # Clusters of different sizes make data sets of different sizes: those of equal sizes go together.
        layouts, member = np.unique(rows, axis=0, return_inverse=True)
        for number, layout in enumerate(layouts.tolist()):
            chosen = np.flatnonzero(member.ravel() == number)
            ordered = [
                np.sort(value[starts[chosen, model, None] + np.arange(many)], axis=1)
                for model, (value, many) in enumerate(zip(draw.samples, layout, strict=True))
            ]
            looked_at = None if self.claim.kind == RELATIVE else self.pairs
            kernel = ViolationKernel.of(len(layout), orders=(self.claim.order,), pairs=looked_at)
            statistic = self.claim.statistic(kernel.ratios(ordered)[0].transpose(2, 0, 1))
            found[chosen] = statistic[:, winners, losers]
        return found

    @property
    def _units(self) -> int:
        """Units of resampling of a data set: of a suite its size counts those of a task."""
        return self.size * self.sampler.width

    def _rows(self, draw: Draw, sets: int) -> list[Integers]:
        """Scores of each model in each data set."""
        if draw.clusters is None:
            return [np.full(sets, self._units)] * len(draw.samples)
        return [np.bincount(cluster // self._units, minlength=sets) for cluster in draw.clusters]


@dataclass(frozen=True)
class _Resamples:
    """Some resamples of the pilot with a random stream of their own."""

    stream: np.random.SeedSequence
    count: int


def _run_block(counting: Counting, block: _Resamples) -> Floats:
    rng = np.random.default_rng(block.stream)
    return np.stack(
        [counting.effects(counting.sampler.resampled(rng), rng, counting.sets) for _ in range(block.count)]
    )


def size_interval(
    sampler: PilotSampler,
    claim: Claim,
    pairs: tuple[tuple[int, int], ...],
    found: RequiredSize,
    *,
    tests: int,
    level: float,
    repeats: int,
    smallest: int,
    limit: int,
    seed: int,
    run: Run,
) -> SizeInterval:
    """The sizes that resamples of a pilot suggest.

    Parameters
    ----------
    sampler : PilotSampler
        The pilot.
    claim : Claim
        The test.
    pairs : tuple of (int, int)
        Winner and loser of each claim made.
    found : RequiredSize
        What the search found on the pilot itself.
    tests : int
        Tests corrected for together.
    level : float
        Their level.
    repeats : int
        Data sets a size was simulated with.
    smallest, limit : int
        Smallest and largest size there is.
    seed : int
        Its streams are those of no size.
    run : callable
        Runs the tasks; results do not depend on it.

    Returns
    -------
    SizeInterval
        It holds the size found.
    """
    units: float = sampler.units[0]
    behind: Behind = units
    if sampler.bounds is not None:
        # Samples of a task, if all had as many and told as much; and what stands behind the spread of all.
        spread = 1 / sampler.units
        units, behind = 1 / float(spread.mean()), satterthwaite(spread, sampler.units)
    nominal = float(-ndtri(level / tests))
    at = int(found.sizes[-1]) if found.size is None else found.size
    # What the effect is about, to choose the sizes of data sets by it: nothing where the pilot shows nothing.
    reached = min(max(found.power, 0.5 / (repeats + 1)), 1 - 0.5 / (repeats + 1))
    effect = max(nominal + float(ndtri(reached)), 0.0) / sqrt(at)
    smallest_set = -(-_SMALLEST_SET // sampler.width)
    size = max(smallest_set, round((_COUNTABLE / (effect + 2 / sqrt(units))) ** 2))
    sets = min(max(_FEWEST_SETS, ceil(_SCORES_COUNTED * units / size)), _MOST_SETS)
    scale = CommonScale.of(sampler.values)
    scaled = replace(sampler, values=tuple(scale.apply(value) for value in sampler.values))
    counting = Counting(scaled, claim, pairs, size, sets)
    # No size is 0: these streams are nobody else's.
    first, *streams = np.random.SeedSequence([seed, 0]).spawn(1 + _RESAMPLES // _BLOCK)
    own = counting.effects(scaled, np.random.default_rng(first), _PILOT_SETS * sets)
    effects = np.concatenate(
        list(run(_run_block, counting, [_Resamples(stream, _BLOCK) for stream in streams]))
    )
    effects = _without_noise(effects, counting)
    height = _height(own, at, reached) if own.min() > 0 else nominal
    suggested = _sizes(np.vstack([own, effects]), height, found.target)
    ends = corrected_ends(suggested[1:], float(suggested[0]), behind)
    if found.size is not None:
        ends = min(ends[0], found.size), max(ends[1], found.size)
    low, high = (None if end >= limit + 0.5 else max(round(end), smallest) for end in ends)
    return SizeInterval(low, high, limit)


def _without_noise(effects: Floats, counting: Counting) -> Floats:
    """Effects of resamples drawn together by what the noise of counting has driven them apart."""
    score = effects * sqrt(counting.size)
    share = ndtr(-score)
    noise = share * (1 - share) * 2 * pi * np.exp(score**2) / (counting.sets * counting.size)
    spread, mean = effects.var(axis=0), effects.mean(axis=0)
    kept = 1 - np.minimum(noise.mean(axis=0) / np.where(spread > 0, spread, 1.0), 1.0)
    return mean + np.sqrt(kept) * (effects - mean)


def _power(effects: Floats, roots: Floats, height: Floats | float) -> Floats:
    """Power of all pairs at once, from the root of the size; shape of the roots."""
    return ndtr(roots[..., None] * effects - np.asarray(height)[..., None]).prod(axis=-1)


def _height(effects: Floats, size: int, power: float) -> float:
    """Height of the test that has this power at this size."""
    low, high, root = -1e4, 1e4, np.array(sqrt(size))
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if _power(effects, root, middle) > power else (low, middle)
    return high


def _sizes(effects: Floats, height: float, target: float) -> Floats:
    """Size at which each row of effects reaches the power wanted; infinite where none does."""
    low, high = np.zeros(len(effects)), np.full(len(effects), sqrt(_ENDLESS))
    for _ in range(100):
        middle = (low + high) / 2
        enough = _power(effects, middle, height) >= target
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    reached = (effects.min(axis=1) > 0) & (_power(effects, high, height) >= target)
    return np.where(reached, high**2, np.inf)


def corrected_ends(suggested: Floats, own: float, behind: Behind) -> tuple[float, float]:
    """Quantiles of the sizes suggested, corrected for the median and expanded for few samples."""
    many = len(suggested)
    below = (suggested < own).sum() + 0.5 * (suggested == own).sum()
    shift = float(ndtri((below + 0.5) / (many + 1)))
    tail = float(ndtri(expanded_share((1 - LEVEL) / 2, behind)))
    shares = ndtr([2 * shift + tail, 2 * shift - tail])
    # Sizes may be infinite, and there is nothing between them: quantiles that are in the sample.
    low, high = np.quantile(suggested, shares, method="inverted_cdf")
    return float(low), float(high)
