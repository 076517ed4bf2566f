"""A judge as far as it tells models apart, and what it is worth there.

The λ that is best for a model's own mean may be too much for a difference. What is hard for every model
cancels in the difference of people's scores of the same samples; the judge's errors do not, unless it makes
the same of all models. So all λ are cut alike, by a factor in [0, 1] that is best for differences: each
pair's variance counts in shares of what it is by the labels alone (method §12).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from riskrank.engine.judges.correction import Correction
from riskrank.engine.types import Booleans, Floats

# Variances of differences below this share of the models' own are rounding.
_NOTHING = 1e-9


def for_differences(corrections: Sequence[Correction]) -> tuple[Correction, ...]:
    """Cut the λ of several models' corrections alike, to what is best for their differences.

    The factor t changes a pair's variance by so much of what it is by the labels alone: (t²b − 2ta)(N − n)/N,
    with a the covariance of people's difference and the judge's λ-fold one and b the variance of the latter,
    both over the variance of the former. The sum over all pairs is smallest at t = Σa/Σb.

    Parameters
    ----------
    corrections : sequence of k Correction
        Of the same samples.

    Returns
    -------
    tuple of k Correction
    """
    n = corrections[0].labelled
    human = np.array([one.human - one.human.mean() for one in corrections])
    taken = np.array([one.power * (one.judge - one.judge.mean()) for one in corrections])
    units = [float(np.abs(scores).max()) or 1.0 for scores in (human, taken)]
    human, taken = human / units[0], taken / units[1]
    away = taken[:, :n] - taken[:, :n].mean(axis=1, keepdims=True)
    alone, counted = _between(human @ human.T / n)
    spread, noisy = _between(taken @ taken.T / (taken.shape[1] - 1))
    counted &= noisy
    if not counted.any():
        return tuple(corrections)
    both = human @ away.T / n
    together, _ = _between((both + both.T) / 2)
    share = np.sum(together[counted] / alone[counted]) / np.sum(spread[counted] / alone[counted])
    cut = min(max(float(share) * units[0] / units[1], 0.0), 1.0)
    return tuple(replace(one, power=one.power * cut) for one in corrections)


def worth_of_differences(corrections: Sequence[Correction]) -> Floats:
    """Labels that would tell two models' means apart as surely without the judge, of every pair i < j.

    Below their number where the judge makes a difference less sure. A pair that the labels do not tell apart
    at all, or whose difference is known exactly, counts what there is: labels, or all samples.
    """
    n, total = corrections[0].labelled, len(corrections[0].judge)
    errors, others = (np.array(part) for part in zip(*(one.parts for one in corrections), strict=True))
    variances = np.cov(errors) * (n - 1) / n / max(n - 2, 1) + np.cov(others) / (total - n)
    alone, differ = _between(np.cov([one.human for one in corrections]))
    corrected, doubtful = _between(variances)
    with np.errstate(divide="ignore", invalid="ignore"):
        worth = np.where(doubtful, np.minimum(alone / corrected, total), total)
    upper = np.triu_indices(len(corrections), 1)
    return np.where(differ, worth, n)[upper]


def _between(covariances: Floats) -> tuple[Floats, Booleans]:
    """What a matrix of covariances says of differences of pairs, and where that is not rounding."""
    own = np.diagonal(covariances)
    found = own[:, None] + own[None, :] - covariances - covariances.T
    return found, found > _NOTHING * (own[:, None] + own[None, :])
