"""The documents of COPA's options ``sweep`` and ``sweep_p``: the choice as a function of a weight or of p."""

from dataclasses import dataclass, replace
from typing import Annotated, Any, TypeVar

import numpy as np

from riskrank.engine.copa.ranking import complete_weights
from riskrank.engine.copa.sweep import Sweep, sweep_p, sweep_weight
from riskrank.errors import UsageError, index_of, option
from riskrank.studies.copa.document_base import CopaBase, CopaRequest, document_fields, order_value
from riskrank.studies.document import attributes, computed, rows_from_records

Row = TypeVar("Row")

# Default number of steps.
_STEPS = 10_000
# Fields that contain an order p.
_ORDERS = ("p", "p_low", "p_high")
Order = Annotated[float, {"anyOf": [{"type": "number"}, {"const": "inf"}]}]


@dataclass(frozen=True, slots=True)
class WeightIntervalRow:
    """Model chosen on an interval of the weight, for one p; ``u`` and ``values`` are keyed by objective."""

    alpha_low: float = computed(lambda low: low)
    alpha_high: float = computed(lambda high: high)
    model: str = computed(lambda table, i: table.name(i))
    p: Order = computed(lambda p: p)
    u: dict[str, float] = computed(lambda table, i: table.by_objective(table.population.u[i]))
    values: dict[str, float] = computed(lambda table, i: table.by_objective(table.values[i]))


@dataclass(frozen=True, slots=True)
class OrderIntervalRow:
    """Model chosen on an interval of p; ``u`` and ``values`` are keyed by objective."""

    p_low: Order = computed(lambda low: low)
    p_high: Order = computed(lambda high: high)
    model: str = computed(lambda table, i: table.name(i))
    u: dict[str, float] = computed(lambda table, i: table.by_objective(table.population.u[i]))
    values: dict[str, float] = computed(lambda table, i: table.by_objective(table.values[i]))


@dataclass(frozen=True, kw_only=True)
class SweepDocument(CopaBase[Row], schema="copa-sweep"):
    """Models chosen on the intervals of the swept parameter.

    Attributes
    ----------
    sweeps : tuple of (float or None, Sweep)
        Pairs of the order p and the sweep; p is None if p itself is swept.
    """

    sweeps: tuple[tuple[float | None, Sweep], ...]

    def written(self) -> dict[str, list[Any]]:
        """Return the columns as stored in JSON and CSV, with p = ∞ as text."""
        return {
            name: [order_value(value) for value in values] if name in _ORDERS else values
            for name, values in self.columns().items()
        }

    def result_entries(self) -> dict[str, Any]:
        """Return the ``meta`` entries: how well each sweep covers the front."""
        return {
            "sweeps": [
                {
                    "p": None if p is None else order_value(p),
                    "intervals": int(sweep.model.size),
                    **attributes(sweep, "models_chosen", "front_size", "coverage", "evenness"),
                }
                for p, sweep in self.sweeps
            ]
        }


@dataclass(frozen=True, kw_only=True)
class WeightSweepDocument(SweepDocument[WeightIntervalRow]):
    """Models chosen as the weight of one objective increases from 0 to 1."""


@dataclass(frozen=True, kw_only=True)
class OrderSweepDocument(SweepDocument[OrderIntervalRow]):
    """Models chosen as p increases from 1 to infinity."""


Swept = TypeVar("Swept", WeightSweepDocument, OrderSweepDocument)


def sweep_requested_weight(request: CopaRequest) -> WeightSweepDocument:
    """Sweep the weight of the requested objective, once per requested p.

    The other objectives keep the proportions of their weights.

    Raises
    ------
    UsageError
        If the objective is unknown or the only one, or if its weight is also set.
    """
    settings, table = request.settings, request.objectives
    objective = _swept_objective(request)
    other_objectives = [name for name in table.population.metrics if name != settings.sweep]
    explicit_weights = {
        name: weight for name, weight in table.explicit_weights.items() if name != settings.sweep
    }
    other_weights = np.insert(complete_weights(other_objectives, explicit_weights), objective, 0.0)
    request = replace(request, objectives=replace(table, weight_override=other_weights))
    steps = settings.steps or _STEPS
    sweeps = [
        sweep_weight(table.population, objective, p=p, other_weights=other_weights, steps=steps)
        for p in settings.orders
    ]
    question_settings = {"parameter": "alpha", "objective": settings.sweep, "steps": steps}
    return _sweep_document(
        WeightSweepDocument, request, [*zip(settings.orders, sweeps, strict=True)], question_settings
    )


def sweep_norm(request: CopaRequest) -> OrderSweepDocument:
    """Sweep the norm from the mean rank to the worst rank."""
    table, steps = request.objectives, request.settings.steps or _STEPS
    sweep = sweep_p(table.population, table.weights, steps=steps)
    return _sweep_document(OrderSweepDocument, request, [(None, sweep)], {"parameter": "p", "steps": steps})


def _sweep_document(
    kind: type[Swept],
    request: CopaRequest,
    sweeps: list[tuple[float | None, Sweep]],
    question_settings: dict[str, Any],
) -> Swept:
    """Build the document of one or more sweeps.

    Parameters
    ----------
    kind : type
        Document class.
    request : CopaRequest
    sweeps : list of (float or None, Sweep)
        Pairs of the order p and the sweep.
    question_settings : dict
        Entries of the provenance's ``method`` that are specific to the sweep.
    """
    records = (
        (request.objectives, p, low, high, model)
        for p, sweep in sweeps
        for low, high, model in zip(sweep.low.tolist(), sweep.high.tolist(), sweep.model, strict=True)
    )
    return kind(
        **document_fields(request, [p for p, _ in sweeps if p is not None], question_settings),
        rows=rows_from_records(kind.row_type, "table p low high i", records),
        sweeps=tuple(sweeps),
    )


def _swept_objective(request: CopaRequest) -> int:
    """Return the index of the objective to sweep, raising UsageError if its weight cannot be swept."""
    name, metrics = request.settings.sweep or "", request.objectives.population.metrics
    if name == "p" and name not in metrics:
        raise UsageError(
            f"{option('sweep', name)}: no objective has this name",
            found="p is the order of the norm",
            hint=f"{option('sweep_p', True)} varies it",
        )
    objective = index_of(name, metrics, kind="objective", parameter="sweep")
    if len(metrics) == 1:
        raise UsageError(
            "sweeping a weight needs at least two objectives",
            found=f"only {name}",
            hint=f"select further objectives with {option('metric')}",
        )
    if name in request.table.options.weight:
        weight = option("weight", f"{name}=…")
        raise UsageError(
            f"{option('sweep', name)} varies this weight, so it cannot be set",
            found=f"{option('sweep', name)} with {weight}",
            hint=f"leave out {weight}; set weights of the other objectives only",
        )
    return objective
