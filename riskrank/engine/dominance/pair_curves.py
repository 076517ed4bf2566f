"""Two models' quantile and integrated quantile functions: violation ratios integrate their differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.portfolio.quantiles import integrated_quantile, quantile, weighted_steps
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
