"""What changed case by case: who did better on each sample, and which samples changed (method §10).

Overall, wins and losses are compared by the exact sign test, which for scores of 0 and 1 is McNemar's; where
clusters of samples are drawn whole, by all ways to exchange the two models on whole clusters. With
one run a sample, no test can tell of a single case whether it changed or the run did. With several runs
each case has an exact permutation test of its runs, and runs of the old model beside each other say how
many losses chance alone makes.

Runs of the same cases one after the other: levels of looks, flips, and cases that were lost for good.

A look at every new run errs more often than it says. The j-th look spends α/(j(j + 1)), which comes to α over
all looks there will ever be (method §9). Of that, four fifths go to the comparison with the baseline and a
fifth to that with the run before, so that neither says "worse" falsely more often than α together.

A case that fails in each of the last t of n runs, f of them failures, was lost for good if chance would
hardly put the failures there: were the order of its runs exchangeable, its last t runs would all be failures
with probability C(n − t, f − t)/C(n, f).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb

import numpy as np
from scipy.special import bdtr, ndtr

from riskrank.engine.evidence.evidence import Evidence
from riskrank.engine.evidence.student import MeanDifference, Student
from riskrank.engine.family import Family
from riskrank.engine.types import Booleans, Floats, Integers

# Splits of the runs of a case that are counted one by one; beyond, their mean difference counts as normal.
_MOST_SPLITS = 20_000

# Differences of sums of a few runs that only rounding keeps apart.
_ROUNDING = 1e-9


def sign_test(gains: Floats, units: Integers) -> float:
    """Two-sided exact p-value of "as many wins as losses", ties left out; 1 where there are none.

    Parameters
    ----------
    gains : ndarray, shape (n,)
        Of the samples.
    units : ndarray of int, shape (n,)
        What they are drawn in: the signs of one unit change together.
    """
    sums = np.bincount(np.unique(units, return_inverse=True)[1], np.sign(gains)).astype(np.int64)
    size, count = np.unique(np.abs(sums[sums != 0]), return_counts=True)
    total = int(size @ count)
    fewest = (total - abs(int(sums.sum()))) // 2
    if size.size == 0 or size[-1] == 1:
        return float(min(1.0, 2 * bdtr(fewest, total, 0.5))) if total else 1.0
    # Chances of each sum, from their generating function at the roots of unity.
    chances = np.ones(total + 1, dtype=np.complex128)
    for one, times in zip(size.tolist(), count.tolist(), strict=True):
        turn = np.arange(total + 1) * one % (total + 1) / (total + 1)
        chances *= ((1 + np.exp(-2j * np.pi * turn)) / 2) ** times
    tail = np.fft.ifft(chances).real[: fewest + 1].sum()
    return float(min(1.0, 2 * max(tail, 0.5 ** count.sum())))


@dataclass(frozen=True, eq=False)
class Runs:
    """Runs of one model, sample by sample.

    Attributes
    ----------
    values : ndarray, shape (n,)
        Larger is better, grouped by sample.
    samples : ndarray of int, shape (n,)
        Sample of each, 0, 1, … without gaps, not decreasing.
    """

    values: Floats
    samples: Integers

    @property
    def counts(self) -> Integers:
        """Runs of each sample."""
        return np.bincount(self.samples)

    @property
    def means(self) -> Floats:
        """Mean of the runs of each sample."""
        return np.asarray(np.bincount(self.samples, self.values), dtype=np.float64) / self.counts

    def of_each(self) -> list[Floats]:
        """Runs of each sample."""
        return np.split(self.values, np.cumsum(self.counts)[:-1])


def losses_of_one_run(new: Runs, old: Runs) -> tuple[float, float | None]:
    """Losses to expect if either model ran once, and those that two runs of the old model make.

    Parameters
    ----------
    new, old : Runs
        Of the same samples.

    Returns
    -------
    losses : float
        Σ over samples of the share of pairs of runs, one of each model, of which the new one is worse.
    by_chance : float or None
        The same of ordered pairs of different runs of the old model; None where a sample has one run only.
        Both are unbiased for any number of runs.
    """
    total, chance = 0.0, 0.0
    known = bool(np.all(old.counts >= 2))
    for theirs, ours in zip(new.of_each(), old.of_each(), strict=True):
        total += float(np.mean(theirs[:, None] < ours[None, :]))
        if known:
            worse = np.count_nonzero(ours[:, None] < ours[None, :])
            chance += worse / (ours.size * (ours.size - 1))
    return total, (chance if known else None)


def case_p_values(new: Runs, old: Runs) -> Floats:
    """Two-sided p-values of "the runs of this sample are exchangeable", shape (samples,).

    The share of all splits of a sample's runs into as many new and old ones whose mean difference is at least
    as large as that found. Where there are more than 20,000 splits, the normal approximation by the exact
    variance of the permutation distribution.

    Parameters
    ----------
    new, old : Runs
        Of the same samples.
    """
    found = np.ones(len(new.counts))
    shapes: dict[tuple[int, int], list[int]] = {}
    for at, shape in enumerate(zip(new.counts.tolist(), old.counts.tolist(), strict=True)):
        shapes.setdefault(shape, []).append(at)
    theirs, ours = new.of_each(), old.of_each()
    for (a, _), members in shapes.items():
        pooled = np.array([np.concatenate((theirs[at], ours[at])) for at in members])
        found[members] = _of_shape(pooled, a)
    return found


def _of_shape(pooled: Floats, a: int) -> Floats:
    """P-values of samples with the same numbers of runs, the first `a` of which are new."""
    runs = pooled.shape[1]
    # The sum of the new runs, less what is expected of a split.
    moved = np.ptp(pooled, axis=1, keepdims=True) > 0
    centred = np.where(moved, pooled - pooled.mean(axis=1, keepdims=True), 0.0)
    observed = np.abs(centred[:, :a].sum(axis=1))
    scale = _ROUNDING * np.maximum(np.abs(centred).sum(axis=1), np.finfo(float).tiny)
    if comb(runs, a) > _MOST_SPLITS:
        variance = (centred**2).sum(axis=1) / (runs - 1) * a * (runs - a) / runs
        z = np.divide(observed, np.sqrt(variance), out=np.zeros_like(observed), where=moved[:, 0])
        return np.asarray(2 * ndtr(-z), dtype=np.float64)
    splits = np.zeros((comb(runs, a), runs))
    chosen = np.array(list(combinations(range(runs), a)))
    splits[np.arange(len(chosen))[:, None], chosen] = 1
    sums = np.abs(splits @ centred.T)
    return np.asarray(np.mean(sums >= observed - scale, axis=0), dtype=np.float64)


SHARES = {"baseline": 0.8, "last": 0.2}
"""Parts of the level of the year, by what a run is compared with."""


def family_of_look(family: Family, look: int, share: float) -> Family:
    """The claims of one look: each direction at its part of the level, so that ends of intervals go with it.

    Parameters
    ----------
    family : Family
        Of the whole year.
    look : int
        1 for the first.
    share : float
        Part of the level, one of :data:`SHARES`.
    """
    return replace(family.at(2 * share / (look * (look + 1))), sides=2)


def evidence_of(differences: Sequence[MeanDifference]) -> Evidence:
    """What paired differences of means say of "it lies above 0", Student's and Johnson's p the larger."""
    parts = np.array([(one.estimate, one.error, one.samples - 1, one.skewness) for one in differences])
    found = Student(*parts.reshape(-1, 4).T)
    return found.evidence(0.0, found.df + 1)


def flips(passed: Booleans, counted: Booleans) -> int:
    """How often a case changes from a run to the next, where that counts.

    Parameters
    ----------
    passed : ndarray of bool, shape (n,)
        Runs of a case in order.
    counted : ndarray of bool, shape (n - 1,)
    """
    return int(np.count_nonzero((passed[1:] != passed[:-1]) & counted))


def lost_for_good(passed: Booleans) -> tuple[int, float]:
    """In how many of its last runs a case failed throughout, and how likely chance makes that of it.

    Parameters
    ----------
    passed : ndarray of bool, shape (n,)
        Runs of a case in order.

    Returns
    -------
    runs : int
    p_value : float
        1 where it never passed, or passes now.
    """
    n, failed = passed.size, int(np.count_nonzero(~passed))
    last = n if failed == n else int(np.argmax(passed[::-1]))
    if failed == n or last == 0:
        return last, 1.0
    return last, comb(n - last, failed - last) / comb(n, failed)
