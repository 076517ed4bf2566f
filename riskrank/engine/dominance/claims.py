"""What a test of dominance claims about a pair of models (method §4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from riskrank.engine.dominance.violation import one_versus_all
from riskrank.engine.types import Floats
from riskrank.errors import UsageError

# [RAB] section 5 reports absolute tests at these thresholds.
PAPER_THRESHOLDS = (0.08, 0.25, 0.4)

DIRECT, ABSOLUTE, RELATIVE = "direct", "absolute", "relative"
KINDS = (DIRECT, ABSOLUTE, RELATIVE)


@dataclass(frozen=True)
class Claim:
    """What a test asks about "i dominates j".

    Attributes
    ----------
    order : {1, 2}
        Order of stochastic dominance.
    kind : {"direct", "absolute", "relative"}
        Direct: i violates dominance less than j does, ε_ij < ½, whoever else is in the table. Absolute:
        ε_ij < τ. Relative: i violates dominance over the field less than j does, ε_i < ε_j.
    threshold : float or None
        Largest violation ratio τ of absolute dominance; None for the other kinds.
    """

    order: int
    kind: str = RELATIVE
    threshold: float | None = None

    def __post_init__(self) -> None:
        if self.threshold is not None and not 0 < self.threshold < 1:
            raise UsageError(
                "a threshold of almost dominance lies between 0 and 1",
                found=f"{self.threshold:g}",
                hint="the usual thresholds are 0.08, 0.25 and 0.4; at 0.5 or above both models may dominate",
            )

    @property
    def boundary(self) -> float:
        """Value the statistic must stay below: τ, ½ for direct dominance, 0 for relative."""
        if self.threshold is not None:
            return self.threshold
        return 0.5 if self.kind == DIRECT else 0.0

    @property
    def method(self) -> str:
        """Name of the claim's ranking as [RAB] writes it: ``R-SSD``, ``FSD(0.25)``."""
        order = "FSD" if self.order == 1 else "SSD"
        return f"R-{order}" if self.kind == RELATIVE else f"{order}({self.boundary:g})"

    def statistic(self, ratios: Floats) -> Floats:
        """Test statistic of every ordered pair from its violation ratios, shape (..., k, k)."""
        if self.kind != RELATIVE:
            return ratios
        overall = one_versus_all(ratios)
        return overall[..., :, None] - overall[..., None, :]


def claims(
    orders: Sequence[int], *, relative: bool, thresholds: Sequence[float], direct: bool = False
) -> tuple[Claim, ...]:
    """All claims of a run: relative ones first, then direct ones, then absolute ones by threshold."""
    found = [Claim(order, RELATIVE) for order in orders] if relative else []
    found += [Claim(order, DIRECT) for order in orders] if direct else []
    found += [Claim(order, ABSOLUTE, float(tau)) for order in orders for tau in thresholds]
    return tuple(found)
