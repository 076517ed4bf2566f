"""What every document says of the table it was made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from riskrank.asked.reading import ReadOptions
from riskrank.scores.exports.interface import ExportRules, export_rules
from riskrank.scores.table.metrics_file import MetricSpec
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.settings import PortfolioSettings
from riskrank.studies.weights import portfolio_weights


def described_inputs(table: ScoreTable, metrics: Sequence[MetricSpec] | None = None) -> dict[str, Any]:
    """Entries of :class:`riskrank.studies.document.Provenance` that come from the table.

    ``metrics`` are those of the table, where a study has settled more about them.
    """
    return {
        "inputs": [
            {"path": entry.path, "sha256": entry.sha256, "rows": entry.rows} for entry in table.inputs
        ],
        "models": table.models,
        "metrics": [described_metric(metric) for metric in metrics or table.metrics],
        "samples": len(table.samples),
    }


def described_metric(metric: MetricSpec) -> Mapping[str, Any]:
    """Tell how a metric was read."""
    return {
        "name": metric.name,
        "direction": metric.direction,
        "declared": metric.declared,
        "weight": metric.weight,
        "scale": metric.scale,
        "transform": metric.transform,
        "bounds": metric.bounds,
    }


def reading_settings(options: ReadOptions) -> dict[str, Any]:
    """Settings of reading that decide the result."""
    settings: dict[str, Any] = {
        "missing": options.missing,
        "repeats": options.repeats,
        "unpaired": options.unpaired,
    }
    if options.cluster is not None:
        settings |= {"cluster": options.cluster}
    if options.group_by is not None:
        settings |= {"group_by": options.group_by}
    if options.from_ is not None:
        settings |= {"from": options.from_, **described_rules(export_rules(options))}
    return settings | described_shape(options)


def described_shape(options: Any) -> dict[str, str]:
    """How the table was made of the files, where it was."""
    given = {name: getattr(options, name) for name in ("where", "sql", "matrix")}
    return {name: text for name, text in given.items() if text is not None}


def described_rules(rules: ExportRules) -> dict[str, Any]:
    """Rules of an export that decide the result."""
    return {
        "filter": list(rules.filters),
        "split": list(rules.splits),
        "model_from_path": rules.model_from_path,
        "parts": rules.parts,
        "skip_bad": rules.skip_bad,
    }


def portfolio_settings(settings: PortfolioSettings, table: ScoreTable) -> dict[str, Any]:
    """Settings of the portfolio that decide the result."""
    weights = None
    if settings.copula == "independent":
        weights = dict(zip((metric.name for metric in table.metrics), portfolio_weights(table), strict=True))
    scope = settings.copula_scope if settings.copula == "empirical" else "pooled"
    return {"copula": settings.copula, "copula_scope": scope, "weights": weights}
