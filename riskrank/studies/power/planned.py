"""What the plans have in common: how often a family of claims answers so on drawn designs, and of what."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from riskrank.asked.option import told
from riskrank.engine.power.distributions import Distribution
from riskrank.engine.power.required_size import RequiredSize, SizeInterval
from riskrank.errors import UsageError, option
from riskrank.scores.table.metrics_file import MetricSpec
from riskrank.studies.document import Provenance, entries, of
from riskrank.studies.pairs import resolve_pair
from riskrank.studies.power.options import PowerSettings

AS_TRUTH = "the pilot is taken as the truth: what it overstates looks easier to find than it is"


@dataclass(frozen=True, slots=True)
class PlannedClaim:
    """A claim of a gate that is planned."""

    metric: str | None = of(lambda claim: claim.metric)
    new: str = of(lambda claim: claim.new)
    old: str = of(lambda claim: claim.old)
    margin: float = of(lambda claim: claim.margin)

    @property
    def title(self) -> str:
        """As a head: ``new not worse than old by 0.1``."""
        by = f"not worse than {self.old} by {self.margin:,g}" if self.margin else f"better than {self.old}"
        return f"{self.new} {by}"

    @property
    def sentence(self) -> str:
        """As a sentence goes on: ``new is not worse than old by 0.1``."""
        return f"{self.new} is{self.title.removeprefix(self.new)}"


@dataclass(frozen=True, slots=True)
class PlannedRow(PlannedClaim):
    """How often a claim is answered at a size."""

    size: int = of(lambda size: int(size))


def planned_pair(
    settings: PowerSettings,
    models: Sequence[str],
    asked: str,
    metrics: Sequence[MetricSpec] = (),
) -> tuple[int, int]:
    """The two models that one claim is planned about.

    Raises
    ------
    UsageError
        If there are several metrics, or more than two models and nobody named a pair.
    """
    if len(metrics) > 1:
        raise UsageError(
            f"{asked} a claim on one metric",
            found=f"{len(metrics)} metrics",
            hint=f"choose one: {option('metric', metrics[0].name)}",
        )
    if settings.pair is not None:
        return resolve_pair(settings.pair, models, parameter="pair")
    if len(models) > 2:
        raise UsageError(
            f"{asked} one claim{' is planned' if asked.startswith('with') else ''}, about two models",
            found=f"{len(models)} models and no {option('pair')}",
            hint=f"name them: {option('pair', 'NEW:OLD')}",
        )
    return 0, 1


def of_distributions(
    settings: PowerSettings, distributions: Mapping[str, Distribution], how: Mapping[str, Any], **more: Any
) -> Provenance:
    """Where a plan comes from that has no table."""
    return Provenance(
        command="power",
        seed=settings.seed,
        settings=told(settings),
        method={"distributions": {name: str(one) for name, one in distributions.items()}, **how},
        inputs=[],
        models=tuple(distributions),
        metrics=[],
        samples=0,
        **{"warnings": [], **more},
    )


def size_found(required: RequiredSize, interval: SizeInterval | None, **between: Any) -> dict[str, Any]:
    """The size that has the power wanted, as ``meta`` tells it; ``between`` stands after the size."""
    ends = dict.fromkeys(("low", "high", "level"))
    found = ends if interval is None else entries(interval, *ends)
    return {
        "size": required.size,
        **between,
        **{f"size_{name}": value for name, value in found.items()},
        **entries(required, "target", "power", "standard_error", "confirmed"),
    }
