"""Cost per success, θ = Σ costs / Σ successes, of one model and of two (method §18).

"θ lies below θ₀" is a claim on the mean of θ₀s − c, and the interval of θ is where neither side of it is
shown: by Student's and Johnson's t, the larger p-value. Of two models the logarithm of the ratio varies as
the mean of ψ = (c_A − θ_A s_A)/c̄_A − (c_B − θ_B s_B)/c̄_B does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from riskrank.engine.evidence.evidence import Evidence
from riskrank.engine.evidence.johnson import MeanDifference, mean_difference
from riskrank.engine.evidence.student import Student
from riskrank.engine.types import Floats, Integers

FEWEST_SUCCESSES = 10
"""Of fewer the interval has no end in too many tables."""
_STEPS = 40


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

    def interval(self, level: float) -> tuple[float, float]:
        """Ends at a two-sided level; infinite above where no cost is too high to be believed."""
        middle = self.per_success

        def end(believed: Callable[[float], bool], far: float) -> float:
            near = middle
            for _ in range(_STEPS):
                half = (near + far) / 2
                near, far = (half, far) if believed(half) else (near, half)
            return near

        def below(bound: float) -> bool:
            return self.p_below(bound) > level / 2

        high = 2 * middle
        while below(high) and high < 1e6 * middle:
            high *= 2
        low = end(lambda bound: self.p_above(bound) > level / 2, 0.0)
        return low, np.inf if below(high) else end(below, high)

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


def p_cheaper(new: Costs, old: Costs, more: float = 0.0, *, paired: bool = True) -> float:
    """One-sided p-value of "a success costs less in new than in old, or at most so much more".

    Of log(θ_old + m) − log θ_new, for m < 0 of log θ_old − log(θ_new − m), which vary as the means of ψ's
    terms do, each times θ/(θ + m).

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
    found = mean_difference(*sides, paired=paired)
    return replace(found, estimate=float(apart)).student_p_value()


def relative_costs(pairs: Sequence[tuple[Costs, Costs]], boundary: Floats) -> Evidence:
    """What the samples say of "new costs so much less per success than old", as a share of the old.

    Parameters
    ----------
    pairs : sequence of (Costs, Costs)
        New and old, on the same samples.
    boundary : ndarray
        Below 1: the claim is that 1 − θ_new/θ_old lies above it.
    """
    logs, errors, worth = np.empty((3, len(pairs)))
    for at, (new, old) in enumerate(pairs):
        sides = tuple((one.influence(), one.units) for one in (new, old))
        apart = mean_difference(*sides, paired=True)
        logs[at] = np.log(old.per_success / new.per_success)
        errors[at], worth[at] = apart.error, apart.samples
    found = Student(logs, errors, worth - 1)
    plain = found.evidence(-np.log1p(-boundary), worth)

    def ends(level: float) -> tuple[Floats, Floats]:
        low, high = plain.ends(level)
        return -np.expm1(-low), -np.expm1(-high)

    return Evidence.of(
        -np.expm1(-logs),
        plain.p_above,
        plain.p_below,
        error=np.exp(-logs) * errors,
        boundary=boundary,
        worth=worth,
        ends=ends,
    )
