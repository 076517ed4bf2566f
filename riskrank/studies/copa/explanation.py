"""The document of COPA's option ``why``: why a model has its rank, and the weights that would choose it."""

from dataclasses import dataclass, replace
from math import inf
from typing import Any

from riskrank.engine.copa.explanation import CopaExplanation, choosing_weights, explain_model
from riskrank.engine.copa.ranking import rank_models
from riskrank.engine.copa.sweep import Sweep
from riskrank.engine.copa.weight_ranges import sweep_all_weights
from riskrank.engine.types import Floats
from riskrank.errors import UsageError, index_of, option
from riskrank.studies.copa.document_base import CopaBase, CopaRequest, document_fields, order_value
from riskrank.studies.document import computed, rows_from_records


@dataclass(frozen=True, slots=True)
class ExplanationRow:
    """Contribution of one objective to the rank of the explained model."""

    model: str = computed(lambda document: document.objectives.name(document.model))
    metric: str = computed(lambda document, k: document.objectives.population.metrics[k])
    value: float = computed(lambda document, k: document.objectives.values[document.model, k].item())
    u: float = computed(lambda document, k: document.objectives.population.u[document.model, k].item())
    weight: float = computed(lambda document, k: document.objectives.weights[k].item())
    weighted_u: float = computed(lambda document, k: document.explanation.weighted[k].item())
    contribution: float = computed(lambda document, k: document.explanation.contribution[k].item())
    binding: bool = computed(lambda document, k: k in document.explanation.binding)
    choosing_weight: float | None = computed(lambda document, k: document.choosing_weight(k))
    chosen_between: list[list[float]] = computed(lambda document, k: [*map(list, document.intervals(k))])


@dataclass(frozen=True, kw_only=True)
class ExplanationDocument(CopaBase[ExplanationRow], schema="copa-explain"):
    """Explanation of one model's rank under one norm and one set of weights.

    Attributes
    ----------
    explanation : CopaExplanation
    worst_case_weights : ndarray, shape (K,), or None
        Weights for which the model is chosen at p = ∞, or None if there are none.
    sweeps : tuple of Sweep
        One sweep per weight; the other weights keep their proportions. Empty for a single objective.
    """

    explanation: CopaExplanation
    worst_case_weights: Floats | None
    sweeps: tuple[Sweep, ...]

    @property
    def model(self) -> int:
        """Index of the explained model."""
        return self.explanation.model

    @property
    def violated_constraints(self) -> list[str]:
        """Constraints that the model violates, as text."""
        table = self.objectives
        pairs = zip(table.constraints, table.bounds, strict=True)
        return [text for text, bound in pairs if not bound.holds(table.values)[self.model]]

    def choosing_weight(self, objective: int) -> float | None:
        """Return the objective's weight in one weight vector that chooses the model, if there is one."""
        weights = self.explanation.weights
        return None if weights is None else float(weights[objective])

    def intervals(self, objective: int) -> list[tuple[float, float]]:
        """Return the intervals of one objective's weight for which the model is chosen."""
        return self.sweeps[objective].intervals_of(self.model) if self.sweeps else []

    def result_entries(self) -> dict[str, Any]:
        """Return the ``meta`` entries: the model's rank, its dominators, and weights that choose it."""
        table, explanation, i = self.objectives, self.explanation, self.model
        ranking = explanation.ranking

        def weights_by_metric(weights: Floats | None) -> dict[str, float] | None:
            return None if weights is None else table.by_objective(weights)

        return {
            "explanation": {
                "model": table.name(i),
                "p": order_value(ranking.p),
                "rank": ranking.rank_of(i),
                "norm": ranking.norm[i].item(),
                "chosen": table.name(ranking.chosen),
                "chosen_norm": ranking.norm[ranking.chosen].item(),
                "pareto": bool(table.population.front[i]),
                "feasible": bool(table.population.feasible[i]),
                "broken_constraints": self.violated_constraints,
                "dominated_by": [table.name(j) for j in explanation.dominators],
                "choosing_weights": weights_by_metric(explanation.weights),
                "choosing_weights_at_p_inf": weights_by_metric(self.worst_case_weights),
            }
        }


def explain_requested_model(request: CopaRequest) -> ExplanationDocument:
    """Explain the rank of the requested model.

    Raises
    ------
    UsageError
        If the model is unknown or was excluded.
    """
    settings, population, weights = (
        request.settings,
        request.objectives.population,
        request.objectives.weights,
    )
    model, ranking = _requested_model(request), rank_models(population, weights, p=settings.orders[0])
    document = ExplanationDocument(
        **document_fields(request, settings.orders, {"why": settings.why}),
        rows=[],
        explanation=explain_model(population, model, ranking),
        worst_case_weights=choosing_weights(population, model, p=inf),
        sweeps=sweep_all_weights(population, ranking),
    )
    return replace(
        document,
        rows=rows_from_records(ExplanationRow, "document k", ((document, k) for k in range(len(weights)))),
    )


def _requested_model(request: CopaRequest) -> int:
    """Return the index of the model to explain, raising UsageError if it is unknown or excluded."""
    name = request.settings.why or ""
    if name in request.objectives.dropped:
        raise UsageError(
            f"{option('why', name)}: the model was dropped",
            found=f"no score on some objective, with {option('missing', 'drop')}",
            hint=f"{option('missing', 'worst')} keeps it, ranked last where its score is missing",
        )
    index_of(name, request.table.models, kind="model", parameter="why")
    return list(request.objectives.population.names).index(name)
