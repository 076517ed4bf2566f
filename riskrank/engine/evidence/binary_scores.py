"""Differences of two success rates: score tests, their limits, and mid-p values (method §4, "Binary scores").

The p-value is the larger one of the score test and, if the claimed difference is 0, of the mid-p value of the
exact test. The score test alone is too liberal for unequal sample sizes; the exact test is too conservative.
Paired models are compared by Tango's score test, which is McNemar's without a margin. For unpaired models, it
is that of Miettinen and Nurminen. The interval of a single rate is Wilson's.

References
----------
T. Tango (1998). Equivalence test and confidence interval for the difference in proportions for the
paired-sample design. Statistics in Medicine 17(8), 891-908.
doi:10.1002/(SICI)1097-0258(19980430)17:8<891::AID-SIM780>3.0.CO;2-B
O. Miettinen, M. Nurminen (1985). Comparative analysis of two rates. Statistics in Medicine 4(2), 213-226.
doi:10.1002/sim.4780040211
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riskrank.engine import special
from riskrank.engine.bisection import bisect
from riskrank.engine.types import Floats

# Steps of the bisection for a limit.
_STEPS = 50


@dataclass(frozen=True, eq=False)
class SuccessCounts:
    """Counts from which the difference of two success rates is estimated.

    Attributes
    ----------
    first, second : float
        For paired models, the numbers of samples on which only the first model succeeds and on which only the
        second does. For unpaired models, the number of successes of each.
    sizes : (float, float)
        Number of samples of each model; 0 for the second one if there is only one model.
    paired : bool
        True if both models share their samples.
    """

    first: float
    second: float
    sizes: tuple[float, float]
    paired: bool

    @property
    def estimate(self) -> float:
        """Difference of the success rates, first minus second model; the rate itself for a single model."""
        return self.first / self.sizes[0] - (self.second / self.sizes[1] if self.sizes[1] else 0.0)

    def p_value(self, difference: float = 0.0, sign: int = 1) -> float:
        """Return the one-sided p-value for the claim that the true difference exceeds `difference`.

        If `sign` is −1, the claim is that the true difference is smaller.
        """
        p_value = float(special.ndtr(-sign * self._score_statistic(difference)))
        return p_value if difference or not self.sizes[1] else max(p_value, self._mid_p_value(sign))

    @property
    def two_sided_p_value(self) -> float:
        """P-value for the null hypothesis of equal rates."""
        return min(1.0, 2 * min(self.p_value(sign=1), self.p_value(sign=-1)))

    def interval(self, level: float) -> tuple[float, float]:
        """Return the confidence limits at a two-sided level.

        The interval excludes 0 if and only if the p-value for a difference of 0 is at most the level. Limits
        of the opposite difference are the same to the last digit.
        """
        if self.sizes[1] and (self.first, self.sizes[0]) < (self.second, self.sizes[1]):
            low, high = SuccessCounts(self.second, self.first, self.sizes[::-1], self.paired).interval(level)
            return 0.0 - high, 0.0 - low
        low, high = self._score_limit(level, -1), self._score_limit(level, 1)
        if self.p_value(sign=1) > level / 2:
            low = min(low, 0.0)
        return low, max(high, 0.0) if self.p_value(sign=-1) > level / 2 else high

    def _score_limit(self, level: float, sign: int) -> float:
        """Return the largest difference that the score test does not reject at a two-sided level.

        If `sign` is −1 instead of 1, return the smallest one.
        """
        target = -float(special.ndtri(level / 2))
        return bisect(
            lambda bound: -sign * self._score_statistic(bound) <= target, self.estimate, float(sign), _STEPS
        )[1]

    def _score_statistic(self, difference: float) -> float:
        """Return the score statistic for a hypothetical difference of success rates.

        It is asymptotically standard normal if this is the true difference.
        """
        distance = self.estimate - difference
        if distance == 0:
            return 0.0
        if not self.sizes[1]:
            variance = difference * (1 - difference) / self.sizes[0]
        else:
            variance = (self._paired_variance if self.paired else self._unpaired_variance)(difference)
        return float(np.sign(distance) * np.inf) if variance <= 0 else float(distance / np.sqrt(variance))

    def _paired_variance(self, difference: float) -> float:
        """Return Tango's variance estimate, given the true `difference` of the rates."""
        n, (wins, losses) = self.sizes[0], (self.first, self.second)
        b = (2 * n - wins + losses) * difference - wins - losses
        c = -losses * difference * (1 - difference)
        lost = (np.sqrt(max(b * b - 8 * n * c, 0.0)) - b) / (4 * n)
        return float((2 * lost + difference * (1 - difference)) / n)

    def _unpaired_variance(self, difference: float) -> float:
        """Return the variance estimate of Miettinen and Nurminen, given the true difference."""
        (n, m), total, successes = self.sizes, sum(self.sizes), self.first + self.second
        # Cubic equation for the rate of the second model.
        a = ((n + 2 * m) * difference - total - successes) / (3 * total)
        b = (m * difference * difference - (total + 2 * self.second) * difference + successes) / total
        c = self.second * difference * (1 - difference) / total
        q = a**3 - a * b / 2 + c / 2
        p = np.copysign(np.sqrt(max(a * a - b / 3, 0.0)), q)
        angle = (np.pi + np.arccos(np.clip(q / p**3 if p else 0.0, -1.0, 1.0))) / 3
        rate = np.clip(2 * p * np.cos(angle) - a, max(0.0, -difference), min(1.0, 1 - difference))
        other = rate + difference
        return float((other * (1 - other) / n + rate * (1 - rate) / m) * total / (total - 1))

    def _mid_p_value(self, sign: int) -> float:
        """Return the one-sided mid-p value of the exact test for equal success rates.

        The alternative is that the first rate is larger, or smaller if `sign` is −1.
        """
        counts, sizes = (self.first, self.second)[::sign], self.sizes[::sign]
        at_least = [counts[0] + 1, counts[0]]
        if self.paired:  # McNemar's exact test
            total = sum(counts)
            tails = [special.betainc(max(k, 1e-300), total - k + 1, 0.5) for k in at_least if k <= total]
        else:  # Fisher's exact test
            tails = [_hypergeometric_tail(k, sum(counts), sizes) for k in at_least]
        return float(sum(tails) / 2)


def _hypergeometric_tail(fewest: float, successes: float, sizes: tuple[float, ...]) -> float:
    """Return the probability that the first of two samples has at least `fewest` of all successes.

    `successes` is the number of successes in both samples together, and `sizes` holds the two sample sizes.
    """
    n, m = sizes
    counts = np.arange(max(fewest, successes - m), min(n, successes) + 1)

    def log_choose(size: float, chosen: Floats | float) -> Floats:
        """Return the logarithm of the binomial coefficient of `size` over `chosen`."""
        return -np.log1p(size) - special.betaln(size - chosen + 1, np.asarray(chosen) + 1)

    logs = log_choose(n, counts) + log_choose(m, successes - counts) - log_choose(n + m, successes)
    return float(np.exp(logs).sum())
