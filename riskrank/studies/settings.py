"""Conversion of settings into engine arguments, and their description in documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from riskrank.engine.aggregation.rank_aggregation import Aggregation
from riskrank.engine.dominance.inference import PAPER_THRESHOLDS, Claim, Inference, build_claims
from riskrank.engine.family import Family
from riskrank.engine.sampling.processes import Jobs
from riskrank.options.inference import FamilySettings
from riskrank.options.option import Settings, changed_settings
from riskrank.scores.table.metric_specs import MetricSpec
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.document import Provenance
from riskrank.studies.dominance.options import ABSOLUTE, DIRECT, RELATIVE, DominanceTestSettings
from riskrank.studies.portfolio.options import PortfolioSettings
from riskrank.studies.targets import equal_weight_warnings, portfolio_weights

_FIELDS = ("resamples", "seed", "paper_exact", "variance", "work_limit")


def claims_from_settings(settings: DominanceTestSettings) -> tuple[Claim, ...]:
    """Return the dominance hypotheses to test: orders, kinds and thresholds."""
    thresholds = tuple(dict.fromkeys(settings.threshold or PAPER_THRESHOLDS))
    return build_claims(
        settings.orders,
        direct=DIRECT in settings.kinds,
        relative=RELATIVE in settings.kinds,
        thresholds=thresholds if ABSOLUTE in settings.kinds else (),
    )


def family_from_settings(settings: Any) -> Family:
    """Return the significance level and the correction for multiple tests as a `Family`."""
    return Family(settings.alpha, getattr(settings, "correction", "holm"))


def alpha_entry(settings: Any) -> dict[str, float]:
    """Return the significance level α as a dictionary for the JSON output, for uncorrected tests."""
    return {"alpha": settings.alpha}


def inference_from_settings(settings: FamilySettings, jobs: Jobs) -> Inference:
    """Return the arguments of the tests as an `Inference`: resampling, correction and number of processes."""
    options: dict[str, Any] = {name: getattr(settings, name) for name in _FIELDS if hasattr(settings, name)}
    family = family_from_settings(settings).one_sided
    return Inference(**options, family=family, jobs=jobs, test=not getattr(settings, "no_test", False))


def describe_tests(settings: DominanceTestSettings) -> dict[str, Any]:
    """Return a description of the dominance tests for the provenance, as a dictionary."""
    thresholds = {claim.threshold for claim in claims_from_settings(settings) if claim.threshold is not None}
    tested = not settings.no_test
    return {
        "order": settings.order,
        "test": list(settings.kinds),
        "thresholds": sorted(thresholds),
        "alpha": settings.alpha,
        "correction": ("k^2" if settings.paper_exact else settings.correction) if tested else "none",
        "family": "pairs of one metric, order, test and threshold" if tested else None,
        "variance": settings.variance if tested else None,
        "no_test": settings.no_test,
        "paper_exact": settings.paper_exact,
        "resamples": settings.resamples if tested and settings.variance != "clt" else None,
        "work_limit": settings.work_limit if settings.resamples == "auto" and tested else None,
    }


def describe_metric(metric: MetricSpec) -> Mapping[str, Any]:
    """Return the properties of a metric for the provenance, as a dictionary."""
    return {name: value for name, value in vars(metric).items() if name != "tier" or value is not None}


def provenance(
    command: str,
    table: ScoreTable,
    settings: Settings,
    method: Mapping[str, Any] | None = None,
    *,
    combined: bool = False,
    metrics: Sequence[MetricSpec] | None = None,
    warnings: Sequence[str] = (),
    **extra: Any,
) -> Provenance:
    """Build the provenance of a document.

    Parameters
    ----------
    command : str
        Name of the command.
    table : ScoreTable
        Scores of all models, with their samples and metrics.
    settings : Settings
        Options of the command.
    method : mapping, optional
        Method details that the options do not determine: tests, families, normalised weights.
    combined : bool
        True if several metrics are combined according to the portfolio settings.
    metrics : sequence of MetricSpec, optional
        Metrics to describe instead of those of the table.
    warnings : sequence of str
        Warnings in addition to those of the table.
    **extra
        Fields of :class:`riskrank.studies.document.Provenance`, such as ``seed``, which override others.
    """
    options, method = table.options, dict(method or {})
    if combined and len(table.metrics) > 1:
        assert isinstance(settings, PortfolioSettings)
        method |= portfolio_settings(settings, table)
    unweighed = equal_weight_warnings(table) if method.get("copula") and method.get("weights") else []
    read = {"missing": options.missing, "repeats": options.repeats, "unpaired": options.unpaired}
    inputs: dict[str, Any] = {
        "inputs": [vars(entry) for entry in table.inputs],
        "models": table.models,
        "metrics": [describe_metric(metric) for metric in metrics or table.metrics],
        "samples": len(table.samples),
        "scored": [counts for counts in table.scored if counts.missing],
        "settings": changed_settings(settings, options),
        "method": read | method,
        "warnings": [*table.warnings, *unweighed, *warnings],
    }
    return Provenance(command=command, **inputs | extra)


def portfolio_settings(settings: PortfolioSettings, table: ScoreTable) -> dict[str, Any]:
    """Return a dictionary for the provenance on how metrics are combined: copula and weights."""
    weights = None
    if settings.copula == "independent":
        weights = dict(zip((metric.name for metric in table.metrics), portfolio_weights(table), strict=True))
    return {"copula": settings.copula, "weights": weights}


def describe_aggregation(name: str, result: Aggregation, models: Sequence[str]) -> dict[str, Any]:
    """Return an aggregated ranking as a dictionary: its order, its distance to the rankings, and ties.

    `name` is the name of the method, and `models` has the names of the models.
    """
    return {
        "method": name,
        "distance": result.method,
        "order": [models[i] for i in result.order],
        "mean_distance": result.mean_distance,
        "optima": result.optima_count,
        "unique": result.unique,
        "gap": result.gap,
        "choice": result.choice,
    }
