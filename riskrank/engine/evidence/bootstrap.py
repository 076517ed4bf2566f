"""Bootstrap evidence for differences in tail means, with one added sample (method §4, "Gates").

A claim states that the difference is above a boundary: −margin for "not worse", margin for "better". There
are two p-values per claim, one for either side of the boundary.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from riskrank.engine.evidence.evidence import Evidence
from riskrank.engine.sampling.degrees_of_freedom import expanded_p_value, unexpanded_p_value
from riskrank.engine.sampling.monte_carlo import SMALLEST, p_value_interval
from riskrank.engine.types import Floats

# Power at the reported number of samples needed, if the estimate is the true value.
POWER = 0.8

# Larger p-values are not significant and need no permutation test.
_RELABELLING_LEVEL = 0.1

# Larger numbers of samples count as infinite.
_MAX_SAMPLES = 1e12


@dataclass(frozen=True)
class ResampledDifference:
    """Estimate and bootstrap replicates of a difference about which a claim is made.

    Attributes
    ----------
    estimate : float
        Estimated difference; larger is better.
    boundary : float
        The claim is that the difference is above this value.
    samples : int
        Number of independent samples n.
    standard_error : float
        Bootstrap standard error of the estimate.
    p_above, p_below : float
        One-sided p-values for the claim "the difference is above the boundary" and for "it is below".
    low, high : ndarray, shape (B,), or None
        Sorted replicates for the lower and the upper limit of an interval; None before resampling.
    effective_size : float
        Effective number of samples for the small-sample correction.
    variance_floor : float
        Proportion of the variance that more samples cannot remove; 1 if unknown.
    mc_bounds : ndarray, shape (2, 2), or None
        Monte Carlo limits of `p_above` (row 0) and `p_below` (row 1).
    fewest : int
        Number of samples without which the claim cannot be decided.
    """

    estimate: float
    boundary: float
    samples: int
    standard_error: float = math.nan
    p_above: float = 1.0
    p_below: float = 1.0
    low: Floats | None = None
    high: Floats | None = None
    effective_size: float = 0
    variance_floor: float = 0.0
    mc_bounds: Floats | None = None
    fewest: int = 0

    def with_replicates(
        self,
        plain: Floats,
        against: Floats,
        in_favour: Floats,
        permutation_p_value: Callable[[int], float] | None = None,
    ) -> ResampledDifference:
        """Return a copy with bootstrap results: standard error, p-values and sorted replicates.

        Parameters
        ----------
        plain : ndarray, shape (B,)
            Replicates of the difference, used for its standard error.
        against, in_favour : ndarray, shape (B,)
            Replicates with one additional worst-case sample that counts against the claim, and one that
            supports it.
        permutation_p_value : callable, optional
            For tail differences between unpaired models: function that returns the p-value of a permutation
            test for "above" (1) or "below" (−1). If given, the replicates are also corrected for twice their
            bias.
        """
        boundary, size = self.boundary, self.effective_size
        count = len(plain)
        # Exponential weights of n scores spread a mean by √((n − 1)/(n + 1)) of its standard error.
        # Division by the largest replicate avoids overflow of squares.
        unit = float(np.abs(plain).max()) or 1.0
        deviation = unit * float((plain / unit).std(ddof=1))
        error = deviation * math.sqrt((self.samples + 1) / (self.samples - 1))
        if permutation_p_value is not None:
            bias = 2 * (float(plain.mean()) - self.estimate)
            against, in_favour = against - bias, in_favour - bias
        shares = (
            p_value_interval(int(np.count_nonzero(against <= boundary)), count),
            p_value_interval(int(np.count_nonzero(in_favour >= boundary)), count),
        )
        # One row per side: the p-value and its Monte Carlo limits.
        p_values = expanded_p_value(np.array(shares), size)
        p_values[np.array(shares) <= SMALLEST] = SMALLEST
        if permutation_p_value is not None:
            for row in np.flatnonzero(p_values[:, 0] <= _RELABELLING_LEVEL).tolist():
                exceedances = round(permutation_p_value(1 - 2 * row) * (count + 1)) - 1
                p_values[row] = np.maximum(p_values[row], p_value_interval(exceedances, count))
        above, below = p_values[:, 0].tolist()
        return replace(
            self,
            standard_error=error,
            p_above=above,
            p_below=below,
            low=np.sort(against),
            high=np.sort(in_favour),
            mc_bounds=p_values[:, 1:],
        )

    def interval(self, level: float) -> tuple[float, float]:
        """Return a confidence interval that is consistent with the p-values.

        It excludes the boundary if and only if a one-sided p-value is at most level/2. A limit is infinite if
        there are too few replicates, or if it is undetermined because of a heavy tail.
        """
        if self.low is None or self.high is None:
            return -math.inf, math.inf
        tail = float(unexpanded_p_value(level / 2, self.effective_size))
        index = math.floor(tail * (len(self.low) + 1) + 1e-9) - 1
        if index < 0:
            return -math.inf, math.inf
        low, high = float(self.low[index]), float(self.high[-1 - index])
        if self.p_above > level / 2:  # the permutation test has no interval
            low = min(low, self.boundary)
        return low, max(high, self.boundary) if self.p_below > level / 2 else high

    def samples_needed(self, level: float) -> float:
        """Return the number of samples needed to decide the claim at a two-sided level.

        See :func:`samples_needed`.
        """
        if self.samples < self.fewest:
            return self.fewest
        width = abs(self.estimate - self.interval(level)[self.estimate <= self.boundary])
        sizes = self.samples, self.variance_floor
        return samples_needed(self.estimate - self.boundary, self.standard_error, level, width, *sizes)


def samples_needed(
    distance: float,
    error: float,
    level: float,
    width: float,
    samples: int,
    irreducible: float = 0.0,
    max_samples: float = math.inf,
) -> float:
    """Return the number of samples needed to decide a claim with 80 % power if the estimate is correct.

    Parameters
    ----------
    distance : float
        Distance of the estimate from the boundary.
    error : float
        Standard error of the estimate.
    level : float
        Two-sided level of the claim.
    width : float
        Distance from the estimate to the confidence limit on the side of the boundary.
    samples : int
        Current number of samples.
    irreducible : float
        Proportion of the variance that more samples cannot remove.
    max_samples : float
        Largest number of samples that could be collected.

    Returns
    -------
    float
        Number of samples, rounded up and larger than the current one; infinite if no feasible number is
        enough. Based on a normal approximation. If the approximation would already decide an undecided claim
        (for example, if the models hardly differ), the number is computed from the width of the interval
        instead, which shrinks as 1/n.
    """
    distance = abs(distance)
    if distance == 0:
        return math.inf
    normal = NormalDist()
    # In large families the level may underflow.
    quantiles = -normal.inv_cdf(max(level / 2, 1e-300)) + normal.inv_cdf(POWER)
    ratio = quantiles * error / distance
    needed = samples * ratio * min(ratio, _MAX_SAMPLES)
    if irreducible:
        share = 1 / max(ratio, 1 / _MAX_SAMPLES) ** 2 - irreducible
        needed = samples * (1 - irreducible) / share if share > 0 else _MAX_SAMPLES * 2
    if needed <= samples and math.isfinite(width):
        needed = samples * width / distance
    return math.ceil(needed) if samples < needed <= min(max_samples, _MAX_SAMPLES) else math.inf


def bootstrap_evidence(claims: Sequence[ResampledDifference]) -> Evidence:
    """Collect estimates, p-values and intervals of several claims in arrays, one entry per claim.

    Each claim is given by its resampled difference.
    """

    def interval(level: float) -> tuple[Floats, Floats]:
        """Return the lower and upper confidence limits of all claims at a two-sided level."""
        low, high = zip(*(claim.interval(level) for claim in claims), strict=True)
        return np.array(low), np.array(high)

    bounds = [[[c.p_above] * 2, [c.p_below] * 2] if c.mc_bounds is None else c.mc_bounds for c in claims]
    return Evidence.build(
        [claim.estimate for claim in claims],
        [claim.p_above for claim in claims],
        [claim.p_below for claim in claims],
        error=[claim.standard_error for claim in claims],
        boundary=[claim.boundary for claim in claims],
        samples=[claim.samples for claim in claims],
        interval=interval,
        samples_needed=lambda level: np.array([claim.samples_needed(level) for claim in claims]),
        mc_bounds=np.array(bounds),
        resamples=max(0 if claim.low is None else len(claim.low) for claim in claims),
    )
