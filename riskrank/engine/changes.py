"""Tests for changes in single cases, for two models and for a series of runs (method §10).

The total numbers of wins and losses are compared by the test for two success rates. With clusters, the mean
sign of the differences is tested instead. With one run per sample, no test can separate a change in a single
case from noise. With repeats, each case has an exact permutation test. Repeats of the old model also give the
number of losses expected by chance.

In a series of runs, testing at every new run inflates the error rate. The j-th look (interim analysis)
therefore spends α/(j(j + 1)), which sums to α over all looks (method §9). Four fifths of it go to the
comparison with the baseline and one fifth to the comparison with the previous run. Together they report a
false "worse" with probability at most α.

Consider a case that fails in each of the last t of n runs, with f failures in total. If the runs are
exchangeable, the last t runs all fail with probability C(n − t, f − t)/C(n, f). The case is reported as
permanently lost if this probability is small.
"""

from dataclasses import dataclass, replace
from itertools import combinations
from math import comb

import numpy as np

from riskrank.engine.evidence.mean_differences import MeanContrast, SuccessCounts, mean_evidence
from riskrank.engine.family import Family
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.special import ndtr
from riskrank.engine.types import Booleans, Floats, Integers

# Most splits to enumerate per case; with more, the normal approximation is used.
_MOST_SPLITS = 20_000

# Relative tolerance for equal sums.
_ROUNDING = 1e-9


def sign_test(gains: Floats, units: Integers) -> float:
    """Test whether wins and losses are equally likely; return the two-sided p-value of the sign test.

    If samples are clustered, the mean sign is tested instead.

    Parameters
    ----------
    gains : ndarray, shape (n,)
        Score difference of each sample.
    units : ndarray of int, shape (n,)
        Cluster of each sample.
    """
    wins, losses = float(np.count_nonzero(gains > 0)), float(np.count_nonzero(gains < 0))
    if wins + losses == 0:
        return 1.0
    if np.unique(units).size < units.size:
        signs = ClusteredScores.build([np.sign(gains)], [units])
        return float(mean_evidence([MeanContrast.from_mean(signs, 0)]).p_value[0])
    return SuccessCounts(wins, losses, (float(gains.size), float(gains.size)), True).two_sided_p_value


@dataclass(frozen=True, eq=False)
class Repeats:
    """Repeated scores of one model, grouped by sample.

    Attributes
    ----------
    values : ndarray, shape (n,)
        Scores; larger is better.
    samples : ndarray of int, shape (n,)
        Sample of each score: 0, 1, … without gaps, in non-decreasing order.
    """

    values: Floats
    samples: Integers

    @property
    def counts(self) -> Integers:
        """Number of repeats of each sample, shape (samples,)."""
        return np.bincount(self.samples)

    @property
    def means(self) -> Floats:
        """Mean score of each sample, shape (samples,)."""
        return np.asarray(np.bincount(self.samples, self.values), dtype=np.float64) / self.counts

    def split_by_sample(self) -> list[Floats]:
        """Split the repeated scores by sample; return one array per sample."""
        return np.split(self.values, np.cumsum(self.counts)[:-1])


def expected_losses(new: Repeats, old: Repeats) -> tuple[float, float | None]:
    """Return the expected number of losses, and the number expected by chance.

    A loss is a sample on which the new model is worse than the old one, with one run of each.

    Parameters
    ----------
    new, old : Repeats
        Scores of the same samples.

    Returns
    -------
    losses : float
        Expected losses: sum over samples of the proportion of run pairs, one per model, in which the new
        model is worse.
    by_chance : float or None
        Expected losses between two runs of the old model, or None if a sample has only one run. Both
        estimates are unbiased for any number of runs.
    """
    losses, by_chance = 0.0, 0.0
    has_repeats = bool(np.all(old.counts >= 2))
    for new_scores, old_scores in zip(new.split_by_sample(), old.split_by_sample(), strict=True):
        losses += float(np.mean(new_scores[:, None] < old_scores[None, :]))
        if has_repeats:
            worse = np.count_nonzero(old_scores[:, None] < old_scores[None, :])
            by_chance += worse / (old_scores.size * (old_scores.size - 1))
    return losses, (by_chance if has_repeats else None)


