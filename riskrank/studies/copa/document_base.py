"""What the documents of ``copa`` share: chapters on models by objectives, a question each."""

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

# The p's every ranking is set beside, from the one that forgives nothing to the mean rank.
USUAL_ORDERS = (inf, 8.0, 2.0, 1.0)


def order_value(p: float) -> float | str:
    """Write p as a number, or as text where JSON has none."""
    return "inf" if isinf(p) else float(p)


@dataclass(frozen=True)
class CopaRequest:
    """A question: the table it is about, how it is asked, and the objectives."""

    table: ScoreTable
    settings: CopaSettings
    objectives: Objectives


@dataclass(frozen=True, kw_only=True)
class CopaBase(Document[Row]):
    """A document about models by objectives; every question adds what it found.

    Attributes
    ----------
    objectives : Objectives
        With the weights the question is about.
    settings : CopaSettings
    """

    objectives: Objectives
    settings: CopaSettings

    def meta(self) -> Mapping[str, Any]:
        """Models left out, and what the question adds."""
        return {"dropped_models": self.objectives.dropped, **self.result_entries()}

    def result_entries(self) -> dict[str, Any]:
        """Entries of ``meta`` of the question."""
        return {}


def document_fields(
    asked: CopaRequest,
    orders: Sequence[float],
    described: Mapping[str, Any],
    notes: Sequence[str] = (),
    **drawn: Any,
) -> dict[str, Any]:
    """What every document holds: where it comes from, and the objectives.

    Parameters
    ----------
    asked : Asked
    orders : sequence of float
        Of the norm; empty where they are what is asked about.
    described : mapping
        Settings of the question.
    notes : sequence of str
        Warnings beside those of the objectives.
    **drawn : int or None
        The ``seed`` and the ``resamples`` of what was drawn.
    """
    table, settings = asked.objectives, asked.settings
    metrics, given, weights = table.population.metrics, table.given_weights, table.by_metric(table.weights)
    swept = table.weight_override is not None
    idle = [] if swept else [name for name in metrics if weights[name] == 0 and name not in given]
    unshared = [f"the weights given sum to 1, nothing is left for {listing(idle)}"] if idle else []
    method = {
        "missing": settings.missing,
        "require": table.constraints,
        **entries(settings, "ties", "denominator"),
        "rest" if swept else "weights": weights,
        **({"p": [order_value(p) for p in orders]} if orders else {}),
        **described,
    }
    warnings = [*table.warnings, *unshared, *notes]
    origin = provenance(
        "copa",
        asked.table,
        settings,
        method,
        warnings=warnings,
        models=table.population.names,
        **drawn,
    )
    return {"provenance": origin, "objectives": table, "settings": settings}
