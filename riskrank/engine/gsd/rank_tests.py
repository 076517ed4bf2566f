"""Rank tests criterion by criterion, the baselines of generalized stochastic dominance ([GSD] §4.3).

Friedman's test asks whether the models differ at all on a criterion, Nemenyi's which pairs do. The
all-test and the one-test combine Nemenyi's verdicts over the criteria.
"""

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc, ndtr

from riskrank.engine.types import Booleans, Floats
from riskrank.errors import InputError


@dataclass(frozen=True)
class CriteriaTests:
    """Friedman and Nemenyi on every criterion.

    Attributes
    ----------
    mean_rank : ndarray, shape (n, k)
        Mean rank of each model over the samples; 1 is best, ties share their mean.
    friedman_statistic, friedman_p_value : ndarray, shape (n,)
        Friedman's chi-squared, corrected for ties, and its asymptotic p-value.
    nemenyi_p_value : ndarray, shape (n, k, k)
        Two-sided p-values of the pairs, valid for all pairs of a criterion together.
    """

    mean_rank: Floats
    friedman_statistic: Floats
    friedman_p_value: Floats
    nemenyi_p_value: Floats

    def ahead(self, criterion: int) -> list[tuple[int, int]]:
        """Every pair of models once, the one with the better mean rank on a criterion first."""
        ranks = self.mean_rank[criterion]
        pairs = itertools.combinations(range(len(ranks)), 2)
        return [(a, b) if ranks[a] <= ranks[b] else (b, a) for a, b in pairs]

    def better(self, level: float) -> Booleans:
        """Where the row's model is significantly better than the column's, shape (n, k, k)."""
        ahead = self.mean_rank[:, :, None] < self.mean_rank[:, None, :]
        return ahead & (self.nemenyi_p_value <= level)

    def all_test(self, level: float) -> Booleans:
        """Where the row's model is significantly better on every criterion, shape (k, k)."""
        return np.asarray(self.better(level).all(axis=0))

    def one_test(self, level: float) -> Booleans:
        """Where it is on some criterion and significantly worse on none, shape (k, k)."""
        better = np.asarray(self.better(level).any(axis=0))
        return better & ~better.T


def criteria_tests(scores: ArrayLike) -> CriteriaTests:
    """Test every criterion on its own.

    Parameters
    ----------
    scores : array_like, shape (k, s, n)
        Scores of k models on s samples under n criteria, larger is better; one score a cell.

    Returns
    -------
    CriteriaTests

    Raises
    ------
    InputError
        On fewer than two models or samples.
    """
    scores = np.asarray(scores, dtype=np.float64)
    k, s, n = scores.shape
    if k < 2 or s < 2:
        raise InputError(
            "rank tests need two models and two samples",
            found=f"{k} models, {s} samples",
            hint="add models or samples, or leave out the baselines",
        )
    ranks = _ranks(scores)
    mean_rank = ranks.mean(axis=1).T
    statistic = np.array([_friedman(ranks[..., j]) for j in range(n)])
    gap = np.abs(mean_rank[:, :, None] - mean_rank[:, None, :])
    apart, places = np.unique(gap / np.sqrt(k * (k + 1) / (12 * s)), return_inverse=True)
    return CriteriaTests(
        mean_rank=mean_rank,
        friedman_statistic=statistic,
        friedman_p_value=chdtrc(k - 1, statistic),
        nemenyi_p_value=_range_tail(apart, k)[places].reshape(gap.shape),
    )


def _ranks(scores: Floats) -> Floats:
    """Ranks among the models of a sample: models ahead, plus the middle of those level with it."""
    ahead = (scores[None] > scores[:, None]).sum(axis=1)
    level = (scores[None] == scores[:, None]).sum(axis=1)
    return ahead + (level + 1) / 2


def _friedman(ranks: Floats) -> float:
    k, s = ranks.shape
    spread = np.sum((ranks - (k + 1) / 2) ** 2)
    if spread == 0:
        return 0.0  # every sample a tie of all models
    return float(s**2 * (k - 1) * np.sum((ranks.mean(axis=1) - (k + 1) / 2) ** 2) / spread)


def _range_tail(statistic: Floats, models: int) -> Floats:
    """Probability that k standard normals spread over more than ``statistic``.

    ``1 - k ∫ φ(z) (Φ(z) - Φ(z - q))^(k-1) dz``, the studentized range with infinitely many degrees of
    freedom. SciPy has it in ``scipy.stats``, which takes a second to import; on an integrand this smooth
    the trapezoid rule is as exact.
    """
    z, step = np.linspace(-9, 9, 2001, retstep=True)
    density = np.exp(-z * z / 2) / np.sqrt(2 * np.pi)
    inside = (ndtr(z) - ndtr(z - statistic[:, None])) ** (models - 1)
    return np.clip(1 - models * step * (density * inside).sum(axis=1), 0.0, 1.0)
