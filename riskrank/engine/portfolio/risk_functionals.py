"""What each risk is: a function of sorted scores, and of a level where it has one ([RAB] Table 1).

With Q the quantile function, F its integral and μ the mean. Plain sums and einsum rather than matrix
products: these arrays are too small for BLAS to share among threads, but it tries, and on a busy machine its
waiting threads cost a hundred times the sum.
"""

from __future__ import annotations

import numpy as np

from riskrank.engine.portfolio.sorted_scores import SortedScores
from riskrank.engine.types import Floats


def standard_deviation(scores: SortedScores, _level: float) -> Floats:
    """√E(X − μ)²."""
    return np.sqrt(scores.squared(scores.away))


def semideviation(scores: SortedScores, _level: float) -> Floats:
    """E(μ − X)₊; deviations sum to zero, so those below the mean are half of all."""
    return scores.expected(np.abs(scores.away)) / 2


def negative_tvar(scores: SortedScores, level: float) -> Floats:
    """−F(p)/p, minus the mean of the worst share."""
    return -scores.worst_mean(level)


def quantile_deviation(scores: SortedScores, level: float) -> Floats:
    """μ − F(p)/p."""
    return scores.mean - scores.worst_mean(level)


def gini_tail(scores: SortedScores, _level: float) -> Floats:
    """2∫(μp − F(p))dp = μ − 2∫F, and ∫F = ∫(1−t)Q(t)dt gives each order statistic its slice of 1 − t."""
    slices = scores.slices
    if slices.ndim == 1:
        return scores.mean - np.einsum("...i,i->...", scores.ordered, slices)
    return scores.mean - np.einsum("...i,...i->...", scores.ordered, slices)


def negative_var(scores: SortedScores, level: float) -> Floats:
    """−Q(p)."""
    return -scores.quantile(level)
