"""Models by what a success costs: a ranking by means whose differences are shares (method §18)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from riskrank.engine.evidence.costs import CostRatios, Costs
from riskrank.engine.types import Floats
from riskrank.errors import UsageError, option
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.costs import PER_SUCCESS, cost_and_success, require_costs, require_successes
from riskrank.studies.means_only import MeanColumn
from riskrank.studies.metric_means import MetricMeans
from riskrank.studies.wording import decimals_of, rounded, rounded_beside_zero

# Decimals of a share of a cost.
_DECIMALS = 2
WHY = "Differences are shares of what a success of the first costs."


@dataclass(frozen=True)
class CostMeans(MetricMeans):
    """Costs per success of k models, with intervals of each alone; differences are shares."""

    costs: Sequence[Costs] = ()

    @cached_property
    def ends(self) -> tuple[Floats, Floats]:
        """Intervals of the costs per success, of each alone, at 95 %."""
        low, high = np.array([one.interval(0.05) for one in self.costs]).T
        return low, high

    def gap(self, difference: float) -> str:
        """A share."""
        return rounded(difference, _DECIMALS)

    def span(self, low: float, high: float) -> str:
        """Where a share lies."""
        return " to ".join(rounded_beside_zero(end, _DECIMALS) for end in (low, high))


def cost_column(table: ScoreTable, text: str) -> tuple[MeanColumn, CostMeans]:
    """Costs per success of every model, as ``cost-per-success:COST/SUCCESS`` names them, and all differences.

    Raises
    ------
    UsageError
        If it names something else, or metrics that are no costs or no successes.
    InputError
        If a model has too few successes.
    """
    names = [metric.name for metric in table.metrics]
    both = cost_and_success("on", text, names)
    if both is None:
        raise UsageError(
            f"{option('on', text)} is not what models are ranked by in the place of means",
            found=text,
            hint=f"write {option('on', f'{PER_SUCCESS}:COST/SUCCESS')}, or leave it out",
        )
    places = [names.index(name) for name in both]
    (cost, spent), (success, passed) = ((table.metrics[at], table.column(at)) for at in places)
    require_costs(
        ("on", text),
        (cost.direction == "lower" and cost.transform == "none", spent),
        (success.direction == "lower" or success.transform != "none", passed),
        alike=not table.suite and not table.means_only and table.units is None,
        paired=table.paired,
    )
    name = "/".join(both)
    units = [np.unique(own, return_inverse=True)[1] for own in table.clusters]
    costs = [Costs.of(-c, s, own) for c, s, own in zip(spent, passed, units, strict=True)]
    for model, one in zip(table.models, costs, strict=True):
        require_successes(one, model, name)
    theta, ratios = np.array([one.per_success for one in costs]), CostRatios.of_all(costs)
    error = np.array([one.error for one in costs])
    freedom = np.array([float(one.units[-1]) for one in costs])
    means = CostMeans(name, True, cost.declared, False, theta, error, decimals_of(error), freedom, costs)
    return MeanColumn(name, -theta, ratios, freedom.min() + 1, PER_SUCCESS), means
