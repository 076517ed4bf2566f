"""What every document says of the table it was made from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from riskrank.asked.option import Settings, told
from riskrank.engine.aggregation.rank_aggregation import Aggregation
from riskrank.scores.table.metrics_file import MetricSpec
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.document import Provenance
from riskrank.studies.portfolio.options import PortfolioSettings
from riskrank.studies.targets import counted_alike, portfolio_weights

if TYPE_CHECKING:
    from riskrank.engine.dominance.column import DominanceStudy


def described_metric(metric: MetricSpec) -> Mapping[str, Any]:
    """Tell how a metric was read."""
    return {name: value for name, value in vars(metric).items() if name != "tier" or value is not None}


def provenance(
    command: str,
    table: ScoreTable,
    settings: Settings,
    method: Mapping[str, Any] | None = None,
    *,
    metrics: Sequence[MetricSpec] | None = None,
    warnings: Sequence[str] = (),
    **beside: Any,
) -> Provenance:
    """Where a document comes from: its table, what was asked of it, and how it was done.

    Parameters
    ----------
    command : str
    table : ScoreTable
    settings : Settings
    method : mapping, optional
        How it was done where the options leave that open: tests, families, weights after normalisation.
    metrics : sequence of MetricSpec, optional
        Those of the table, where a study has settled more about them.
    warnings : sequence of str
        Beside those of the table.
    **beside
        As in :class:`riskrank.studies.document.Provenance`: seed, resamples, and what a study knows better.
    """
    options = table.options
    method = method or {}
    folded = counted_alike(table) if method.get("copula") and method.get("weights") else []
    read = {"missing": options.missing, "repeats": options.repeats, "unpaired": options.unpaired}
    inputs: dict[str, Any] = {
        "inputs": [vars(entry) for entry in table.inputs],
        "models": table.models,
        "metrics": [described_metric(metric) for metric in metrics or table.metrics],
        "samples": len(table.samples),
        "scored": [one for one in table.scored if one.lacks],
        "settings": told(settings, options),
        "method": read | dict(method),
        "warnings": [*table.warnings, *folded, *warnings],
    }
    return Provenance(command=command, **inputs | beside)


def portfolio_settings(settings: PortfolioSettings, table: ScoreTable) -> dict[str, Any]:
    """How metrics were folded."""
    weights = None
    if settings.copula == "independent":
        weights = dict(zip((metric.name for metric in table.metrics), portfolio_weights(table), strict=True))
    scope = settings.copula_scope if settings.copula == "empirical" else "pooled"
    return {"copula": settings.copula, "copula_scope": scope, "weights": weights}


def most_resamples(studies: Iterable[DominanceStudy]) -> int | None:
    """Resamples of the column that took the most; None where nothing was resampled."""
    return max((study.resamples for study in studies if study.resamples is not None), default=None)


def described_aggregation(name: str, found: Aggregation, models: Sequence[str]) -> dict[str, Any]:
    """Order, its distance, and whether another is as good."""
    return {
        "method": name,
        "distance": found.method,
        "order": [models[i] for i in found.order],
        "mean_distance": found.mean_distance,
        "optima": found.optima_count,
        "unique": found.unique,
        "gap": found.gap,
        "choice": found.choice,
    }
