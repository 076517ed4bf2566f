"""Two models' quantile and integrated quantile functions: violation ratios integrate their differences.

Where one model is better than another, and by how much: the difference of their quantile functions.

A pointwise band from the bootstrap goes with it (the shift function; Doksum 1974, Wilcox 1995).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.dominance.effect_sizes import Differences
from riskrank.engine.dominance.rank_guard import behind_pairs, least
from riskrank.engine.portfolio.quantiles import integrated_quantile, quantile, weighted_steps
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.freedom import expanded_interval
from riskrank.engine.sampling.resamples import Blocks, batches, blocks
from riskrank.engine.sampling.steps import Steps
from riskrank.engine.sampling.weighted_resamples import WeightedDesign
from riskrank.engine.types import Floats

_MOST = 1000
"""Breakpoints up to which curves are exact; beyond, as many levels evenly spaced."""

_ROUNDING = 1e-12


@dataclass(frozen=True)
class PairCurves:
    """A pair of models at l levels.

    Attributes
    ----------
    levels : ndarray, shape (l,)
        All breakpoints of both models in (0, 1], increasing.
    winner, loser : ndarray, shape (2, l)
        Quantile function (left-continuous: the value up to a level from the one before it) and its integral.
    ratios : tuple of (float, float)
        Violation ratios of "winner dominates loser" of orders 1 and 2.
    band : (ndarray, ndarray), or None
        Ends of an interval of the difference of the quantiles at each level, shapes (l,).
    """

    levels: Floats
    winner: Floats
    loser: Floats
    ratios: tuple[float, float]
    band: tuple[Floats, Floats] | None = None


def pair_curves(
    winner: Floats,
    loser: Floats,
    ratios: Sequence[float],
    *,
    weights: tuple[ArrayLike, ArrayLike] = (1.0, 1.0),
) -> PairCurves:
    """Curves of two models at their merged breakpoints.

    Parameters
    ----------
    winner, loser : ndarray, shapes (n,) and (m,)
        Scores, larger is better; the winner is the model whose dominance is looked at.
    ratios : sequence of two float
        Its violation ratios, orders 1 and 2.
    weights : (ndarray, ndarray), shapes (n,) and (m,), optional
        How much each score counts; all the same by default.

    Returns
    -------
    PairCurves
        Without a band.
    """
    levels = np.unique(np.concatenate([_ends(*own) for own in zip((winner, loser), weights, strict=True)]))
    # The ends of both that differ by rounding are one.
    levels = levels[np.diff(levels, prepend=0.0) > _ROUNDING]
    if levels.size > _MOST:
        levels = np.arange(1, _MOST + 1) / _MOST

    def both(sample: Floats, own: ArrayLike) -> Floats:
        return np.array([quantile(sample, levels, own), integrated_quantile(sample, levels, own)])

    first, second = weights
    return PairCurves(levels, both(winner, first), both(loser, second), (float(ratios[0]), float(ratios[1])))


def _ends(sample: Floats, weights: ArrayLike) -> Floats:
    """Cumulated weights of a sample upwards, to 1."""
    steps = weighted_steps(sample, np.broadcast_to(weights, sample.shape))
    ends = steps.cumulated / float(steps.cumulated[-1])
    return ends[np.diff(ends, prepend=0.0) > _ROUNDING]


_BATCH = 64


def quantile_difference(
    scores: ClusteredScores,
    winner: int,
    loser: int,
    levels: ArrayLike,
    *,
    resamples: int = 1000,
    level: float = 0.05,
    seed: int = 0,
) -> Differences:
    """Difference of two models' quantiles, with a band that holds at each level on its own.

    Parameters
    ----------
    scores : ClusteredScores
    winner, loser : int
        Models; the difference is the winner's quantile less the loser's.
    levels : array_like, shape (l,)
        Probabilities in (0, 1].
    resamples : int
        Bootstrap resamples; 0 for no band.
    level : float
        The band holds with probability 1 - level at each level.
    seed : int
        Entropy of the random streams.

    Returns
    -------
    Differences
        Arrays of shape (l,); expanded percentiles (method §4).
    """
    levels = np.asarray(levels, dtype=np.float64)
    pair = scores.of_models((winner, loser))
    both = zip(pair.values, pair.weights, strict=True)
    better, worse = (quantile(own, levels, shares) for own, shares in both)
    estimate = better - worse
    if not resamples:
        return Differences(estimate, None, None)
    drawn = (_plain if pair.even else _weighted)(pair, levels, blocks(resamples, seed))
    found = np.concatenate([first - second for first, second in drawn])
    behind = least(behind_pairs(pair, [(0, 1)]))
    low, high = expanded_interval(found, behind, level=1 - level)
    return Differences(estimate, low, high)


def _plain(pair: ClusteredScores, levels: Floats, streams: Blocks) -> Iterator[Iterable[Floats]]:
    """Quantiles of both models in some resamples, shapes (B, l)."""
    for ordered in batches(pair, streams, size=_BATCH):
        # The place of a quantile among sorted scores is that quantile of the places.
        yield (rows[:, quantile(np.arange(rows.shape[1]), levels).astype(int)] for rows in ordered)


def _weighted(pair: ClusteredScores, levels: Floats, streams: Blocks) -> Iterator[Iterable[Floats]]:
    """The same of scores that weigh differently."""
    design = WeightedDesign(pair)
    for cumulated in design.batches(streams, size=_BATCH):
        both = zip(design.values, cumulated, strict=True)
        yield (np.stack([value[Steps(value, row).at(levels)] for row in rows]) for value, rows in both)
