"""A claim at its worst both ways: what is missing speaks against it, then for it (method §11).

Whatever the missing scores are, they lie within their bounds, and so does the difference between two fills:
the new model's gaps at the worst end and the old one's at the best, and the reverse (Manski 1990). A claim is
shown only if it is with the first fill, and refuted only if it is with the second; its one-sided p-values are
at least those of any other fill, so that the correction for many claims holds as it stands.

References
----------
C. F. Manski (1990). Nonparametric bounds on treatment effects. The American Economic Review 80(2), 319-323.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from riskrank.engine.evidence.bets import AnytimeEvidence
from riskrank.engine.evidence.evidence import SingleClaim


@dataclass(frozen=True, eq=False)
class EitherWay:
    """What the samples say of one claim, whatever the missing ones are.

    Attributes
    ----------
    against : SingleClaim
        With what is missing against the claim.
    in_favour : SingleClaim
        With what is missing in favour of it.
    """

    against: SingleClaim
    in_favour: SingleClaim

    @property
    def ends(self) -> tuple[float, float]:
        """Least and largest difference there can be in the sample."""
        return self.against.estimate, self.in_favour.estimate

    @property
    def estimate(self) -> float:
        """Middle of the differences there can be."""
        low, high = self.ends
        return low + (high - low) / 2

    @property
    def boundary(self) -> float:
        """The claim is that the difference lies above it."""
        return self.against.boundary

    @property
    def standard_error(self) -> float:
        """The larger one."""
        return max(self.against.standard_error, self.in_favour.standard_error)

    @property
    def samples(self) -> int:
        """Independent samples n."""
        return self.against.samples

    @property
    def p_above(self) -> float:
        """Largest p-value that is small if the difference lies above the boundary."""
        return self.against.p_above

    @property
    def p_below(self) -> float:
        """Largest p-value that is small if the difference lies below the boundary."""
        return self.in_favour.p_below

    @property
    def e_value(self) -> float | None:
        """DifferenceEvidence for the side that has more, of bets."""
        if isinstance(self.against, AnytimeEvidence) and isinstance(self.in_favour, AnytimeEvidence):
            return math.exp(min(max(self.against.log_e_above, self.in_favour.log_e_below), math.log(1e300)))
        return None

    def interval(self, level: float) -> tuple[float, float]:
        """From the low end of the one fill to the high end of the other."""
        return self.against.interval(level)[0], self.in_favour.interval(level)[1]

    def samples_needed(self, level: float) -> float:
        """Samples that would decide the claim; infinite where it hangs on what is missing."""
        low, high = self.ends
        if low <= self.boundary <= high:
            return math.inf
        side = self.against if low > self.boundary else self.in_favour
        return side.samples_needed(level)
