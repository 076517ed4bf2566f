"""What settings ask of the engine, and what documents say of them and of the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from riskrank.engine.aggregation.rank_aggregation import Aggregation
from riskrank.engine.dominance.inference import PAPER_THRESHOLDS, Claim, Inference, claims
from riskrank.engine.family import Family
from riskrank.engine.sampling.processes import Jobs
from riskrank.options.option import Settings, told
from riskrank.options.resampling import FamilySettings
from riskrank.scores.table.metrics_file import MetricSpec
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.document import Provenance
from riskrank.studies.dominance.options import ABSOLUTE, DIRECT, RELATIVE, DominanceTestSettings
from riskrank.studies.portfolio.options import PortfolioSettings
from riskrank.studies.targets import counted_alike, portfolio_weights

_HOW = ("resamples", "seed", "paper_exact", "variance", "work_limit")


def claims_of(settings: DominanceTestSettings) -> tuple[Claim, ...]:
    """Claims to test."""
    thresholds = tuple(dict.fromkeys(settings.threshold or PAPER_THRESHOLDS))
    return claims(
        settings.orders,
        direct=DIRECT in settings.kinds,
        relative=RELATIVE in settings.kinds,
        thresholds=thresholds if ABSOLUTE in settings.kinds else (),
    )


def family_of(settings: Any) -> Family:
    """The level and the correction that are asked for."""
    return Family(settings.alpha, getattr(settings, "correction", "holm"))


def level_of(settings: Any) -> dict[str, float]:
    """The level alone, for documents of what is not corrected."""
    return {"alpha": settings.alpha}


def inference_of(settings: FamilySettings, jobs: Jobs) -> Inference:
    """How the engine is to test, on so many processes."""
    given: dict[str, Any] = {name: getattr(settings, name) for name in _HOW if hasattr(settings, name)}
    family = family_of(settings).one_sided
    return Inference(**given, family=family, jobs=jobs, test=not getattr(settings, "no_test", False))


def described_tests(settings: DominanceTestSettings) -> dict[str, Any]:
    """How tests were done, for the document."""
    thresholds = {claim.threshold for claim in claims_of(settings) if claim.threshold is not None}
    tested = not settings.no_test
    return {
        "order": settings.order,
        "test": list(settings.kinds),
        "thresholds": sorted(thresholds),
        "alpha": settings.alpha,
        "correction": ("k^2" if settings.paper_exact else settings.correction) if tested else "none",
        "family": "ordered pairs of one metric, order, test and threshold" if tested else None,
        "variance": settings.variance if tested else None,
        "no_test": settings.no_test,
        "paper_exact": settings.paper_exact,
        "resamples": settings.resamples if tested and settings.variance != "clt" else None,
        "work_limit": settings.work_limit if settings.resamples == "auto" and tested else None,
    }


def described_metric(metric: MetricSpec) -> Mapping[str, Any]:
    """Tell how a metric was read."""
    return {name: value for name, value in vars(metric).items() if name != "tier" or value is not None}


def provenance(
    command: str,
    table: ScoreTable,
    settings: Settings,
    method: Mapping[str, Any] | None = None,
    *,
    folded: bool = False,
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
    folded : bool
        Whether metrics are folded, where there are several, which settings of a portfolio say how.
    metrics : sequence of MetricSpec, optional
        Those of the table, where a study has settled more about them.
    warnings : sequence of str
        Beside those of the table.
    **beside
        As in :class:`riskrank.studies.document.Provenance`: seed, resamples, and what a study knows better.
    """
    options, method = table.options, dict(method or {})
    if folded and len(table.metrics) > 1:
        assert isinstance(settings, PortfolioSettings)
        method |= portfolio_settings(settings, table)
    unweighed = counted_alike(table) if method.get("copula") and method.get("weights") else []
    read = {"missing": options.missing, "repeats": options.repeats, "unpaired": options.unpaired}
    inputs: dict[str, Any] = {
        "inputs": [vars(entry) for entry in table.inputs],
        "models": table.models,
        "metrics": [described_metric(metric) for metric in metrics or table.metrics],
        "samples": len(table.samples),
        "scored": [one for one in table.scored if one.lacks],
        "settings": told(settings, options),
        "method": read | method,
        "warnings": [*table.warnings, *unweighed, *warnings],
    }
    return Provenance(command=command, **inputs | beside)


def portfolio_settings(settings: PortfolioSettings, table: ScoreTable) -> dict[str, Any]:
    """How metrics were folded."""
    weights = None
    if settings.copula == "independent":
        weights = dict(zip((metric.name for metric in table.metrics), portfolio_weights(table), strict=True))
    scope = settings.copula_scope if settings.copula == "empirical" else "pooled"
    return {"copula": settings.copula, "copula_scope": scope, "weights": weights}


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
