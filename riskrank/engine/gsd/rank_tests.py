"""Rank tests per criterion, as baselines for generalized stochastic dominance ([GSD] §4.3).

On each criterion, Friedman's test is a test for any difference between models, and Nemenyi's test compares
all pairs. The all-test and the one-test combine the results of Nemenyi's test over the criteria.
"""

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.special import chdtrc, ndtr
from riskrank.engine.types import Booleans, Floats
from riskrank.errors import InputError


@dataclass(frozen=True)
class CriteriaTests:
    """Friedman and Nemenyi tests on every criterion.

    Attributes
    ----------
    mean_rank : ndarray, shape (n, k)
        Mean rank of each model over the samples; 1 is best, ties share their mean rank.
    friedman_statistic, friedman_p_value : ndarray, shape (n,)
        Friedman's chi-squared statistic, corrected for ties, and its asymptotic p-value.
    nemenyi_p_value : ndarray, shape (n, k, k)
        Two-sided p-values per pair, adjusted for all pairs of a criterion.
    """

    mean_rank: Floats
    friedman_statistic: Floats
    friedman_p_value: Floats
    nemenyi_p_value: Floats

    def ordered_pairs(self, criterion: int) -> list[tuple[int, int]]:
        """Return every pair of models once, with the model of better mean rank on the criterion first.

        `criterion` is the index of the criterion.
        """
        ranks = self.mean_rank[criterion]
        pairs = itertools.combinations(range(len(ranks)), 2)
        return [(a, b) if ranks[a] <= ranks[b] else (b, a) for a, b in pairs]

    def better(self, level: float) -> Booleans:
        """Return a mask of the pairs in which the first model is significantly better, shape (n, k, k).

        The first axis is the criterion. `level` is the significance level of each criterion.
        """
        ahead = self.mean_rank[:, :, None] < self.mean_rank[:, None, :]
        return ahead & (self.nemenyi_p_value <= level)

    def all_test(self, level: float) -> Booleans:
        """Return a mask of the pairs in which the first model is significantly better on every criterion.

        The result has shape (k, k).
        """
        return np.asarray(self.better(level).all(axis=0))

    def one_test(self, level: float) -> Booleans:
        """Return a mask of the pairs in which the first model is better on some criterion and worse on none.

        Only differences that are significant at `level` count. The result has shape (k, k).
        """
        better = np.asarray(self.better(level).any(axis=0))
        return better & ~better.T


def run_criteria_tests(scores: ArrayLike) -> CriteriaTests:
    """Run the Friedman and Nemenyi tests on every criterion.

    Parameters
    ----------
    scores : array_like, shape (k, s, n)
        Scores of k models on s samples for n criteria, larger is better, without missing values.

    Returns
    -------
    CriteriaTests

    Raises
    ------
    InputError
        If there are fewer than two models or samples.
    """
    scores = np.asarray(scores, dtype=np.float64)
    k, s, n = scores.shape
    if k < 2 or s < 2:
        problem = "rank tests need at least two models and two samples"
        detail = f"{k} models, {s} samples"
        raise InputError(problem, found=detail, hint="add models or samples, or leave out the baselines")
    ahead = (scores[None] > scores[:, None]).sum(axis=1)
    tied = (scores[None] == scores[:, None]).sum(axis=1)
    ranks = ahead + (tied + 1) / 2
    mean_rank = ranks.mean(axis=1).T
    statistic = np.array([_friedman_statistic(ranks[..., j]) for j in range(n)])
    gap = np.abs(mean_rank[:, :, None] - mean_rank[:, None, :])
    unique_gaps, inverse = np.unique(gap / np.sqrt(k * (k + 1) / (12 * s)), return_inverse=True)
    return CriteriaTests(
        mean_rank=mean_rank,
        friedman_statistic=statistic,
        friedman_p_value=chdtrc(k - 1, statistic),
        nemenyi_p_value=_studentized_range_tail(unique_gaps, k)[inverse].reshape(gap.shape),
    )


def _friedman_statistic(ranks: Floats) -> float:
    """Return Friedman's chi-squared statistic for ranks of shape (k, s), corrected for ties."""
    k, s = ranks.shape
    spread = np.sum((ranks - (k + 1) / 2) ** 2)
    if spread == 0:
        return 0.0  # all models tie on every sample
    return float(s**2 * (k - 1) * np.sum((ranks.mean(axis=1) - (k + 1) / 2) ** 2) / spread)


def _studentized_range_tail(statistic: Floats, models: int) -> Floats:
    """Return the upper tail probability of the studentized range of k = `models` normal variables.

    It is ``1 - k ∫ φ(z) (Φ(z) - Φ(z - q))^(k-1) dz`` for each `statistic` q, with infinitely many degrees of
    freedom. ``scipy.stats`` provides it but takes a second to import. The trapezoid rule is as accurate for
    such a smooth integrand.
    """
    z, step = np.linspace(-9, 9, 2001, retstep=True)
    density = np.exp(-z * z / 2) / np.sqrt(2 * np.pi)
    inside = (ndtr(z) - ndtr(z - statistic[:, None])) ** (models - 1)
    return np.clip(1 - models * step * (density * inside).sum(axis=1), 0.0, 1.0)
