"""How much slack the strict rows of a preference system must have."""

from __future__ import annotations

from dataclasses import dataclass

from riskrank.errors import InputError, UsageError

# Optima closer than this are equal, and what is above minus this counts as nonnegative.
RESOLUTION = 1e-9


@dataclass(frozen=True)
class Threshold:
    """How much slack the strict rows of a preference system must have.

    Attributes
    ----------
    delta : float
        The slack itself, [GSD] Definition 3.
    share : float or None
        Instead of ``delta``: a share of the largest common slack that all strict rows can have.
    on : {"r1", "r1+r2"}
        The strict rows meant; a share always means both.

    Raises
    ------
    UsageError
        On a negative slack, a share outside [0, 1], or both.
    """

    delta: float = 0.0
    share: float | None = None
    on: str = "r1"

    def __post_init__(self) -> None:
        if self.share is not None and not 0 <= self.share <= 1:
            raise UsageError(
                "the regularization is a share of the largest slack",
                found=f"{self.share:g}",
                hint="give a number from 0 to 1",
            )
        if not self.delta >= 0:
            raise UsageError(
                "the threshold delta is a difference of utilities",
                found=f"{self.delta:g}",
                hint="give a number from 0 to delta_max, which the relation reports",
            )

    def __str__(self) -> str:
        return f"δ = {self.delta:g}" if self.share is None else f"δ = {self.share:g} ξ"

    @property
    def rows(self) -> str:
        """The strict rows that get the slack."""
        return self.on if self.share is None else "r1+r2"

    def resolve(self, largest: float) -> float:
        """The slack, given the largest one there can be.

        Raises
        ------
        InputError
            If no utility has so much slack.
        """
        if self.share is not None:
            return self.share * largest
        if self.delta > largest + RESOLUTION:
            raise InputError(
                "no utility respects so large a threshold",
                found=f"delta {self.delta:g}, delta_max {largest:.6g}",
                hint=f"choose delta from 0 to {largest:.6g}",
            )
        return min(self.delta, largest)
