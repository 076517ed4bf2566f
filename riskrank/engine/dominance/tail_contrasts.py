"""One model's worst samples on every metric against those of every other model (method §4).

A combined score is bounded: how bad the worst samples are in the units of a metric does not show in it. Each
contrast is the difference of two tail means on one metric, by the test of a hidden risk
(:mod:`riskrank.engine.dominance.hidden_risk`), in a family of all metrics and all other models.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from riskrank.engine.dominance.contrasts import Contrasts
from riskrank.engine.dominance.inference import Inference
from riskrank.engine.dominance.metric_tails import MetricTails
from riskrank.engine.dominance.permuted_tails import Relabelled
from riskrank.engine.dominance.rank_guard import behind_pairs, least
from riskrank.engine.dominance.stopping import ClaimFamily, Counted
from riskrank.engine.sampling.degrees_of_freedom import Freedom
from riskrank.engine.types import Booleans, Floats

# Sums of the same numbers in another order differ by a few units in the last place.
_ROUNDING = 16 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class TailContrasts:
    """All models' tail means against those of one on m metrics; the row of that model says nothing.

    Attributes
    ----------
    against : int
        The model the others are held against.
    level : float
        Share of the worst samples.
    tails : ndarray, shape (k, m)
        Their means, larger is better.
    resampled : ndarray, shape (B, k, m)
        The same of resamples.
    p_milder : ndarray, shape (k, m)
        Adjusted over the (k - 1)·m contrasts: small if the other's tail is better.
    milder : ndarray of bool, shape (k, m)
        Where the other's tail is significantly better.
    hidden : ndarray of bool, shape (k, m)
        Where it is, and the other's mean is not, so that it does not say so.
    undecided : ndarray of bool, shape (k, m)
        Where the resamples are too few to tell whether it is.
    gains : ndarray of bool, shape (k, m)
        What the one has to show against the other: where its own tail is significantly better, or its mean,
        and neither is significantly worse.
    ahead : ndarray of bool, shape (k,)
        Whether its mean is significantly better than the other's on every metric, whatever the tails: a
        trade of mean and tail, as on one metric alone.
    """

    against: int
    level: float
    tails: Floats
    resampled: Floats
    p_milder: Floats
    milder: Booleans
    hidden: Booleans
    undecided: Booleans
    gains: Booleans
    ahead: Booleans

    @property
    def milder_for_nothing(self) -> NDArray[np.intp]:
        """Models of significantly better tails on a metric, against which the one has nothing to show."""
        return np.flatnonzero(self.milder.any(axis=1) & ~self.gains.any(axis=1) & ~self.ahead)

    @property
    def traded(self) -> Booleans:
        """Where the other's tail is significantly better, and better means are all there is to show."""
        return self.milder & (self.ahead & ~self.gains.any(axis=1))[:, None]

    @property
    def open(self) -> NDArray[np.intp]:
        """Models that more resamples might show to be such."""
        asked = self.undecided.any(axis=1) & ~self.milder.any(axis=1)
        return np.flatnonzero(asked & ~self.gains.any(axis=1) & ~self.ahead)


def tail_contrasts(tails: MetricTails, means: Contrasts, inference: Inference) -> TailContrasts:
    """Hold every model's tails against those of one model.

    Parameters
    ----------
    tails : MetricTails
    means : Contrasts
        Of the same models against that one.
    inference : Inference
        By resamples.

    Returns
    -------
    TailContrasts
    """
    k, m = tails.sample.shape
    others = np.delete(np.arange(k), means.against)
    behind = _behind(tails, means.against, others)
    better, worse = (_Side(tails, means.against, behind, inference, sign) for sign in (1, -1))
    asked = len(others) * m
    second = [Relabelled(one, tails.level, asked, inference.family, tails.seed) for one in tails.columns]
    rounds = inference.rounds(asked, tails.work, least(behind))
    drawn = tails.resampled(0)
    for total in rounds:
        if better.closed:
            break
        drawn = tails.resampled(total)
        better.settle(second[0].less_bias(tails.sample, drawn), last=total == rounds[-1])
    milder, undecided = better.shown, better.undecided
    if milder.any() or undecided.any() or means.throughout.size:
        worse.settle(second[0].less_bias(tails.sample, drawn), last=True)
    milder, p_milder = _confirmed(milder, better.p_adjusted, second, means.against)
    shown_worse, _ = _confirmed(worse.shown, worse.p_adjusted, second, means.against, worse=True)
    behind_in_mean = means.worse
    return TailContrasts(
        means.against,
        tails.level,
        tails.sample,
        drawn,
        p_milder,
        milder,
        milder & ~means.better,
        undecided,
        (shown_worse & ~means.better) | (behind_in_mean & ~milder & tails.counting),
        np.asarray((behind_in_mean | ~tails.counting).all(axis=1)),
    )


