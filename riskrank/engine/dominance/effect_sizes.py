"""How large the differences between models are, in the units of the scores (method §4, "Effect sizes").

A violation ratio has no unit. Beside it belong each model's mean, the mean of its worst share of samples
(TVaR), and the difference of both to the leader with intervals from the resamples at hand, which hold for all
rows together. A pair asked for by name has an interval of its own (`pairwise_differences`),
of two models alone the same.

A difference of tail means rests on the worst n·p samples of either model only, and is widened for 2·n·p where
both tails vary alike, down to n·p where one of them varies alone (Welch 1947).

References
----------
B. L. Welch (1947). The generalization of "Student's" problem when several different population variances are
involved. Biometrika 34(1-2), 28-35. doi:10.1093/biomet/34.1-2.28
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.dominance.simultaneous import Spread, spread_of_differences
from riskrank.engine.sampling.degrees_of_freedom import Behind, Freedom
from riskrank.engine.types import Floats, Integers
from riskrank.errors import NumericalError


@dataclass(frozen=True)
class Differences:
    """Differences with their intervals, in the units of the scores.

    Attributes
    ----------
    estimate : ndarray
        Differences in the sample; shape (k,) to one model, or (k, k) with ``[i, j]`` for i minus j.
    low, high : ndarray, or None
        Ends of the interval; None without resampling.
    p_value : ndarray, or None
        Of no difference, where the intervals hold together: of all pairs of models.
    """

    estimate: Floats
    low: Floats | None
    high: Floats | None
    p_value: Floats | None = None

    def turned(self) -> "Differences":
        """The same the other way round."""
        low, high = (None if end is None else -end for end in (self.high, self.low))
        return Differences(-self.estimate, low, high, self.p_value)

    def beside(self, p_value: Floats, confidence: float) -> "Differences":
        """The same beside a second test: of models it does not tell apart every interval holds 0."""
        if self.low is None or self.high is None:
            return self
        open_ = p_value > 1 - confidence
        low = np.where(open_, np.minimum(self.low, 0.0), self.low)
        high = np.where(open_, np.maximum(self.high, 0.0), self.high)
        both = None if self.p_value is None else np.maximum(self.p_value, p_value)
        return Differences(self.estimate, low, high, both)


@dataclass(frozen=True)
class EffectSizes:
    """Means and tail means of k models, and their distance to a leader.

    Attributes
    ----------
    leader : int
        The model the differences are to.
    level : float
        Share of the worst samples in the tail mean.
    mean, tail_mean : ndarray, shape (k,)
        In the units of the scores.
    mean_difference, tail_difference : Differences
        Model minus leader, shapes (k,); 0 for the leader itself. The intervals of all rows hold together.
    """

    leader: int
    level: float
    mean: Floats
    tail_mean: Floats
    mean_difference: Differences
    tail_difference: Differences

    def beside(self, p_value: Floats, confidence: float) -> "EffectSizes":
        """The same where a second test of no difference, shape (k,), has a say."""
        mean, tail = (one.beside(p_value, confidence) for one in (self.mean_difference, self.tail_difference))
        return replace(self, mean_difference=mean, tail_difference=tail)


def samples_behind_tail(samples: Behind, level: float, tails: ArrayLike = 2.0) -> Integers:
    """Samples a difference of two tail means rests on: the worst n·p of either model, at most n.

    Parameters
    ----------
    samples : float, ndarray or Freedom
        Independent samples n; of degrees of freedom as many as have these.
    level : float
        Share p of the worst scores.
    tails : array_like
        How many tails the difference rests on, from 1 to 2 (`equivalent_tails`).

    Returns
    -------
    ndarray of int
        The shape of ``tails``; at least 2.
    """
    if isinstance(samples, Freedom):
        samples = samples.df + 1
    behind = np.rint(np.asarray(tails, dtype=np.float64) * samples * level)
    # A model against itself has endless degrees of freedom, and no whole number of samples.
    most = np.clip(samples, 2, np.iinfo(np.int32).max)
    return np.clip(behind, 2, most).astype(np.int64)


def equivalent_tails(first: ArrayLike, second: ArrayLike) -> Floats:
    """Welch's degrees of freedom of a difference, in those of one tail: (v₁ + v₂)²/(v₁² + v₂²).

    Parameters
    ----------
    first, second : array_like
        Variances v of the two tail means.

    Returns
    -------
    ndarray
        2 where both vary alike or not at all, 1 where one of them varies alone.
    """
    variances = np.stack(np.broadcast_arrays(*(np.asarray(v, dtype=np.float64) for v in (first, second))))
    # In shares of the larger one, whose square is no number where scores are 1e150.
    largest = variances.max(axis=0)
    shares = variances / np.where(largest > 0, largest, 1.0)
    return np.where(largest > 0, shares.sum(axis=0) ** 2 / np.maximum((shares**2).sum(axis=0), 1.0), 2.0)


def effect_sizes(
    mean: ArrayLike,
    tail_mean: ArrayLike,
    *,
    leader: int,
    level: float,
    samples: Behind,
    mean_spread: Spread | None = None,
    tail_spread: Spread | None = None,
) -> EffectSizes:
    """Differences of every model to a leader.

    Parameters
    ----------
    mean, tail_mean : array_like, shape (k,)
        Of the sample, in the units of the scores.
    leader : int
        The model to compare with.
    level : float
        Share of the worst scores in the tail means: 5 %, or what holds five samples.
    samples : float, ndarray of shape (k,), or Freedom
        Independent samples of the least-sampled model, or of each pair with the leader.
    mean_spread, tail_spread : Spread, optional
        How far the differences vary from resample to resample; without them there are no intervals.

    Returns
    -------
    EffectSizes

    Raises
    ------
    NumericalError
        If a difference is too large for a number.
    """
    means, tails = (np.asarray(values, dtype=np.float64) for values in (mean, tail_mean))
    behind: Behind = samples
    if tail_spread is not None:
        variances = tail_spread.variances
        behind = samples_behind_tail(samples, level, equivalent_tails(variances, variances[leader]))
    return EffectSizes(
        leader,
        level,
        means,
        tails,
        _to_one(means, leader, mean_spread, samples),
        _to_one(tails, leader, tail_spread, behind),
    )


def pairwise_differences(
    estimate: ArrayLike,
    *,
    samples: float | Freedom,
    replicates: Floats | None = None,
    confidence: float = 0.95,
) -> Differences:
    """Differences of the means of all ordered pairs of models, each with an interval for itself.

    Parameters
    ----------
    estimate : array_like, shape (k,)
        Means of the sample.
    samples : float, or Freedom of shape (k, k)
        Independent samples of the least-sampled model, or degrees of freedom of every pair.
    replicates : ndarray, shape (B, k), optional
        The same of each resample.
    confidence : float
        Coverage of each interval.

    Returns
    -------
    Differences
        Of shape (k, k), antisymmetric to the last bit: ``low[j, i] == -high[i, j]``.

    Raises
    ------
    NumericalError
        If a difference is too large for a number.
    """
    values = np.asarray(estimate, dtype=np.float64)
    difference = _subtract(values[:, None], values)
    if replicates is None:
        return Differences(difference, None, None)
    spread = spread_of_differences(values, replicates, confidence=confidence, together=False)
    of_row = samples.__getitem__ if isinstance(samples, Freedom) else lambda _: samples
    half = np.stack([spread.half_widths(i, of_row(i)) for i in range(len(values))])
    return Differences(difference, *_ends(difference, half))


def _to_one(estimate: Floats, leader: int, spread: Spread | None, behind: Behind) -> Differences:
    """Differences to the leader, with intervals that hold together."""
    difference = _subtract(estimate, estimate[leader])
    if spread is None:
        return Differences(difference, None, None)
    low, high = _ends(difference, spread.half_widths(leader, behind))
    return Differences(difference, low, high, spread.p_values(difference, leader, behind))


def _ends(difference: Floats, half: Floats) -> tuple[Floats, Floats]:
    most = np.finfo(np.float64).max
    with np.errstate(over="ignore"):
        return np.clip(difference - half, -most, most), np.clip(difference + half, -most, most)


def _subtract(minuend: Floats, subtrahend: Floats) -> Floats:
    with np.errstate(over="ignore", invalid="ignore"):
        difference = minuend - subtrahend
    if not np.isfinite(difference).all():
        raise NumericalError(
            "the difference of two models' means is too large for a number",
            found=f"means as large as {np.abs(minuend).max():g}",
            hint="give the scores in a larger unit, such as thousands",
        )
    return difference
