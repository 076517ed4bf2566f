"""How much of a judge is taken, and what that makes of the weights of its scores (method §12).

People scored n of N samples, chosen by chance, and a judge all of them. The corrected distribution is F =
F_human,n + λ(F_judge,N − F_judge,n). A judge that is wrong in the same way everywhere is corrected by the
samples that both scored; one that knows nothing is left out by λ = 0. Each model has a λ of its own: a shared
one could turn the sign of a difference where the judge favours a model.

A judge as far as it tells models apart, and what it is worth there.

The λ that is best for a model's own mean may be too much for a difference. What is hard for every model
cancels in the difference of people's scores of the same samples; the judge's errors do not, unless it makes
the same of all models. So all λ are cut alike, by a factor in [0, 1] that is best for differences: each
pair's variance counts in shares of what it is by the labels alone (method §12).

References
----------
A. N. Angelopoulos, J. C. Duchi, T. Zrnic (2023). PPI++: efficient prediction-powered inference.
arXiv:2311.01453.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy  # loads its functions when they are first used

from riskrank.engine.sampling.degrees_of_freedom import satterthwaite
from riskrank.engine.types import Booleans, Floats, Integers

FEWEST_OTHERS = 2
"""Samples that only the judge scored: fewer have no spread."""

LABELS_ALPHA = 0.01
"""Level at which labels look chosen by outcome, for all models together: no number of labels mends that."""

FOLDS = 5
"""Parts of the labelled samples, each of which is mapped by what the others say."""


@dataclass(frozen=True)
class Correction:
    """A judge's scores of one model, corrected.

    Attributes
    ----------
    human : ndarray, shape (n,)
        Of the samples that people scored.
    judge : ndarray, shape (N,)
        Of all samples, those that people scored first.
    power : float
        λ, how much of the judge is taken, in [0, 1].
    slope : float
        The same before it was cut to [0, 1]; below 0 the judge's scores go the wrong way.
    """

    human: Floats
    judge: Floats
    power: float
    slope: float

    @classmethod
    def of(cls, human: Floats, judge: Floats) -> Correction:
        """Find the λ that gives the mean the smallest variance, Cov(h, j)/Var(j).

        With F_judge,N of all N samples, the labelled ones among them, that is PPI++'s λ for the others alone,
        times N/(N − n).
        """
        return cls.of_models(human[None], judge[None])[0]

    @classmethod
    def of_models(cls, human: Floats, judge: Floats) -> list[Correction]:
        """The same of several models of the same samples, a row a model."""
        human, judge, n = np.ascontiguousarray(human), np.ascontiguousarray(judge), human.shape[1]
        unit = np.abs(judge).max(axis=1, keepdims=True)
        unit[unit == 0] = 1.0
        scaled = judge / unit
        away = scaled[:, :n] - scaled[:, :n].mean(axis=1, keepdims=True)
        parts = zip(human - human.mean(axis=1, keepdims=True), away, scaled.var(axis=1, ddof=1), strict=True)
        alike = [people @ own / n / spread if spread > 0 else 0.0 for people, own, spread in parts]
        slopes = (np.array(alike) / unit[:, 0]).tolist()
        cut = [min(max(slope, 0.0), 1.0) for slope in slopes]
        return [cls(*one) for one in zip(human, judge, cut, slopes, strict=True)]

    @property
    def labelled(self) -> int:
        """Samples that people scored, n."""
        return len(self.human)

    @property
    def mean(self) -> float:
        """Corrected mean."""
        n = self.labelled
        return float(self.human.mean() + self.power * (self.judge.mean() - self.judge[:n].mean()))

    @property
    def parts(self) -> tuple[Floats, Floats]:
        """What the mean is a sum of means of: the judge's errors, and its scores of the other samples.

        λ' = λ(N − n)/N of each judge's score, less its mean over the labelled samples, which cancels.
        """
        n = self.labelled
        away = self.power * (1 - n / len(self.judge)) * (self.judge - self.judge[:n].mean())
        return self.human - away[:n], away[n:]

    @property
    def variance(self) -> float:
        """Of the mean, one degree of freedom less for λ."""
        errors, others = self.parts
        n = self.labelled
        return float(errors.var() / max(n - 2, 1) + others.var(ddof=1) / len(others))

    def interval(self, level: float = 0.05) -> tuple[float, float]:
        """Student's interval of the mean, by Satterthwaite's degrees of freedom, one less for λ."""
        n = self.labelled
        errors, others = (part.var(ddof=1) / len(part) for part in self.parts)
        behind = satterthwaite(np.array([errors, others]), np.array([n, len(self.judge) - n]))
        quantile = scipy.special.stdtrit(max(float(behind.df) - 1, 1.0), level / 2)
        half = -float(quantile) * float(np.sqrt(self.variance))
        return self.mean - half, self.mean + half

    @property
    def worth(self) -> float:
        """Labels that would tell as much of the mean without the judge, not below those there are.

        λ is the best one of those from 0 on, so that what looks like a loss is noise of the estimate.
        """
        alone, with_judge = float(self.human.var(ddof=1)), self.variance
        if not with_judge > 0:
            return float(len(self.judge)) if alone > 0 else float(self.labelled)
        return min(max(alone / with_judge, float(self.labelled)), float(len(self.judge)))

    def rows(self) -> tuple[Floats, Floats]:
        """Scores with their signed weights: people's, the judge's of the same samples, then of the others."""
        n, total = self.labelled, len(self.judge)
        weights = np.concatenate(
            (
                np.full(n, 1 / n),
                np.full(n, self.power * (1 / total - 1 / n)),
                np.full(total - n, self.power / total),
            )
        )
        return np.concatenate((self.human, self.judge)), weights


def on_human_scale(human: Floats, judge: Floats) -> Floats:
    """Map a judge's scores onto people's scale by isotonic regression, cross-fitted (method §12).

    A labelled sample is mapped by what the other folds say, so that its own score has no part in it; the
    others by the mean of all folds.

    Parameters
    ----------
    human : ndarray, shape (n,)
    judge : ndarray, shape (N,)
        Those that people scored first.

    Returns
    -------
    ndarray, shape (N,)
    """
    n = len(human)
    # By chance, lest samples whose names go round in a circle lie in one fold; the same for every run.
    fold: Integers = np.random.default_rng(n).permutation(n) % FOLDS
    found = np.zeros(len(judge))
    for number in range(FOLDS):
        kept = fold != number
        places, values = _isotonic(judge[:n][kept], human[kept])
        held_out = np.flatnonzero(~kept)
        found[held_out] = np.interp(judge[held_out], places, values)
        found[n:] += np.interp(judge[n:], places, values) / FOLDS
    return found


def _isotonic(judge: Floats, human: Floats) -> tuple[Floats, Floats]:
    """The non-decreasing function of a judge's scores nearest to people's: its places and values."""
    from scipy.optimize import isotonic_regression  # a tenth of a second to import

    places, number, counts = np.unique(judge, return_inverse=True, return_counts=True)
    means = np.bincount(number, human) / counts
    return places, np.asarray(isotonic_regression(means, weights=counts.astype(np.float64)).x)


# Variances of differences below this share of the models' own are rounding.
_NOTHING = 1e-9


def stacked(corrections: Sequence[Correction]) -> tuple[Floats, Floats]:
    """Labels and scores of the judge of models of the same samples, a row a model."""
    return np.array([one.human for one in corrections]), np.array([one.judge for one in corrections])


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
    human, judge = stacked(corrections)
    human = human - human.mean(axis=1, keepdims=True)
    taken = judge - judge.mean(axis=1, keepdims=True)
    taken *= np.array([[one.power] for one in corrections])
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
