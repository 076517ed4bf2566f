"""COPA beside the classical scalarizations."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from riskrank.engine.copa.comparison import BASELINES, ScalarizationComparison, compare_scalarizations
from riskrank.errors import InputError, counted, option
from riskrank.studies.copa.document_base import USUAL_ORDERS, CopaBase, CopaRequest, document_fields
from riskrank.studies.document import of, rows_from

# Models that move most, named in meta and in words.
MOST_MOVERS = 5


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """Place of one model by one scalarization; a small score is good."""

    criterion: str = of(lambda document, m: document.comparison.names[m])
    model: str = of(lambda document, j: document.objectives.name(document.comparison.models[j]))
    rank: int = of(lambda document, m, j: document.comparison.comparison.rank[m, j].item())
    score: float = of(lambda document, m, j: document.comparison.scores[m, j].item())


@dataclass(frozen=True, kw_only=True)
class ComparisonDocument(CopaBase[ComparisonRow], schema="copa-comparison"):
    """Ranks by every scalarization.

    Attributes
    ----------
    comparison : ScalarizationComparison
    """

    comparison: ScalarizationComparison

    @property
    def movers(self) -> list[int]:
        """Places in ``comparison.models`` of the models that move most."""
        return self.comparison.movers(MOST_MOVERS)

    def result_entries(self) -> dict[str, Any]:
        """Kendall's tau, the models that move most and what was left out."""
        found, table = self.comparison, self.objectives
        ranks = found.comparison.rank
        return {
            "kendall_tau": {
                name: dict(zip(found.names, row, strict=True))
                for name, row in zip(found.names, found.comparison.tau.tolist(), strict=True)
            },
            "movers": [
                {
                    "model": table.name(found.models[j]),
                    "movement": found.comparison.movement[j].item(),
                    "ranks": dict(zip(found.names, ranks[:, j].tolist(), strict=True)),
                }
                for j in self.movers
            ],
            "left_out": {name: error.what for name, error in found.excluded.items()},
        }


def compare_with_scalarizations(asked: CopaRequest) -> ComparisonDocument:
    """Rank the models by COPA of several orders and by other scalarizations.

    Raises
    ------
    InputError
        If one that was asked for by name cannot be computed, or one model alone meets what is required.
    """
    settings, table = asked.settings, asked.objectives
    if (able := int(table.population.feasible.sum())) < 2:
        raise InputError(
            "rankings are compared of two models or more that meet what is required",
            result_entries=f"{counted(able, 'model')} of {table.population.feasible.size}",
            hint=f"loosen {option('require')}, or leave out {option('compare')}",
        )
    orders = settings.p or USUAL_ORDERS
    compared = compare_scalarizations(
        table.population,
        table.values,
        table.larger_is_better,
        table.weights,
        orders=orders,
        baselines=settings.against or BASELINES,
        lenient=not settings.against,
    )
    made = document_fields(asked, orders, {"criteria": compared.names}, exclusion_messages(compared))
    document = ComparisonDocument(**made, rows=[], comparison=compared)
    places = [
        (document, m, j)
        for m, ranks in enumerate(compared.comparison.rank)
        for j in np.argsort(ranks, kind="stable")
        if settings.top is None or j < settings.top
    ]
    return replace(document, rows=rows_from(ComparisonRow, "document m j", places))


def scalarization_label(name: str) -> str:
    """The name of a scalarization as people write it."""
    if name in ("saw", "ahp", "mew"):
        return name.upper()
    text = {"min-max": "min–max", "delta": "Δ"}.get(name, name)
    for key, shown in (("copa", "COPA"), ("p-norm", "usual")):
        text = text.replace(f"{key}(p=", f"{shown} p = ")
    return text.removesuffix(")").replace("p = inf", "p = ∞")


def exclusion_messages(found: ScalarizationComparison) -> list[str]:
    """Say which scalarizations could not be computed, and which column is to blame."""
    reasons: dict[str, list[str]] = {}
    for name, error in found.excluded.items():
        reason = f"{error.what.removeprefix(scalarization_label(name)).strip()} ({error.result_entries})"
        reasons.setdefault(reason, []).append(scalarization_label(name))
    return [f"left out {', '.join(names)}: {reason}" for reason, names in reasons.items()]