def _confirmed(
    shown: Booleans, p_adjusted: Floats, second: Sequence[Relabelled], against: int, *, worse: bool = False
) -> tuple[Booleans, Floats]:
    """What relabelling shows as well, metric by metric, with the larger p-values."""
    shown, p_adjusted = shown.copy(), p_adjusted.copy()
    for i, at in np.argwhere(shown).tolist():
        pair = (i, against) if worse else (against, i)
        p_adjusted[i, at] = max(p_adjusted[i, at], second[at].p_adjusted(*pair))
        shown[i, at] = second[at].family.significant(second[at].p_adjusted(*pair))
    return shown, p_adjusted


class _Side:
    """The claims of one direction: with sign 1 that others' tails are better, with −1 that they are worse."""

    def __init__(
        self,
        tails: MetricTails,
        against: int,
        behind: Floats | Freedom,
        inference: Inference,
        sign: int,
    ) -> None:
        self._tails, self._against, self._sign = tails, against, sign
        self._others = others = np.delete(np.arange(len(tails.sample)), against)
        self._slack = _ROUNDING * np.abs(tails.sample).max(axis=0)
        above = self._above(tails.sample[others], tails.sample[against]) & tails.counting
        self._family = ClaimFamily(
            behind,
            # Where the sample itself speaks against a claim, or a metric has no weight, nothing is shown.
            np.where(above, 0.0, 1.0).ravel(),
            guard_share=1.0,
            family=inference.family,
            most=inference.planned(above.size, least(behind)),
        )

    @property
    def closed(self) -> bool:
        return bool(self._family.closed.all())

    @property
    def shown(self) -> Booleans:
        return self._placed(self._family.dominates) > 0

    @property
    def undecided(self) -> Booleans:
        return self._placed(~self._family.decided) > 0

    @property
    def p_adjusted(self) -> Floats:
        return self._placed(self._family.p_adjusted, 1.0)

    def settle(self, drawn: Floats, *, last: bool) -> None:
        own = drawn[:, self._against]
        crossings = [np.count_nonzero(~self._above(drawn[:, i], own), axis=0) for i in self._others]
        self._family.settle(Counted(len(drawn), np.concatenate(crossings)), last=last)

    def _placed(self, values: Floats | Booleans, own: float = 0.0) -> Floats:
        """Values of all contrasts as (k, m), with one for the model itself."""
        found = np.full(self._tails.sample.shape, own)
        found[self._others] = values.reshape(len(self._others), -1)
        return found

    def _above(self, other: Floats, own: Floats) -> Booleans:
        """Where the other's tail is better than its own, or worse, whichever is claimed."""
        # At the end of the range a little more than the largest number overflows, and compares rightly.
        with np.errstate(over="ignore"):
            return self._sign * other > self._sign * own + self._slack


def _behind(tails: MetricTails, against: int, others: NDArray[np.intp]) -> Floats | Freedom:
    """What stands behind each contrast, metrics of one model side by side."""
    each = [behind_pairs(scores)[against, others] for scores in tails.columns]

    def beside(values: Sequence[Floats]) -> Floats:
        return np.stack(values, axis=1).ravel()

    freedom = [one for one in each if isinstance(one, Freedom)]
    if freedom:
        return Freedom(beside([one.df for one in freedom]), beside([one.seen for one in freedom]))
    return beside([one for one in each if not isinstance(one, Freedom)])
