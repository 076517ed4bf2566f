"""Cost per success, θ = Σ costs / Σ successes, of one model and of two (method §18).

"θ lies below θ₀" is a claim on the mean of θ₀s − c, and the interval of θ is where neither side of it is
shown: by Student's and Johnson's t, the larger p-value. Of two models the logarithm of the ratio varies as
the mean of ψ = (c_A − θ_A s_A)/c̄_A − (c_B − θ_B s_B)/c̄_B does. A few huge costs make θ and that error large
at once, and the other model look sure to be cheaper: so the difference is tested with the error it has at the
boundary, too, where both models share one θ, and the largest p-value counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.bisection import bisected
from riskrank.engine.evidence.evidence import Evidence
from riskrank.engine.evidence.student import MeanDifference, Student, mean_difference
from riskrank.engine.sampling.cluster_means import cluster_means
from riskrank.engine.types import Floats, Integers

FEWEST_SUCCESSES = 10
"""Of fewer the interval has no end in too many tables."""
_STEPS = 60


@dataclass(frozen=True, eq=False)
class Costs:
    """What each sample cost one model, and whether it succeeded.

    Attributes
    ----------
    costs, successes : ndarray, shape (n,)
        Costs at least 0; successes 0 or 1, or shares of these.
    units : ndarray of int, shape (n,)
        The unit each is drawn in, not decreasing, without gaps.
    """

    costs: Floats
    successes: Floats
    units: Integers

    @classmethod
    def of(cls, costs: Floats, successes: Floats, units: Integers) -> Costs:
        """Costs in the order of their units."""
        order = np.argsort(units, kind="stable")
        return cls(costs[order], successes[order], units[order])

    @property
    def enough(self) -> bool:
        """Whether there are successes enough to say anything."""
        return float(self.successes.sum()) >= FEWEST_SUCCESSES

    @property
    def per_success(self) -> float:
        """Cost per success."""
        return float(self.costs.sum() / self.successes.sum())

    @property
    def error(self) -> float:
        """Standard error of the cost per success."""
        return float(cluster_means(self.per_success * self.influence()[:, None], self.units).error[0])

    def interval(self, level: float) -> tuple[float, float]:
        """Ends at a two-sided level; infinite above where no cost is too high to be believed."""
        middle, far = self.per_success, 1e6 * self.per_success

        def below(bound: float) -> bool:
            return self.p_below(bound) > level / 2

        low, _ = bisected(lambda bound: self.p_above(bound) > level / 2, middle, 0.0, _STEPS)
        return low, np.inf if below(far) else bisected(below, middle, far, _STEPS)[0]

    def p_below(self, bound: float) -> float:
        """One-sided p-value of "the cost per success lies below the bound"."""
        return _p(self._beside(bound))

    def p_above(self, bound: float) -> float:
        """One-sided p-value of "it lies above"."""
        return _p(self._beside(bound).mirrored())

    def _beside(self, bound: float) -> MeanDifference:
        """Mean of what successes may cost less what they did."""
        return mean_difference((bound * self.successes, self.units), (self.costs, self.units), paired=True)

    def influence(self) -> Floats:
        """What each sample adds to the logarithm of the cost per success, less its mean."""
        return (self.costs - self.per_success * self.successes) / self.costs.mean()


def _p(one: MeanDifference) -> float:
    return max(one.student_p_value(), one.johnson_p_value())


def _at_boundary(
    new: Costs, old: Costs, times: float = 1.0, more: float = 0.0, *, paired: bool = True
) -> MeanDifference:
    """How far times · θ_old + more lies above θ_new, with its error where that is 0: one θ, made of both."""
    sides = new.successes.mean(), old.successes.mean()
    one = (old.costs.mean() + new.costs.mean() - more * sides[0]) / (sides[1] + times * sides[0])
    left = times * (old.costs - one * old.successes) / sides[1], old.units
    right = (new.costs - (times * one + more) * new.successes) / sides[0], new.units
    return mean_difference(left, right, paired=paired)


def p_cheaper(new: Costs, old: Costs, more: float = 0.0, *, paired: bool = True) -> float:
    """One-sided p-value of "a success costs less in new than in old, or at most so much more".

    Of log(θ_old + m) − log θ_new, for m < 0 of log θ_old − log(θ_new − m), which vary as the means of ψ's
    terms do, each times θ/(θ + m); and of the difference with its error at the boundary.

    Parameters
    ----------
    new, old : Costs
    more : float
        m in units of costs; below 0 a success has to cost so much less.
    paired : bool
        Whether unit u is the same for both.
    """
    apart, sides = 0.0, []
    for one, added, sign in ((old, max(more, 0.0), 1.0), (new, max(-more, 0.0), -1.0)):
        apart += sign * np.log(one.per_success + added)
        sides.append((one.influence() * one.per_success / (one.per_success + added), one.units))
    found = replace(mean_difference(*sides, paired=paired), estimate=float(apart))
    return max(_p(found), _p(_at_boundary(new, old, more=more, paired=paired)))


@dataclass(frozen=True, eq=False)
class CostRatios(Student):
    """Logarithms of θ_old/θ_new of pairs of models, on the same samples.

    Attributes
    ----------
    at_boundary : (ndarray, ndarray)
        P-values of "it lies above, and below, its boundary" with the error that holds there.
    """

    at_boundary: tuple[Floats, Floats] = field(kw_only=True)

    @property
    def mirrored(self) -> CostRatios:
        """The same of the other side."""
        above, below = self.at_boundary
        return replace(self, value=-self.value, skewness=-self.skewness, at_boundary=(below, above))

    def p_above(self, boundary: ArrayLike = 0.0) -> Floats:
        """The larger of both p-values; the boundary is the one they were made for."""
        return np.maximum(super().p_above(boundary), self.at_boundary[0])

    @classmethod
    def of(cls, pairs: Sequence[tuple[Costs, Costs]], boundary: Floats) -> CostRatios:
        """Of pairs of new and old; the claim is that θ_new lies below 1 less the boundary times θ_old."""
        found = []
        for (new, old), less in zip(pairs, boundary, strict=True):
            one = mean_difference((old.influence(), old.units), (new.influence(), new.units), paired=True)
            there = _at_boundary(new, old, 1 - less)
            apart = np.log(old.per_success / new.per_success)
            found.append((apart, one.error, one.samples - 1, one.skewness, _p(there), _p(there.mirrored())))
        *parts, above, below = np.array(found).T
        return cls(*parts, at_boundary=(above, below))

    @classmethod
    def of_all(cls, models: Sequence[Costs]) -> CostRatios:
        """Of all pairs of models, shape (k, k): how much less a success costs in the first."""
        k = len(models)
        pairs = [(new, old) for new in models for old in models]
        found = cls.of(pairs, np.zeros(k * k))
        parts = {name: getattr(found, name).reshape(k, k) for name in ("value", "error", "df", "skewness")}
        above, below = (one.reshape(k, k) for one in found.at_boundary)
        return cls(**parts, at_boundary=(above, below))


def relative_costs(pairs: Sequence[tuple[Costs, Costs]], boundary: Floats) -> Evidence:
    """What the samples say of "new costs so much less per success than old", as a share of the old.

    Parameters
    ----------
    pairs : sequence of (Costs, Costs)
        New and old, on the same samples.
    boundary : ndarray
        Below 1: the claim is that 1 − θ_new/θ_old lies above it.
    """
    found = CostRatios.of(pairs, boundary)
    plain = found.evidence(-np.log1p(-boundary), found.df + 1)

    def ends(level: float) -> tuple[Floats, Floats]:
        low, high = plain.ends(level)
        return -np.expm1(-low), -np.expm1(-high)

    return Evidence.of(
        -np.expm1(-found.value),
        plain.p_above,
        plain.p_below,
        error=np.exp(-found.value) * found.error,
        boundary=boundary,
        worth=plain.worth,
        ends=ends,
    )
