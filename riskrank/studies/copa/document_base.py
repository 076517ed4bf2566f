"""The shared parts of the documents of ``copa``, one document per question."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isinf
from typing import Any, TypeVar

from riskrank.errors import listing
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.copa.objectives import Objectives
from riskrank.studies.copa.options import CopaSettings
from riskrank.studies.document import Document, entries
from riskrank.studies.settings import provenance

Row = TypeVar("Row")

# Orders to which every ranking is compared, from the worst rank to the mean rank.
USUAL_ORDERS = (inf, 8.0, 2.0, 1.0)


def order_value(p: float) -> float | str:
    """Return p as a number, or as the text "inf", because JSON has no infinity."""
    return "inf" if isinf(p) else float(p)


@dataclass(frozen=True)
class CopaRequest:
    """Input of a ``copa`` study.

    Attributes
    ----------
    table : ScoreTable
    settings : CopaSettings
    objectives : Objectives
        The objectives computed from the table and the settings.
    """

    table: ScoreTable
    settings: CopaSettings
    objectives: Objectives


@dataclass(frozen=True, kw_only=True)
class CopaBase(Document[Row]):
    """Base class of the documents about models and their objectives.

    Attributes
    ----------
    objectives : Objectives
        The objectives, with the weights used.
    settings : CopaSettings
    """

    objectives: Objectives
    settings: CopaSettings

    def meta(self) -> Mapping[str, Any]:
        """Return the dropped models and the entries of the subclass."""
        return {"dropped_models": self.objectives.dropped, **self.result_entries()}

    def result_entries(self) -> dict[str, Any]:
        """Return the entries of ``meta`` that are specific to the question."""
        return {}


def document_fields(
    request: CopaRequest,
    orders: Sequence[float],
    question_settings: Mapping[str, Any],
    extra_warnings: Sequence[str] = (),
    **randomness: Any,
) -> dict[str, Any]:
    """Return the fields that all ``copa`` documents share: provenance, objectives and settings.

    Parameters
    ----------
    request : CopaRequest
    orders : sequence of float
        Orders p of the norm; empty if the question is about p itself.
    question_settings : mapping
        Method entries that are specific to the question.
    extra_warnings : sequence of str
        Warnings in addition to those of the objectives.
    **randomness : int or None
        The ``seed`` and the number of ``resamples``, if anything was resampled.
    """
    table, settings = request.objectives, request.settings
    metrics, explicit_weights, weights = (
        table.population.metrics,
        table.explicit_weights,
        table.by_metric(table.weights),
    )
    is_sweep = table.weight_override is not None
    zero_weight = (
        [] if is_sweep else [name for name in metrics if weights[name] == 0 and name not in explicit_weights]
    )
    weight_warnings = (
        [f"the weights given sum to 1, nothing is left for {listing(zero_weight)}"] if zero_weight else []
    )
    method = {
        "missing": settings.missing,
        "require": table.constraints,
        **entries(settings, "ties", "denominator"),
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
