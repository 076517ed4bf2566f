"""Means as sums over independent units, and their resamples (method §4, "Means").

A unit is a sample, a cluster of samples, a sample within a task, or a whole task. It contributes to the
deviation of the mean from its expectation. A resample draws the units of each stratum with replacement.

References
----------
R. Beran (1988). Balanced simultaneous confidence sets. Journal of the American Statistical Association
83(403), 679-686. doi:10.1080/01621459.1988.10478650
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import permutations

import numpy as np

from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.resamples import unit_counts
from riskrank.engine.types import Floats, Integers

# Automatic number of resamples: as many as this number of draws allows, between two limits.
_DRAWS = 10_000_000
_FEWEST, MOST_RESAMPLES = 2000, 10_000

# Units beyond this number are merged: blocks of units have the same variance and skewness.
_UNITS = 4096

# Limit on pairs times resamples for simultaneous levels.
_RANKS = 2_000_000

# Resamples beyond a quantile that make it reliable.
RESOLVED = 10

# Draws at once, few enough for the cache of a core.
_BATCH = 1 << 17

# Contributions and their squares are rounded to integers of this many bits. Sums are then exact, whatever the
# order in which a library adds.
_BITS, _SQUARE_BITS = 30, 36

# Rounding error of a mean, relative to the largest score.
_ROUNDING = 16 * np.finfo(np.float64).eps


@dataclass(frozen=True, eq=False)
class Side:
    """Contributions of independent units to the deviation of a mean, with their strata (method §8).

    Attributes
    ----------
    parts : ndarray, shape (C,)
        Contribution of each unit; the contributions sum to 0 within each stratum.
    strata : ndarray of int, shape (C,)
        Stratum of each unit, non-decreasing; if tasks are random, tasks are the units of a single stratum.
    counts : ndarray, shape (S,)
        Effective number of units of each stratum (Kish).
    stream : int
        Number of the random stream; models that share their units share it.
    """

    parts: Floats
    strata: Integers
    counts: Floats
    stream: int

    @property
    def scale(self) -> Floats:
        """Ratio of each stratum's variance to its sum of squared deviations, shape (S,)."""
        return self.counts / np.maximum(self.counts - 1, 0.5)

    def variances(self, unit: float) -> Floats:
        """Return the variance that each stratum adds to the mean, in multiples of ``unit**2``, shape (S,)."""
        return self.scale * np.bincount(self.strata, (self.parts / unit) ** 2)

    def merge_units(self) -> Side:
        """Return a copy with fewer units: consecutive units of a stratum are merged.

        About :data:`_UNITS` blocks remain.
        """
        width = -(-self.parts.size // _UNITS)
        if width == 1:
            return self
        first = np.searchsorted(self.strata, self.strata)
        block = self.strata * self.parts.size + (np.arange(self.parts.size) - first) // width
        starts = np.flatnonzero(np.r_[True, block[1:] != block[:-1]])
        return replace(self, parts=np.add.reduceat(self.parts, starts), strata=self.strata[starts])


@dataclass(frozen=True, eq=False)
class UnitMean:
    """Mean of one model's scores, as a sum over independent units.

    Attributes
    ----------
    mean : float
        Mean of the scores.
    shares : ndarray, shape (C,)
        Contribution of each unit to the mean.
    side : Side
        Contribution of each unit to the deviation of the mean from its expectation.
    rounding : float
        Largest contribution that may be a rounding error.
    """

    mean: float
    shares: Floats
    side: Side
    rounding: float

    @classmethod
    def from_scores(cls, scores: ClusteredScores, model: int, factor: float = 1.0) -> UnitMean:
        """Compute the mean of one model's scores, multiplied by `factor`; `model` is its index."""
        values, units, strata = factor * scores.values[model], scores.clusters[model], scores.strata
        weights = scores.mean_weights[model]
        columns = values * weights, np.abs(weights)
        shares, mass = (np.bincount(units, column).astype(np.float64) for column in columns)
        # Scaling by a power of two avoids overflow of the sum; equal scores in any order have equal means.
        exponent = int(np.frexp(np.abs(values).max())[1])
        plain = np.ldexp(np.sort(np.ldexp(values, -exponent)).mean(), exponent)
        mean = float(shares.sum() if strata.has_several_tasks else plain)
        task = np.zeros(mass.size, dtype=np.int64) if strata.random else strata.cluster_tasks[model]
        sizes = np.ones_like(mass) if strata.signed else mass
        totals, total_sizes, squares = (np.bincount(task, column) for column in (shares, sizes, sizes**2))
        used = np.where(total_sizes > 0, total_sizes, 1.0)
        parts = shares - (totals / used)[task] * sizes
        counts = np.where(total_sizes > 0, used**2 / np.where(squares > 0, squares, 1.0), 2.0)
        rounding = _ROUNDING * float(np.abs(values).max()) * float(mass.max())
        side = Side(parts, task, counts, 0 if scores.joint_resamples else model)
        return cls(mean, shares, side, rounding)


def resample_count(resamples: int | str, units: int) -> int:
    """Return the number of bootstrap resamples for a mean of `units` independent units.

    It is as large as is fast to compute. If `resamples` is a larger number, it is used instead.
    """
    automatic = min(max(_DRAWS // units, _FEWEST), MOST_RESAMPLES)
    return automatic if isinstance(resamples, str) else max(automatic, resamples)


def t_replicates(sides: Sequence[Sequence[Side]], resamples: int | str, seed: int) -> Floats:
    """Return sorted bootstrap replicates of the t statistic for C differences, shape (C, B).

    Each difference is given by its sides: one for models that share their units, otherwise two. Differences
    without sides have replicates of 0.
    """
    merged = [[side.merge_units() for side in pair] for pair in sides]
    largest = [max((float(np.abs(side.parts).max()) for side in pair), default=0.0) or 1.0 for pair in merged]
    count = resample_count(resamples, max([side.parts.size for pair in merged for side in pair], default=1))
    sums, variances = _resample_sums(merged, largest, count, seed)
    # Without variation beyond rounding, assume that a single drawn unit differs from the others.
    variances[variances <= 2.0 ** (16 - _SQUARE_BITS)] = 1.0
    return np.sort(sums / np.sqrt(variances), axis=1)


def _resample_sums(
    sides: Sequence[Sequence[Side]], unit: Sequence[float], count: int, seed: int
) -> tuple[Floats, Floats]:
    """Return the resampled deviation of each difference and its estimated variance, shapes (C, B).

    Parameters
    ----------
    sides : sequence of C sequences of Side
        Sides of each difference.
    unit : sequence of C float
        Number by which the contributions are divided, so that none is larger than 1 in absolute value.
    count : int
        Number of resamples, B.
    seed : int
        Seed of the random streams.
    """
    units, result = np.asarray(unit), np.zeros((2, len(sides), count))
    designs: dict[object, list[tuple[int, Side]]] = {}
    for i, pair in enumerate(sides):
        for side in pair:
            designs.setdefault((side.stream, side.strata.tobytes()), []).append((i, side))
    for members in designs.values():
        rows, first = [i for i, _ in members], members[0][1]
        parts = np.stack([side.parts for _, side in members], axis=1) / units[rows]
        scale = np.stack([side.scale for _, side in members], axis=1)
        moments = _resample_design(parts, scale, first.strata, count, [seed, first.stream])
        for row, total, variance in zip(rows, *moments, strict=True):
            result[:, row] += total, variance
    return result[0], result[1]


def _resample_design(
    parts: Floats, scale: Floats, strata: Integers, count: int, entropy: list[int]
) -> tuple[Floats, Floats]:
    """Return the sum of the contributions to each claim in every resample, and its estimated variance.

    Parameters
    ----------
    parts : ndarray, shape (C, claims)
        Contribution of each unit to each claim, at most 1 in absolute value.
    scale : ndarray, shape (S, claims)
        Factors that convert the sums of squares in each stratum to variances.
    strata : ndarray of int, shape (C,)
        Stratum of each unit.
    count : int
        Number of resamples, B.
    entropy : list of int
        Entropy of the random stream.

    Returns
    -------
    ndarrays, shapes (claims, B)
    """
    sizes = np.bincount(strata, minlength=len(scale)).tolist()
    columns = np.rint(np.hstack([parts * 2.0**_BITS, parts**2 * 2.0**_SQUARE_BITS]))
    columns_by_stratum = np.split(columns, np.cumsum(sizes)[:-1])
    sums, variances = np.zeros((2, parts.shape[1], count))
    draw = _shared_draws if count * len(parts) <= _DRAWS else _draw_counts
    for rows, drawn in draw(tuple(sizes), count, tuple(entropy)):
        for counts, part, factors in zip(drawn, columns_by_stratum, scale, strict=True):
            total, squares = np.split((counts.astype(np.float64) @ part).T, 2)
            total, squares = total * 2.0**-_BITS, squares * 2.0**-_SQUARE_BITS
            sums[:, rows] += total
            variances[:, rows] += factors[:, None] * (squares - total**2 / len(part))
    return sums, variances


def _draw_counts(
    sizes: tuple[int, ...], count: int, entropy: tuple[int, ...]
) -> Iterator[tuple[slice, list[Integers]]]:
    """Draw `count` resamples in batches, and yield how often each unit is drawn.

    Parameters
    ----------
    sizes : tuple of S int
        Number of units in each stratum.
    count : int
        Number of resamples.
    entropy : tuple of int
        Entropy of the random stream.

    Yields
    ------
    (slice, list of S ndarrays)
        Indices of the resamples in the batch, and the draw counts of the units of each stratum.
    """
    rng = np.random.default_rng(np.random.SeedSequence(entropy))
    step = max(_BATCH // sum(sizes), 1)
    for start in range(0, count, step):
        rows = slice(start, min(start + step, count))
        drawn = [unit_counts(rng.integers(0, size, (rows.stop - start, size))) for size in sizes]
        yield rows, [counts.astype(np.min_scalar_type(counts.max())) for counts in drawn]


@lru_cache(maxsize=8)
def _shared_draws(
    sizes: tuple[int, ...], count: int, entropy: tuple[int, ...]
) -> list[tuple[slice, list[Integers]]]:
    """Return all batches of :func:`_draw_counts` as a list, about 10 MB.

    The list is cached for all claims with the same numbers of units.
    """
    return list(_draw_counts(sizes, count, entropy))


def simultaneous_level(
    scores: ClusteredScores, alpha: float, *, resamples: int | str = "auto", seed: int = 0
) -> float:
    """Return the one-sided level of each comparison for a family-wise error rate of `alpha`.

    The family consists of all ordered pairs. All comparisons have the same level (method §4, "Means"; Beran
    1988). For two models it is half the error rate, because only one of the two directions can be true.
    """
    k = scores.models
    if k == 2:
        return alpha / 2
    sides = [UnitMean.from_scores(scores, model).side.merge_units() for model in range(k)]
    most = max(_RANKS // (k * (k - 1) // 2), _FEWEST)
    count = min(resample_count(resamples, max(side.parts.size for side in sides)), most)
    largest = max(float(np.abs(side.parts).max()) for side in sides) or 1.0
    sums, _ = _resample_sums([[side] for side in sides], [largest] * k, count, seed)
    place = min(int(alpha * (count + 1) * (1 + 1e-12)), count - 1)
    smallest = _smallest_ranks(sums, max(place + 1, RESOLVED))
    if smallest[place] == count:
        smallest = _smallest_ranks(sums, count - 1)
    error_rate = np.count_nonzero(smallest <= RESOLVED) / (count + 1)
    if error_rate > alpha:
        return alpha / error_rate * RESOLVED / (count + 1)
    return max(float(smallest[place] - 1), RESOLVED) / (count + 1)


def _smallest_ranks(sums: Floats, most: int) -> Integers:
    """Return the smallest rank of each resample over all pairwise differences, sorted, shape (B,).

    The B resamples are ranked by each difference between two models, in both directions.

    Parameters
    ----------
    sums : ndarray, shape (k, B)
        Resampled mean of each model.
    most : int
        Largest rank of interest. Larger ranks are not computed; they are given as B.
    """
    smallest = np.full(sums.shape[1], sums.shape[1])
    for i, j in permutations(range(len(sums)), 2):
        difference = sums[i] - sums[j]
        tail = np.argpartition(difference, most)[: most + 1]
        kept = difference[tail]
        values = np.sort(kept)
        # Values equal to the largest of the tail may occur outside it, which makes their rank larger.
        ranks = np.where(kept < values[-1], values.searchsorted(kept, "right"), len(smallest))
        smallest[tail] = np.minimum(smallest[tail], ranks)
    return np.sort(smallest)
