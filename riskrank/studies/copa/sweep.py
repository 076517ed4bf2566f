"""COPA's choice as a weight, or p, goes from end to end."""

from dataclasses import dataclass, replace
from typing import Annotated, Any, TypeVar

import numpy as np

from riskrank.engine.copa.ranking import complete_weights
from riskrank.engine.copa.sweep import Sweep, sweep_p, sweep_weight
from riskrank.errors import UsageError, index_of, option
from riskrank.studies.copa.document_base import CopaBase, CopaRequest, document_fields, order_value
from riskrank.studies.document import entries, of, rows_from

Row = TypeVar("Row")

# Of a sweep, where nobody says how many.
_STEPS = 10_000
# Fields that hold a p.
_ORDERS = ("p", "p_low", "p_high")
Order = Annotated[float, {"anyOf": [{"type": "number"}, {"const": "inf"}]}]


@dataclass(frozen=True, slots=True)
class WeightIntervalRow:
    """The model chosen on an interval of the weight, for one p; ``u`` and ``values`` are by objective."""

    alpha_low: float = of(lambda low: low)
    alpha_high: float = of(lambda high: high)
    model: str = of(lambda table, i: table.name(i))
    p: Order = of(lambda p: p)
    u: dict[str, float] = of(lambda table, i: table.by_metric(table.population.u[i]))
    values: dict[str, float] = of(lambda table, i: table.by_metric(table.values[i]))


@dataclass(frozen=True, slots=True)
class OrderIntervalRow:
    """The model chosen on an interval of p; ``u`` and ``values`` are by objective."""

    p_low: Order = of(lambda low: low)
    p_high: Order = of(lambda high: high)
    model: str = of(lambda table, i: table.name(i))
    u: dict[str, float] = of(lambda table, i: table.by_metric(table.population.u[i]))
    values: dict[str, float] = of(lambda table, i: table.by_metric(table.values[i]))


@dataclass(frozen=True, kw_only=True)
class SweepDocument(CopaBase[Row], schema="copa-sweep"):
    """Which model on which interval.

    Attributes
    ----------
    sweeps : tuple of (float or None, Sweep)
        The p of a sweep and the sweep; None for a sweep over p.
    """

    sweeps: tuple[tuple[float | None, Sweep], ...]

    def written(self) -> dict[str, list[Any]]:
        """All rows as JSON and CSV write them, which have no number for p = ∞."""
        return {
            name: [order_value(value) for value in values] if name in _ORDERS else values
            for name, values in self.columns().items()
        }

    def result_entries(self) -> dict[str, Any]:
        """How well each sweep covers the front."""
        return {
            "sweeps": [
                {
                    "p": None if p is None else order_value(p),
                    "intervals": int(sweep.model.size),
                    **entries(sweep, "models_chosen", "front_size", "coverage", "evenness"),
                }
                for p, sweep in self.sweeps
            ]
        }


@dataclass(frozen=True, kw_only=True)
class WeightSweepDocument(SweepDocument[WeightIntervalRow]):
    """The choice as the weight of one objective goes from 0 to 1."""


@dataclass(frozen=True, kw_only=True)
class OrderSweepDocument(SweepDocument[OrderIntervalRow]):
    """The choice as p goes from 1 to infinity."""


Swept = TypeVar("Swept", WeightSweepDocument, OrderSweepDocument)


def sweep_requested_weight(asked: CopaRequest) -> WeightSweepDocument:
    """Move the weight of one objective, the others in the proportions of theirs, once for every p.

    Raises
    ------
    UsageError
        If there is no such objective, no other, or its weight is given as well.
    """
    settings, table = asked.settings, asked.objectives
    objective = _swept_objective(asked)
    others = [name for name in table.population.metrics if name != settings.sweep]
    given = {name: weight for name, weight in table.given_weights.items() if name != settings.sweep}
    rest = np.insert(complete_weights(others, given), objective, 0.0)
    asked = replace(asked, objectives=replace(table, weight_override=rest))
    steps = settings.steps or _STEPS
    sweeps = [
        sweep_weight(table.population, objective, p=p, other_weights=rest, steps=steps)
        for p in settings.orders
    ]
    described = {"parameter": "alpha", "objective": settings.sweep, "steps": steps}
    return _sweep_document(
        WeightSweepDocument, asked, [*zip(settings.orders, sweeps, strict=True)], described
    )


def sweep_norm(asked: CopaRequest) -> OrderSweepDocument:
    """Move the norm from the mean rank to the worst."""
    table, steps = asked.objectives, asked.settings.steps or _STEPS
    sweep = sweep_p(table.population, table.weights, steps=steps)
    return _sweep_document(OrderSweepDocument, asked, [(None, sweep)], {"parameter": "p", "steps": steps})


def _sweep_document(
    kind: type[Swept], asked: CopaRequest, sweeps: list[tuple[float | None, Sweep]], described: dict[str, Any]
) -> Swept:
    records = (
        (asked.objectives, p, low, high, model)
        for p, sweep in sweeps
        for low, high, model in zip(sweep.low.tolist(), sweep.high.tolist(), sweep.model, strict=True)
    )
    return kind(
        **document_fields(asked, [p for p, _ in sweeps if p is not None], described),
        rows=rows_from(kind.row_type, "table p low high i", records),
        sweeps=tuple(sweeps),
    )


def _swept_objective(asked: CopaRequest) -> int:
    name, metrics = asked.settings.sweep or "", asked.objectives.population.metrics
    if name == "p" and name not in metrics:
        raise UsageError(
            f"{option('sweep', name)}: there is no such objective",
            result_entries="p is the order of the norm",
            hint=f"{option('sweep_p', True)} turns it",
        )
    objective = index_of(name, metrics, kind="objective", parameter="sweep")
    if len(metrics) == 1:
        raise UsageError(
            "sweeping a weight needs at least two objectives",
            result_entries=f"only {name}",
            hint=f"select further objectives with {option('metric')}",
        )
    if name in asked.table.options.weight:
        weight = option("weight", f"{name}=…")
        raise UsageError(
            f"{option('sweep', name)} gives it every weight, so that none can be set",
            result_entries=f"{option('sweep', name)} with {weight}",
            hint=f"leave out {weight}; weights of the others set their proportions",
        )
    return objective
