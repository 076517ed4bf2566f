"""Three answers to a family of claims: shown, refuted, or neither (method §4, "Gates").

A claim says that a difference lies above a boundary: −margin for "not worse", the margin for "better". It
has two p-values, one for either side of the boundary; twice the smaller one is that of the claim. The family
is all claims, whichever their statistic, metric or group. A claim whose adjusted p-value is at most α is
decided, by the side that its evidence lies on; every other claim is neither shown nor refuted, which is no
pass.

Intervals are Bonferroni's, which hold for all claims together with probability at least 1 − α. Where Holm's
correction decides a claim and Bonferroni's would not, the interval ends at the boundary, so that an interval
lies wholly on one side exactly if the claim is decided (Strassburger and Bretz 2008).

References
----------
K. Strassburger and F. Bretz (2008). Compatible simultaneous lower confidence bounds for the Holm procedure
and other Bonferroni-based closed tests. Statistics in Medicine 27(24), 4914-4927. doi:10.1002/sim.3338
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Protocol

import numpy as np

from riskrank.engine.sampling.expanded_percentile import expanded_p_value, expanded_share
from riskrank.engine.sampling.freedom import Freedom
from riskrank.engine.sampling.modified_t import MeanDifference
from riskrank.engine.sampling.multiplicity import adjust
from riskrank.engine.types import Floats

# Chance that the number of samples said to decide a claim does decide it, if the estimate is the truth.
POWER = 0.8

# Numbers of samples nobody will ever have.
_MOST = 1e12


@dataclass(frozen=True)
class DifferenceEvidence:
    """What the samples say of one claim.

    Attributes
    ----------
    estimate : float
        The difference in the sample, larger is better.
    boundary : float
        The claim is that the difference lies above it.
    standard_error : float
    samples : int
        Independent samples n.
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
    """

    estimate: float
    boundary: float
    standard_error: float
    samples: int
    p_above: float
    p_below: float
    low: Floats | None = None
    high: Floats | None = None
    behind: float | Freedom = 0
    modified: MeanDifference | None = None
    kept: float = 0.0
    most: float = math.inf

    @classmethod
    def of_replicates(
        cls,
        estimate: float,
        boundary: float,
        *,
        plain: Floats,
        against: Floats,
        in_favour: Floats,
        samples: int,
        behind: float | Freedom,
        modified: MeanDifference | None = None,
        kept: float = 0.0,
        most: float = math.inf,
    ) -> DifferenceEvidence:
        """Count replicates beyond the boundary.

        Parameters
        ----------
        estimate, boundary, samples, behind, modified, kept, most
            As the attributes.
        plain : ndarray, shape (B,)
            Replicates of the difference, for its standard error.
        against, in_favour : ndarray, shape (B,)
            The same with one sample more, against the claim and for it.
        """
        count = len(plain)
        # Exponential weights of n scores spread a mean by √((n − 1)/(n + 1)) of its standard error.
        # In units of the largest replicate, whose square may be beyond any number.
        largest = float(np.abs(plain).max()) or 1.0
        deviation = largest * float((plain / largest).std(ddof=1))
        if isinstance(behind, Freedom):
            spread = deviation * float(behind.widen)
        else:
            spread = deviation * math.sqrt((samples + 1) / (samples - 1))
        shares = (
            (1 + np.count_nonzero(against <= boundary)) / (count + 1),
            (1 + np.count_nonzero(in_favour >= boundary)) / (count + 1),
        )
        above, below = (float(p) for p in expanded_p_value(np.array(shares), behind))
        if modified is not None:
            above = max(above, modified.johnson_p_value(boundary))
            below = max(below, modified.mirrored().johnson_p_value(-boundary))
        ends = np.sort(against), np.sort(in_favour)
        return cls(estimate, boundary, spread, samples, above, below, *ends, behind, modified, kept, most)

    @property
    def p_value(self) -> float:
        """Two-sided p-value of "the difference is at its boundary"."""
        return min(1.0, 2 * min(self.p_above, self.p_below))

    def interval(self, level: float) -> tuple[float | None, float | None]:
        """Ends that leave out the boundary exactly where the p-value is at most the level.

        An end is None where the replicates are too few to say it, or where a heavy tail leaves it open.
        """
        if self.low is None or self.high is None:
            return None, None
        beyond = math.floor(float(expanded_share(level / 2, self.behind)) * (len(self.low) + 1) + 1e-9) - 1
        if beyond < 0:
            return None, None
        low, high = float(self.low[beyond]), float(self.high[-1 - beyond])
        if self.modified is not None:
            low = min(low, self.modified.johnson_low(level / 2))
            high = max(high, -self.modified.mirrored().johnson_low(level / 2))
        return (low if np.isfinite(low) else None), (high if np.isfinite(high) else None)

    def samples_needed(self, level: float, interval: tuple[float | None, float | None]) -> int | None:
        """Samples that decide a claim four times out of five, if the estimate is the truth.

        Parameters
        ----------
        level : float
            Two-sided level of the claim.
        interval : (float, float)
            Its ends at that level, if known.

        Returns
        -------
        int or None
            Rounded up, more than there are; None where no number that there can be would do. By the normal
            approximation; where it takes the claim for decided, as for models that hardly differ, the one
            sample more of `caution` is what is wide, and it shrinks with 1/n.
        """
        distance = abs(self.estimate - self.boundary)
        if distance == 0:
            return None
        normal = NormalDist()
        # For a strict family the level may be below what a normal quantile of a float can be taken at.
        width = -normal.inv_cdf(max(level / 2, 1e-300)) + normal.inv_cdf(POWER)
        times = width * self.standard_error / distance
        needed = self.samples * times * min(times, _MOST)
        if self.kept:
            left = 1 / max(times, 1 / _MOST) ** 2 - self.kept
            needed = self.samples * (1 - self.kept) / left if left > 0 else _MOST * 2
        end = interval[0] if self.estimate > self.boundary else interval[1]
        if needed <= self.samples and end is not None:
            needed = self.samples * abs(self.estimate - end) / distance
        return math.ceil(needed) if self.samples < needed <= min(self.most, _MOST) else None


class Decidable(Protocol):
    """What :func:`answers` asks of the evidence for a claim, however it was found."""

    @property
    def estimate(self) -> float:
        """Difference in the sample, larger is better."""
        ...

    @property
    def boundary(self) -> float:
        """The claim is that the difference lies above it."""
        ...

    @property
    def standard_error(self) -> float:
        """Of the estimate, for its digits."""
        ...

    @property
    def samples(self) -> int:
        """Independent samples n."""
        ...

    @property
    def p_above(self) -> float:
        """One-sided, small if the difference lies above the boundary."""
        ...

    @property
    def p_below(self) -> float:
        """One-sided, small if it lies below."""
        ...

    @property
    def p_value(self) -> float:
        """Two-sided."""
        ...

    def interval(self, level: float) -> tuple[float | None, float | None]:
        """Ends that leave out the boundary exactly where the p-value is at most the level."""
        ...

    def samples_needed(self, level: float, interval: tuple[float | None, float | None]) -> int | None:
        """Samples that would decide the claim; None where no number would do."""
        ...


@dataclass(frozen=True)
class Answer:
    """The answer to one claim.

    Attributes
    ----------
    side : int
        1 if the difference is shown to lie above its boundary, −1 below, 0 if neither is shown.
    p_value, p_adjusted : float
        Two-sided.
    low, high : float or None
        Interval that holds for all claims together.
    samples_needed : int or None
        Samples at which a claim that is not decided would be, four times out of five, by the normal
        approximation and if the estimate is the truth; None where it is decided, or no number would do.
    """

    side: int
    p_value: float
    p_adjusted: float
    low: float | None
    high: float | None
    samples_needed: int | None


def answers(family: Sequence[Decidable], *, alpha: float = 0.05, correction: str = "holm") -> list[Answer]:
    """Decide a family of claims.

    Parameters
    ----------
    family : sequence of Decidable
    alpha : float
        Level of the whole family.
    correction : str
        See :func:`riskrank.engine.sampling.multiplicity.adjust`.

    Returns
    -------
    list of Answer
    """
    p_values = [one.p_value for one in family]
    adjusted = adjust(p_values, correction)
    count = 1 if correction == "none" else len(family)
    # Of m claims of which r are significant, Benjamini and Hochberg's intervals are at r·α/m.
    kept = max(int(np.count_nonzero(adjusted <= alpha)), 1) if correction == "bh" else 1
    level = alpha * kept / count if count else alpha
    found = []
    for one, p_value, p_adjusted in zip(family, p_values, adjusted, strict=True):
        side = 0
        if p_adjusted <= alpha:
            side = 1 if one.p_above < one.p_below else -1
        low, high = one.interval(level)
        if side > 0 and low is not None:
            low = max(low, one.boundary)
        if side < 0 and high is not None:
            high = min(high, one.boundary)
        needed = None if side else one.samples_needed(level, (low, high))
        found.append(Answer(side, p_value, float(p_adjusted), low, high, needed))
    return found
