"""What ``power`` finds: a row a size, and the size that has the power wanted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from riskrank.engine.power.study import PowerStudy
from riskrank.studies.document import Document, of
from riskrank.studies.power.planned import size_found
from riskrank.studies.runs import RunsSplit


@dataclass(frozen=True, slots=True)
class PowerRow:
    """Power at one size; where there are several pairs, ``claim`` "all" is all of them at once."""

    metric: str | None = of(lambda metric: metric)
    claim: str = of(lambda pair: "all" if pair is None else "pair")
    winner: str | None = of(lambda models, pair: pair and models[pair[0]])
    loser: str | None = of(lambda models, pair: pair and models[pair[1]])
    order: int = of(lambda study: study.plan.claim.order)
    test: str = of(lambda study: study.plan.claim.kind)
    threshold: float = of(lambda study: study.plan.claim.boundary)
    violation_ratio: float | None = of(lambda study, pair: pair and float(study.plan.reference.ratios[pair]))
    size: int = of(lambda study, at: int(study.curve.sizes[at]))
    power: float = of(lambda shares, at: float(shares[0][at]))
    standard_error: float = of(lambda shares, at: float(shares[1][at]))


@dataclass(frozen=True, kw_only=True)
class PowerDocument(Document[PowerRow], schema="power"):
    """Power by size, and the size the target needs.

    Attributes
    ----------
    study : PowerStudy
    metric : str or None
        Column of the pilot's scores; None where distributions were planned with.
    split : RunsSplit or None
        Variance of the pilot's means between and within samples, where it has repeats.
    """

    study: PowerStudy
    metric: str | None
    split: RunsSplit | None = None

    def meta(self) -> Mapping[str, Any]:
        """The size the target needs, and what was simulated to find it."""
        required, unit = self.study.required, self.study.plan.unit
        tried = zip(required.sizes.tolist(), required.powers.tolist(), strict=True)
        return {
            "required_size": {
                **size_found(required, self.study.interval, of=unit),
                "endless_samples": self.study.endless,
                "tried": [{"size": size, "power": power} for size, power in tried],
            },
            "variance": [] if self.split is None else self.split.described(self.provenance.models),
        }
