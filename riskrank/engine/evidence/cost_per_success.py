"""Cost per success, θ = Σ costs / Σ successes, of a single model or of two models (method §18).

With cost c and success s of a sample, "θ is below θ₀" is a claim about the mean of θ₀s − c. The interval for
θ contains all θ₀ for which neither side is significant, by the larger of Student's and Johnson's p-values.
For two models, the logarithm of the ratio varies like the mean of ψ = (c_A − θ_A s_A)/c̄_A − (c_B − θ_B
s_B)/c̄_B. A few huge costs increase both θ and this standard error, which makes it look certain that the
other model is cheaper. The difference is therefore also tested with its standard error under the null
hypothesis, where both models have the same θ. The largest p-value is used.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from riskrank.engine.evidence.student import Student, mean_difference
from riskrank.engine.numeric import bisect
from riskrank.engine.sampling.variance_components import cluster_means
from riskrank.engine.types import Floats, Integers

# With fewer successes the interval is too often unbounded.
MIN_SUCCESSES = 10
_STEPS = 60


@dataclass(frozen=True, eq=False)
class Costs:
    """Costs and successes of one model by sample.

    Attributes
    ----------
    costs, successes : ndarray, shape (n,)
        Costs are non-negative; successes are 0 or 1, or proportions in between.
    units : ndarray of int, shape (n,)
        Resampling unit of each sample; non-decreasing integers without gaps.
    """

    costs: Floats
    successes: Floats
    units: Integers

    @classmethod
    def from_rows(cls, costs: Floats, successes: Floats, units: Integers) -> Costs:
        """Create the costs and successes of one model from rows in any order; they are sorted by unit."""
        order = np.argsort(units, kind="stable")
        return cls(costs[order], successes[order], units[order])

    @property
    def has_enough_successes(self) -> bool:
        """True if there are at least :data:`MIN_SUCCESSES` successes."""
        return float(self.successes.sum()) >= MIN_SUCCESSES

    @property
    def per_success(self) -> float:
        """Total cost divided by the total number of successes."""
        return float(self.costs.sum() / self.successes.sum())

    @property
    def error(self) -> float:
        """Standard error of the cost per success, from the influence of each sample."""
        return float(cluster_means(self.per_success * self.influence()[:, None], self.units).error[0])

    def interval(self, level: float) -> tuple[float, float]:
        """Return the confidence limits at a two-sided level; the upper limit is infinite if unbounded."""
        estimate, largest = self.per_success, 1e6 * self.per_success

        def is_possible(bound: float) -> bool:
            """Return True if the confidence interval contains a cost per success of `bound`."""
            return self.p_below(bound) > level / 2

        low, _ = bisect(lambda bound: self.p_above(bound) > level / 2, estimate, 0.0, _STEPS)
        return low, np.inf if is_possible(largest) else bisect(is_possible, estimate, largest, _STEPS)[0]

    def p_below(self, bound: float) -> float:
        """Return the one-sided p-value for the claim that the cost per success is below the bound."""
        return float(self._mean_slack(bound).p_above())

    def p_above(self, bound: float) -> float:
        """Return the one-sided p-value for the claim that the cost per success is above the bound."""
        return float(self._mean_slack(bound).mirrored.p_above())

    def _mean_slack(self, bound: float) -> Student:
        """Return the mean of bound · success − cost, with its standard error.

        The mean is positive if and only if the cost per success is below the bound.
        """
        return mean_difference((bound * self.successes, self.units), (self.costs, self.units), paired=True)

    def influence(self) -> Floats:
        """Return the influence of each sample on log(cost per success), shape (samples,)."""
        return (self.costs - self.per_success * self.successes) / self.costs.mean()


def p_value_cheaper(new: Costs, old: Costs, margin: float = 0.0, *, paired: bool = True) -> float:
    """Return the one-sided p-value for the claim that `new` costs less per success than `old`.

    With a margin m, the claim is θ_new < θ_old + m. The statistic is log(θ_old + m) − log θ_new or, for m <
    0, log θ_old − log(θ_new − m). The logarithm log(θ + m) has the influence function of log θ, multiplied by
    θ/(θ + m). The result is at least the p-value based on the standard error under the null hypothesis.

    Parameters
    ----------
    new, old : Costs
        Costs and successes of both models.
    margin : float
        Margin m in cost units; if negative, new must be cheaper by this amount.
    paired : bool
        True if both models share their resampling units.
    """
    estimate, sides = 0.0, []
    for model, added, sign in ((old, max(margin, 0.0), 1.0), (new, max(-margin, 0.0), -1.0)):
        estimate += sign * np.log(model.per_success + added)
        sides.append((model.influence() * model.per_success / (model.per_success + added), model.units))
    difference = replace(mean_difference(*sides, paired=paired), value=np.array(estimate))
    # Under the null hypothesis, θ_old + m = θ_new, so a single θ is estimated from both models.
    rates = new.successes.mean(), old.successes.mean()
    theta = (old.costs.mean() + new.costs.mean() - margin * rates[0]) / (rates[1] + rates[0])
    scaled_old = (old.costs - theta * old.successes) / rates[1], old.units
    scaled_new = (new.costs - (theta + margin) * new.successes) / rates[0], new.units
    null_difference = mean_difference(scaled_old, scaled_new, paired=paired)
    return float(max(difference.p_above(), null_difference.p_above()))
