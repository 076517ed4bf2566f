"""Why COPA ranks a model where it does, and what would choose it."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar

from riskrank.engine.copa.explanation import CopaExplanation, choosing_weights, explain_model
from riskrank.engine.copa.sweep import Sweep
from riskrank.engine.copa.weight_ranges import sweep_each_weight
from riskrank.engine.types import Floats
from riskrank.errors import UsageError, index_of, option
from riskrank.studies.copa.base import (
    Asked,
    CopaBase,
    described_orders,
    described_weights,
    order_value,
    provenance,
    weights_of,
)


@dataclass(frozen=True, slots=True)
class ExplanationRow:
    """One objective of the model explained."""

    model: str
    metric: str
    value: float
    u: float
    weight: float
    weighted_u: float
    contribution: float
    binding: bool
    choosing_weight: float | None
    chosen_between: list[list[float]]


@dataclass(frozen=True, kw_only=True)
class ExplanationDocument(CopaBase[ExplanationRow]):
    """One model under one norm and one set of weights.

    Attributes
    ----------
    explanation : CopaExplanation
    worst_case_weights : ndarray, shape (K,), or None
        Weights that choose the model at p = ∞.
    sweeps : tuple of Sweep
        Of each weight, the others in proportion; empty for a single objective.
    broken : tuple of str
        Constraints the model does not meet.
    """

    schema: ClassVar[str] = "copa-explain"
    row_type: ClassVar[type] = ExplanationRow

    explanation: CopaExplanation
    worst_case_weights: Floats | None
    sweeps: tuple[Sweep, ...]
    broken: tuple[str, ...]

    def intervals(self, objective: int) -> list[tuple[float, float]]:
        """Intervals of one weight on which the model is chosen."""
        return self.sweeps[objective].intervals_of(self.explanation.model) if self.sweeps else []

    def found(self) -> dict[str, Any]:
        """Place of the model, what dominates it and what would choose it."""
        table, explained = self.objectives, self.explanation
        i, ranking = explained.model, explained.ranking

        def named(weights: Floats | None) -> dict[str, float] | None:
            return None if weights is None else table.by_metric(weights)

        return {
            "explanation": {
                "model": table.name(i),
                "p": order_value(ranking.p),
                "rank": ranking.place(i),
                "norm": ranking.norm[i].item(),
                "chosen": table.name(ranking.chosen),
                "chosen_norm": ranking.norm[ranking.chosen].item(),
                "pareto": bool(table.population.front[i]),
                "feasible": bool(table.population.feasible[i]),
                "broken_constraints": list(self.broken),
                "dominated_by": [table.name(j) for j in explained.dominators],
                "choosing_weights": named(explained.weights),
                "choosing_weights_at_p_inf": named(self.worst_case_weights),
            }
        }


def explain(asked: Asked) -> ExplanationDocument:
    """Explain the place of one model.

    Raises
    ------
    UsageError
        If there is no such model, or it was dropped.
    """
    settings, found = asked.settings, asked.objectives
    population, p = found.population, settings.orders[0]
    model = _model(asked)
    weights, notes = weights_of(found)
    table = found.weighted(weights)
    explained = explain_model(population, model, weights, p=p)
    sweeps = sweep_each_weight(population, weights, p=p) if len(weights) > 1 else ()
    described = described_weights(table) | described_orders(settings.orders) | {"why": settings.why}
    return ExplanationDocument(
        provenance=provenance(asked, described, notes),
        rows=[
            ExplanationRow(
                model=table.name(model),
                metric=metric,
                value=table.values[model, k].item(),
                u=population.u[model, k].item(),
                weight=table.weights[k].item(),
                weighted_u=explained.weighted[k].item(),
                contribution=explained.contribution[k].item(),
                binding=k in explained.binding,
                choosing_weight=None if explained.weights is None else explained.weights[k].item(),
                chosen_between=[list(ends) for ends in sweeps[k].intervals_of(model)] if sweeps else [],
            )
            for k, metric in enumerate(population.metrics)
        ],
        objectives=table,
        dropped=found.dropped,
        explanation=explained,
        worst_case_weights=choosing_weights(population, model, p=inf),
        sweeps=sweeps,
        broken=tuple(
            constraint.text(population.metrics)
            for constraint in found.constraints
            if not constraint.holds(found.values)[model]
        ),
    )


def _model(asked: Asked) -> int:
    name = asked.settings.why or ""
    if name in asked.objectives.dropped:
        raise UsageError(
            f"{option('why', name)}: the model was dropped",
            found=f"no score for some objective, and {option('missing', 'drop')}",
            hint=f"{option('missing', 'worst')} keeps it, ranked last where its score is missing",
        )
    index_of(name, asked.table.models, kind="model", parameter="why")
    return list(asked.objectives.population.names).index(name)