def case_p_values(new: Repeats, old: Repeats) -> Floats:
    """Return a two-sided permutation p-value per sample, for the null hypothesis of exchangeable runs.

    All splits of a sample's runs into groups of the same sizes are compared with the observed split. The
    p-value is the proportion of splits with a mean difference at least as large. With more than 20,000
    splits, it is a normal approximation with the exact variance of the permutation distribution.

    Parameters
    ----------
    new, old : Repeats
        Scores of the same samples.

    Returns
    -------
    ndarray, shape (n,)
        One p-value per sample.
    """
    p_values = np.ones(len(new.counts))
    shapes: dict[tuple[int, int], list[int]] = {}
    for index, shape in enumerate(zip(new.counts.tolist(), old.counts.tolist(), strict=True)):
        shapes.setdefault(shape, []).append(index)
    new_scores, old_scores = new.split_by_sample(), old.split_by_sample()
    for (n_new, _), indices in shapes.items():
        pooled = np.array([np.concatenate((new_scores[index], old_scores[index])) for index in indices])
        p_values[indices] = _permutation_p_values(pooled, n_new)
    return p_values


def _permutation_p_values(pooled: Floats, n_new: int) -> Floats:
    """Return the two-sided permutation p-value of each sample, shape (n,).

    `pooled` holds the runs of both models on each sample, shape (n, runs). The first `n_new` columns are the
    runs of the new model.
    """
    runs = pooled.shape[1]
    # The statistic is the sum of the new runs minus its expectation over splits.
    varies = np.ptp(pooled, axis=1, keepdims=True) > 0
    centred = np.where(varies, pooled - pooled.mean(axis=1, keepdims=True), 0.0)
    observed = np.abs(centred[:, :n_new].sum(axis=1))
    scale = _ROUNDING * np.maximum(np.abs(centred).sum(axis=1), np.finfo(float).tiny)
    if comb(runs, n_new) > _MOST_SPLITS:
        variance = (centred**2).sum(axis=1) / (runs - 1) * n_new * (runs - n_new) / runs
        z = np.divide(observed, np.sqrt(variance), out=np.zeros_like(observed), where=varies[:, 0])
        return np.asarray(2 * ndtr(-z), dtype=np.float64)
    splits = np.zeros((comb(runs, n_new), runs))
    chosen = np.array(list(combinations(range(runs), n_new)))
    splits[np.arange(len(chosen))[:, None], chosen] = 1
    sums = np.abs(splits @ centred.T)
    return np.asarray(np.mean(sums >= observed - scale, axis=0), dtype=np.float64)


# Share of the overall level for each reference run.
LEVEL_SHARES = {"baseline": 0.8, "last": 0.2}


def family_at_look(family: Family, look: int, proportion: float) -> Family:
    """Return the family of two-sided tests at one interim analysis (look), with its share of the level.

    Parameters
    ----------
    family : Family
        Family with the total level α over all looks.
    look : int
        Number of the look, starting at 1.
    proportion : float
        Proportion of the level of this look, one of the values of :data:`LEVEL_SHARES`.
    """
    return replace(family.scaled(2 * proportion / (look * (look + 1))), sides=2)


def count_flips(passed: Booleans, counted: Booleans) -> int:
    """Count how often the outcome of a test case changes between consecutive runs.

    Parameters
    ----------
    passed : ndarray of bool, shape (n,)
        Outcomes of a case in the order of the runs.
    counted : ndarray of bool, shape (n - 1,)
        Whether each step from one run to the next is counted.
    """
    return int(np.count_nonzero((passed[1:] != passed[:-1]) & counted))


def trailing_failures(passed: Booleans) -> tuple[int, float]:
    """Count the consecutive failures of a test case up to its last run, and return a p-value.

    Parameters
    ----------
    passed : ndarray of bool, shape (n,)
        Outcomes of a case in the order of the runs.

    Returns
    -------
    failures : int
        Number of consecutive failures up to the last run.
    p_value : float
        Probability of at least as many trailing failures; 1 if the case never passed or passes in the last
        run.
    """
    n, failed = passed.size, int(np.count_nonzero(~passed))
    n_last = n if failed == n else int(np.argmax(passed[::-1]))
    if failed == n or n_last == 0:
        return n_last, 1.0
    return n_last, comb(n - n_last, failed - n_last) / comb(n, failed)
