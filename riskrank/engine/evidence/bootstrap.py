"""A difference of means or tail means of two models, by replicates with one sample more (method §4, "Gates").

A claim says that the difference lies above a boundary: −margin for "not worse", the margin for "better". It
has two p-values, one for either side of the boundary.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from riskrank.engine.evidence.evidence import Evidence
from riskrank.engine.evidence.student import MeanDifference, Student
from riskrank.engine.sampling.degrees_of_freedom import Freedom, Widening, expanded_p_value, expanded_share
from riskrank.engine.sampling.monte_carlo import counted_share
from riskrank.engine.types import Floats

# Chance that the number of samples said to decide a claim does decide it, if the estimate is the truth.
POWER = 0.8

# Larger p-values decide nothing, and need no second opinion.
_DOUBTED = 0.1

# Numbers of samples nobody will ever have.
_MOST = 1e12


@dataclass(frozen=True)
class ResampledDifference:
    """What the samples say of one claim on a difference.

    Attributes
    ----------
    estimate : float
        The difference in the sample, larger is better.
    boundary : float
        The claim is that the difference lies above it.
    samples : int
        Independent samples n.
    standard_error : float
    p_above, p_below : float
        One-sided p-values: small if the difference is above, or below, the boundary.
    low, high : ndarray, shape (B,), or None
        Replicates sorted upwards, from which the ends of an interval are read; None where there is none.
    behind : float
        Samples the statistic rests on.
    modified : MeanDifference or None
        The same difference for Johnson's modified t, where the losses may have a heavy tail.
    kept : float
        Share of the variance that more samples like these leave; 1 where nobody knows.
    most : float
        Samples there can be.
    ordered : Student or None
        The same difference of samples in order.
    between : ndarray, shape (2, 2), or None
        Of "above" and of "below", between which p-values other replicates may count.
    """

    estimate: float
    boundary: float
    samples: int
    standard_error: float = math.nan
    p_above: float = 1.0
    p_below: float = 1.0
    low: Floats | None = None
    high: Floats | None = None
    behind: float | Freedom = 0
    modified: MeanDifference | None = None
    kept: float = 0.0
    most: float = math.inf
    ordered: Student | None = None
    between: Floats | None = None

    def counted(
        self,
        plain: Floats,
        against: Floats,
        in_favour: Floats,
        relabelled: Callable[[int], float] | None = None,
    ) -> ResampledDifference:
        """The same with its standard error, p-values and ends of intervals, by replicates.

        Parameters
        ----------
        plain : ndarray, shape (B,)
            Replicates of the difference, for its standard error.
        against, in_favour : ndarray, shape (B,)
            The same with one sample more, against the claim and for it.
        relabelled : callable, optional
            Of tails of models drawn apart: what relabelling says of "above" (1) and of "below" (−1). There
            replicates move back by twice what they are off on average.
        """
        boundary, behind, modified, ordered = self.boundary, self.behind, self.modified, self.ordered
        count = len(plain)
        # Exponential weights of n scores spread a mean by √((n − 1)/(n + 1)) of its standard error.
        # In units of the largest replicate, whose square may be beyond any number.
        largest = float(np.abs(plain).max()) or 1.0
        deviation = largest * float((plain / largest).std(ddof=1))
        if isinstance(behind, Freedom):
            spread = deviation * float(Widening.of(behind).widen)
        else:
            spread = deviation * math.sqrt((self.samples + 1) / (self.samples - 1))
        if relabelled is not None:
            off = 2 * (float(plain.mean()) - self.estimate)
            against, in_favour = against - off, in_favour - off
        shares = (
            counted_share(int(np.count_nonzero(against <= boundary)), count),
            counted_share(int(np.count_nonzero(in_favour >= boundary)), count),
        )
        # A row a side: the p-value, and the ends of what other replicates may count.
        p_values = expanded_p_value(np.array(shares), behind)
        if modified is not None:
            least = [modified.johnson_p_value(boundary), modified.mirrored().johnson_p_value(-boundary)]
            p_values = np.maximum(p_values, np.array(least)[:, None])
        if ordered is not None:
            least = [float(ordered.p_above(boundary)), float(ordered.mirrored.p_above(-boundary))]
            p_values = np.maximum(p_values, np.array(least)[:, None])
        if relabelled is not None:
            for row in np.flatnonzero(p_values[:, 0] <= _DOUBTED).tolist():
                beyond = round(relabelled(1 - 2 * row) * (count + 1)) - 1
                p_values[row] = np.maximum(p_values[row], counted_share(beyond, count))
        above, below = p_values[:, 0].tolist()
        return replace(
            self,
            standard_error=spread,
            p_above=above,
            p_below=below,
            low=np.sort(against),
            high=np.sort(in_favour),
            between=p_values[:, 1:],
        )

    def interval(self, level: float) -> tuple[float, float]:
        """Ends that leave out the boundary exactly where the p-value is at most the level.

        An end is infinite where the replicates are too few to say it, or where a heavy tail leaves it open.
        """
        if self.low is None or self.high is None:
            return -math.inf, math.inf
        beyond = math.floor(float(expanded_share(level / 2, self.behind)) * (len(self.low) + 1) + 1e-9) - 1
        if beyond < 0:
            return -math.inf, math.inf
        low, high = float(self.low[beyond]), float(self.high[-1 - beyond])
        if self.modified is not None:
            low = min(low, self.modified.johnson_low(level / 2))
            high = max(high, -self.modified.mirrored().johnson_low(level / 2))
        if self.ordered is not None:
            ends = self.ordered.interval(level, self.boundary)
            low, high = min(low, float(ends[0])), max(high, float(ends[1]))
        if self.p_above > level / 2:  # relabelling may say so, which has no interval of its own
            low = min(low, self.boundary)
        return low, max(high, self.boundary) if self.p_below > level / 2 else high

    def samples_needed(self, level: float) -> float:
        """Samples that decide a claim four times out of five, if the estimate is the truth.

        Parameters
        ----------
        level : float
            Two-sided level of the claim.

        Returns
        -------
        float
            Rounded up, more than there are; infinite where no number that there can be would do. By the
            normal approximation; where it takes the claim for decided, as for models that hardly differ, the
            one sample more of `caution` is what is wide, and it shrinks with 1/n.
        """
        distance = abs(self.estimate - self.boundary)
        if distance == 0:
            return math.inf
        normal = NormalDist()
        # For a strict family the level may be below what a normal quantile of a float can be taken at.
        width = -normal.inv_cdf(max(level / 2, 1e-300)) + normal.inv_cdf(POWER)
        times = width * self.standard_error / distance
        needed = self.samples * times * min(times, _MOST)
        if self.kept:
            left = 1 / max(times, 1 / _MOST) ** 2 - self.kept
            needed = self.samples * (1 - self.kept) / left if left > 0 else _MOST * 2
        end = self.interval(level)[self.estimate <= self.boundary]
        if needed <= self.samples and math.isfinite(end):
            needed = self.samples * abs(self.estimate - end) / distance
        return math.ceil(needed) if self.samples < needed <= min(self.most, _MOST) else math.inf


def of_replicates(claims: Sequence[ResampledDifference]) -> Evidence:
    """What replicates say of claims."""

    def ends(level: float) -> tuple[Floats, Floats]:
        low, high = zip(*(one.interval(level) for one in claims), strict=True)
        return np.array(low), np.array(high)

    known = ([[one.p_above] * 2, [one.p_below] * 2] if one.between is None else one.between for one in claims)
    return Evidence.of(
        [one.estimate for one in claims],
        [one.p_above for one in claims],
        [one.p_below for one in claims],
        error=[one.standard_error for one in claims],
        boundary=[one.boundary for one in claims],
        worth=[one.samples for one in claims],
        ends=ends,
        needed=lambda level: np.array([one.samples_needed(level) for one in claims]),
        between=np.array([*known]),
        resamples=max(0 if one.low is None else len(one.low) for one in claims),
    )
