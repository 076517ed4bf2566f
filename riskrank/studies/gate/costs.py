"""Claims on the cost per success: a column made of two, the one of costs and the one of successes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from riskrank.engine.evidence.costs import Costs, relative_costs
from riskrank.engine.evidence.evidence import Evidence
from riskrank.studies.costs import require_costs, require_successes
from riskrank.studies.gate.claim import GateClaim
from riskrank.studies.gate.columns import ScoreColumn
from riskrank.studies.gate.statistics import Statistic
from riskrank.studies.units import Units


def per_success(
    costs: Sequence[ScoreColumn], successes: Sequence[ScoreColumn], statistic: Statistic
) -> list[ScoreColumn]:
    """Columns of costs and successes together, whose claims are on shares of the old cost per success.

    Raises
    ------
    UsageError
        If tasks weigh, models have samples of their own, or scores are no costs or no successes.
    """
    return [_together(*pair, statistic) for pair in zip(costs, successes, strict=True)]


def _together(costs: ScoreColumn, successes: ScoreColumn, statistic: Statistic) -> ScoreColumn:
    """A column of both, of all samples or of a group."""
    require_costs(
        ("on", f"{statistic.name}:{statistic.label}"),
        (costs.units.sign < 0, costs.scores.values),
        (successes.units.sign < 0, successes.scores.values),
        alike=not successes.scores.strata.several and successes.means is None and successes.in_order is None,
        paired=successes.scores.paired,
    )
    return replace(
        successes,
        name=statistic.label,
        units=Units(-1.0, f"{statistic.name} of {statistic.label}"),
        limits=(-np.inf, 1.0),
        bounded=False,
        reach=None,
        costs=costs.scores,
    )


def evidence_of_costs(claims: Sequence[GateClaim], models: Sequence[str]) -> Evidence:
    """What the samples say of claims on the cost per success.

    Raises
    ------
    InputError
        If a model has too few successes.
    """
    pairs = [(_costs(claim, claim.new, models), _costs(claim, claim.old, models)) for claim in claims]
    return relative_costs(pairs, np.array([claim.boundary for claim in claims]))


def _costs(claim: GateClaim, model: int, models: Sequence[str]) -> Costs:
    column = claim.column
    assert column.costs is not None
    scores = column.scores
    found = Costs.of(-column.costs.values[model], scores.values[model], scores.clusters[model])
    require_successes(found, models[model], column.name)
    return found
