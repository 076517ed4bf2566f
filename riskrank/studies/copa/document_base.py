"""Base class and shared fields of the ``copa`` documents, one document per question."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isinf
from typing import Any, TypeVar

from riskrank.errors import listing
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.copa.objectives import Objectives
from riskrank.studies.copa.options import CopaSettings
from riskrank.studies.document import Document, attributes
from riskrank.studies.settings import provenance

Row = TypeVar("Row")

# Orders to which every ranking is compared, from the worst rank to the mean rank.
USUAL_ORDERS = (inf, 8.0, 2.0, 1.0)


def order_value(p: float) -> float | str:
    """Return the order p of a norm as a number, or as the text "inf", because JSON has no infinity."""
    return "inf" if isinf(p) else float(p)


@dataclass(frozen=True)
class CopaRequest:
    """Input of a ``copa`` study.

    Attributes
    ----------
    table : ScoreTable
    settings : CopaSettings
    objectives : Objectives
        Objectives computed from the table and the settings.
    """

    table: ScoreTable
    settings: CopaSettings
    objectives: Objectives


@dataclass(frozen=True, kw_only=True)
class CopaBase(Document[Row]):
    """Base class of all ``copa`` documents.

    Attributes
    ----------
    objectives : Objectives
        Objectives, with the weights that were used.
    settings : CopaSettings
    """

    objectives: Objectives
    settings: CopaSettings

    def meta(self) -> Mapping[str, Any]:
        """Return the ``meta`` entries: the excluded models and the results."""
        return {"dropped_models": self.objectives.dropped, **self.result_entries()}

    def result_entries(self) -> dict[str, Any]:
        """Return the ``meta`` entries that are specific to the question."""
        return {}


def document_fields(
    request: CopaRequest,
    orders: Sequence[float],
    question_settings: Mapping[str, Any],
    extra_warnings: Sequence[str] = (),
    **randomness: Any,
) -> dict[str, Any]:
    """Return the fields shared by all ``copa`` documents: provenance, objectives and settings.

    Parameters
    ----------
    request : CopaRequest
    orders : sequence of float
        Orders p of the norm, or empty if p itself is varied.
    question_settings : mapping
        Entries of the provenance's ``method`` that are specific to the question.
    extra_warnings : sequence of str
        Warnings in addition to those of the objectives.
    **randomness : int or None
        ``seed`` and ``resamples``, if anything was resampled.
    """
    table, settings = request.objectives, request.settings
    metrics, explicit_weights, weights = (
        table.population.metrics,
        table.explicit_weights,
        table.by_objective(table.weights),
    )
    is_sweep = table.weight_override is not None
    zero_weight = (
        [] if is_sweep else [name for name in metrics if weights[name] == 0 and name not in explicit_weights]
    )
    weight_warnings = (
        [f"the given weights sum to 1, so none is left for {listing(zero_weight)}"] if zero_weight else []
    )
    method = {
        "missing": settings.missing,
        "require": table.constraints,
        **attributes(settings, "ties", "denominator"),
        "rest" if is_sweep else "weights": weights,
        **({"p": [order_value(p) for p in orders]} if orders else {}),
        **question_settings,
    }
    warnings = [*table.warnings, *weight_warnings, *extra_warnings]
    origin = provenance(
        "copa",
        request.table,
        settings,
        method,
        warnings=warnings,
        models=table.population.names,
        **randomness,
    )
    return {"provenance": origin, "objectives": table, "settings": settings}
