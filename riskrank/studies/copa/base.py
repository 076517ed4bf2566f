"""What the documents of ``copa`` share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isinf
from typing import Any, TypeVar

from riskrank.engine.copa.norms import share_weights
from riskrank.engine.types import Floats
from riskrank.errors import listing
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.copa.objectives import Objectives, ObjectiveTable
from riskrank.studies.copa.options import CopaSettings
from riskrank.studies.document import Document, Provenance, entries
from riskrank.studies.provenance import provenance as origin_of

Row = TypeVar("Row")

# The p's every ranking is set beside, from the one that forgives nothing to the mean rank.
USUAL_ORDERS = (inf, 8.0, 2.0, 1.0)


def order_key(p: float) -> str:
    """Write p as a key or value that every language reads back."""
    return f"{p:g}"


def order_value(p: float) -> float | str:
    """Write p as a number, or as text where JSON has none."""
    return "inf" if isinf(p) else float(p)


@dataclass(frozen=True)
class Asked:
    """A question: the table it is about, how it is asked, and the objectives."""

    table: ScoreTable
    settings: CopaSettings
    objectives: Objectives


@dataclass(frozen=True, kw_only=True)
class CopaBase(Document[Row]):
    """A document about models by objectives.

    Attributes
    ----------
    objectives : ObjectiveTable
        Models by objectives, with the weights.
    dropped : tuple of str
        Models left out of the population.
    """

    objectives: ObjectiveTable
    dropped: tuple[str, ...]

    def meta(self) -> Mapping[str, Any]:
        """Models left out, and what the question adds."""
        return {"dropped_models": self.dropped, **self.found()}

    def found(self) -> dict[str, Any]:
        """Entries of ``meta`` of the question."""
        return {}


def weights_of(found: Objectives) -> tuple[Floats, list[str]]:
    """Weights of the objectives, and a warning if some have got nothing of them."""
    metrics, given = found.population.metrics, found.given_weights
    weights = share_weights(metrics, given)
    idle = [name for name, weight in zip(metrics, weights, strict=True) if weight == 0 and name not in given]
    notes = [f"the weights given sum to 1, nothing is left for {listing(idle)}"] if idle else []
    return weights, notes


def provenance(
    asked: Asked,
    described: Mapping[str, Any],
    notes: Sequence[str] = (),
    *,
    seed: int | None = None,
    resamples: int | None = None,
) -> Provenance:
    """Origin of a document; ``described`` are the settings of the question."""
    found, settings = asked.objectives, asked.settings
    shared = {
        "missing": settings.missing,
        "require": [constraint.text(found.population.metrics) for constraint in found.constraints],
        **entries(settings, "ties", "denominator"),
    }
    return origin_of(
        "copa",
        asked.table,
        settings,
        {**shared, **described},
        seed=seed,
        resamples=resamples,
        warnings=[*found.warnings, *notes],
        models=found.population.names,
    )


def described_weights(table: ObjectiveTable) -> dict[str, Any]:
    """Weights, for the settings of a document."""
    return {"weights": table.by_metric(table.weights)}


def described_orders(orders: Sequence[float]) -> dict[str, Any]:
    """Orders of the norm, for the settings of a document."""
    return {"p": [order_value(p) for p in orders]}
