"""Simultaneous inference for all models: intervals for differences, rank sets and tiers (method §4).

The leader is selected with the same samples, so the coverage of individual intervals is too low. For eight
equal models, the joint coverage of the individual intervals for differences from the leader is only one half.
The simultaneous intervals use the largest |Δ* − Δ|/se* over *all* pairs, whichever model leads. For small
samples, its quantile is widened in the same way as p-values are: normal quantiles are replaced by those of
Student's t.

Simulations used normal and 0/1 scores of 8, 12 and 20 models, with 400 to 2,000 tables per case. For equal
models the joint coverage is .93 to .96 with 30 and 200 samples, and higher if one model leads. With 15
samples it is .92 to .94, and .88 for twenty models with 0/1 scores. The reason is that n samples span at most
n − 1 dimensions. Independent models then appear correlated, and the largest of their differences is
underestimated.

A ranking orders models by an estimate; the evidence about the true order consists of the significant wins.
With family-wise error control, all of them are correct with probability at least 1 − α. A model's true rank
is then below all models that beat it, and above all models that it beats.

References
----------
M. Mogstad, J. P. Romano, A. M. Shaikh, D. Wilhelm (2024). Inference for ranks with applications to mobility
across neighbourhoods and academic achievement across countries. Review of Economic Studies 91(1), 476-518.
doi:10.1093/restud/rdad006
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.sampling.degrees_of_freedom import Expansion, SampleSize
from riskrank.engine.special import ndtr, ndtri, stdtr, stdtrit
from riskrank.engine.types import Booleans, Floats, Integers

# A standard deviation below this share of the numbers is rounding error.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Spread:
    """Bootstrap spread of the pairwise differences of k models' statistics.

    Attributes
    ----------
    errors : ndarray, shape (k, k)
        Bootstrap standard errors of the differences; 0 if a difference is constant over the resamples.
    multiplier : float
        Half-width of an interval in standard errors.
    variances : ndarray, shape (k,)
        Variances of the statistics, relative to the square of the largest absolute value.
    maxima : ndarray, shape (B,)
        Largest absolute deviation over all differences in each resample, in standard errors, sorted.
    """

    errors: Floats
    multiplier: float
    variances: Floats
    maxima: Floats

    def half_widths(self, leader: int, samples: SampleSize) -> Floats:
        """Return the half-widths of the intervals for each model's difference from a leader, shape (k,).

        Parameters
        ----------
        leader : int
            Index of the model to compare with.
        samples : float, ndarray of shape (k,), or Dof
            Number of independent samples behind each difference, at least 2, or degrees of freedom.
        """
        widening = Expansion.from_size(samples)
        with np.errstate(over="ignore", invalid="ignore"):
            widths = widening.widen * -stdtrit(widening.df, ndtr(-self.multiplier)) * self.errors[leader]
        return np.where(self.errors[leader] > 0, widths, 0.0)

    def p_values(self, difference: Floats, leader: int, samples: SampleSize) -> Floats:
        """Return p-values for the null hypothesis of no difference from the leader, shape (k,).

        They are adjusted for all pairs of models. A p-value is at most α if and only if the simultaneous (1 −
        α) interval excludes 0.

        Parameters
        ----------
        difference : ndarray, shape (k,)
            Differences of the models from the leader.
        leader, samples
            See :meth:`half_widths`.
        """
        widening = Expansion.from_size(samples)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            t = np.where(difference == 0, 0.0, np.abs(difference) / self.errors[leader])
        z, shares = (-ndtri(stdtr(widening.df, -t / widening.widen)), np.linspace(0, 1, len(self.maxima)))
        return np.maximum(1 - np.interp(z, self.maxima, shares), 1 / (len(self.maxima) + 1))


def difference_spread(estimate: ArrayLike, replicates: Floats, *, confidence: float = 0.95) -> Spread:
    """Compute bootstrap standard errors of all pairwise differences, and the multiplier for intervals.

    Parameters
    ----------
    estimate : array_like, shape (k,)
        Statistics estimated from the sample.
    replicates : ndarray, shape (B, k)
        Statistics in each resample; shared resamples preserve the pairing of models.
    confidence : float
        Simultaneous coverage of the intervals.

    Returns
    -------
    Spread
    """
    expected = np.asarray(estimate, dtype=np.float64)
    # Divide by the largest number, whose square can overflow.
    largest = max(float(np.abs(replicates).max()), float(np.abs(expected).max())) or 1.0
    scaled, expected = np.ascontiguousarray((replicates / largest).T), expected / largest
    k, count = scaled.shape
    errors, maxima = np.zeros((k, k)), np.zeros(count)
    for i in range(k if count > 1 else 0):
        for j in range(i):
            deviations = scaled[i] - scaled[j]
            error = float(deviations.std(ddof=1))
            if error <= _ROUNDING:
                continue
            errors[i, j] = errors[j, i] = error
            deviations -= expected[i] - expected[j]
            np.maximum(maxima, np.abs(deviations) / error, out=maxima)
    multiplier = float(np.quantile(maxima, confidence))
    return Spread(errors * largest, multiplier, scaled.var(axis=1), np.sort(maxima))


@dataclass(frozen=True)
class RankSets:
    """Sets of plausible ranks for k models.

    Attributes
    ----------
    low, high : ndarray of int, shape (k,)
        Best and worst plausible rank; 1 is best.
    wins, losses : ndarray of int, shape (k,)
        Number of models that each model significantly beats, and that significantly beat it.
    """

    low: Integers
    high: Integers
    wins: Integers
    losses: Integers


@dataclass(frozen=True)
class Separation:
    """Number of pairs of models that are significantly different.

    Attributes
    ----------
    pairs, separated : int
        Total number of pairs, and number of pairs in which one model significantly beats the other.
    neighbours, separated_neighbours : int
        The same counts for pairs of models that are adjacent in the ranking.
    """

    pairs: int
    separated: int
    neighbours: int
    separated_neighbours: int

    @property
    def proportion(self) -> float:
        """Proportion of all pairs that are separated, in [0, 1]."""
        return self.separated / self.pairs


def rank_sets(beats: ArrayLike) -> RankSets:
    """Compute rank sets from significant pairwise wins: i beats j if ε_i is significantly below ε_j.

    Parameters
    ----------
    beats : array_like of bool, shape (k, k)
        True where i significantly beats j, in a family of tests with family-wise error control.

    Returns
    -------
    RankSets
        Their simultaneous coverage is at least the probability that no win is false. The set of a model that
        is truly tied contains every rank that it can have.
    """
    verdicts = _clear_diagonal(beats)
    wins, losses = verdicts.sum(axis=1), verdicts.sum(axis=0)
    return RankSets(1 + losses, len(verdicts) - wins, wins, losses)


def rank_sets_by_wins(beats: ArrayLike, *, exclusive: bool = True) -> RankSets:
    """Compute rank sets for the ranking by number of wins, for absolute claims.

    A model's true number of wins is at least the number of significant ones. If two models cannot beat each
    other, it is at most the number of models that do not significantly beat it. A model ranks behind another
    if its largest possible number of wins is below the other's smallest.

    Parameters
    ----------
    beats : array_like of bool, shape (k, k)
        See `rank_sets`.
    exclusive : bool
        True if "i beats j" and "j beats i" are mutually exclusive, as they are for thresholds of at most ½.

    Returns
    -------
    RankSets
    """
    verdicts = _clear_diagonal(beats)
    k = len(verdicts)
    wins, losses = verdicts.sum(axis=1), verdicts.sum(axis=0)
    most = k - 1 - losses if exclusive else np.full(k, k - 1)
    ahead = (wins[None, :] > most[:, None]).sum(axis=1)
    behind = (most[None, :] < wins[:, None]).sum(axis=1)
    return RankSets(1 + ahead, k - behind, wins, losses)


def split_into_tiers(beats: ArrayLike, order: ArrayLike) -> Integers:
    """Split an order of models into tiers within which no two models are significantly different.

    Each model joins the current tier unless it is significantly different from a member of that tier; then it
    starts the next tier. Models in different tiers are not necessarily separated; the rank sets show which
    ones are.

    Parameters
    ----------
    beats : array_like of bool, shape (k, k)
        True where i significantly beats j.
    order : array_like of int, shape (k,)
        Model indices from first to last, by ε.

    Returns
    -------
    ndarray of int, shape (k,)
        Tier of each model; 1 is the first.
    """
    verdicts = _clear_diagonal(beats)
    separated, tier = verdicts | verdicts.T, np.empty(len(verdicts), dtype=np.int64)
    members: list[int] = []
    current = 1
    for model in np.asarray(order).tolist():
        if separated[model, members].any():
            current += 1
            members = []
        members.append(model)
        tier[model] = current
    return tier


def count_separated_pairs(beats: ArrayLike, order: ArrayLike) -> Separation:
    """Count the separated pairs among all pairs, and among pairs that are adjacent in the order.

    Parameters
    ----------
    beats : array_like of bool, shape (k, k)
        True where i significantly beats j.
    order : array_like of int, shape (k,)
        Model indices from first to last.

    Returns
    -------
    Separation
    """
    verdicts = _clear_diagonal(beats)
    separated = verdicts | verdicts.T
    k, places = len(verdicts), np.asarray(order)
    return Separation(
        pairs=k * (k - 1) // 2,
        separated=int(np.triu(separated, 1).sum()),
        neighbours=k - 1,
        separated_neighbours=int(separated[places[:-1], places[1:]].sum()),
    )


def _clear_diagonal(beats: ArrayLike) -> Booleans:
    """Return the matrix `beats` as booleans with False on the diagonal, shape (k, k)."""
    verdicts = np.array(beats, dtype=bool)
    np.fill_diagonal(verdicts, False)
    return verdicts
