"""What ``power`` finds: a row a size, and the size that has the power wanted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from riskrank.engine.power.study import PowerStudy
from riskrank.studies.document import Document, entries
from riskrank.studies.runs import RunsSplit


@dataclass(frozen=True, slots=True)
class PowerRow:
    """Power at one size; where there are several pairs, ``claim`` "all" is all of them at once."""

    metric: str | None
    claim: str
    winner: str | None
    loser: str | None
    order: int
    test: str
    threshold: float
    violation_ratio: float | None
    size: int
    power: float
    standard_error: float


@dataclass(frozen=True, kw_only=True)
class PowerDocument(Document[PowerRow]):
    """Power by size, and the size the target needs.

    Attributes
    ----------
    study : PowerStudy
    metric : str or None
        Column of the pilot's scores; None where distributions were planned with.
    split : RunsSplit or None
        Variance of the pilot's means between and within samples, where it has repeats.
    """

    schema: ClassVar[str] = "power"
    row_type: ClassVar[type] = PowerRow

    study: PowerStudy
    metric: str | None
    split: RunsSplit | None = None

    def meta(self) -> Mapping[str, Any]:
        """The size the target needs, and what was simulated to find it."""
        required, interval = self.study.required, self.study.interval
        return {
            "required_size": {
                "size": required.size,
                "of": self.study.plan.unit,
                "size_low": None if interval is None else interval.low,
                "size_high": None if interval is None else interval.high,
                "size_level": None if interval is None else interval.level,
                **entries(required, "target", "power", "standard_error", "confirmed"),
                "endless_samples": self.study.endless,
                "tried": [
                    {"size": size, "power": power}
                    for size, power in zip(required.sizes.tolist(), required.powers.tolist(), strict=True)
                ],
            },
            "variance": [] if self.split is None else self.split.described(self.provenance.models),
        }
