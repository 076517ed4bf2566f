"""Claims on the cost per success: a column made of two, the one of costs and the one of successes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from riskrank.engine.evidence.costs import FEWEST_SUCCESSES, Costs, relative_costs
from riskrank.engine.evidence.evidence import Evidence
from riskrank.errors import InputError, UsageError, option
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
    asked = option("on", f"{statistic.name}:{statistic.label}")
    problem: tuple[str, str] | None = None
    if successes.scores.strata is not None or successes.means is not None or successes.in_order is not None:
        problem = "samples that are drawn one by one", "tasks that weigh, folds, or rows in order"
    elif not successes.scores.paired:
        problem = "models with the same samples", option("unpaired", True)
    elif costs.units.sign > 0 or any(float(one.max()) > 0 for one in costs.scores.values):
        problem = f"costs of which less is better, not below 0, in {costs.name}", "scores that are none"
    elif successes.units.sign < 0 or any(
        float(one.min()) < 0 or float(one.max()) > 1 for one in successes.scores.values
    ):
        problem = f"successes from 0 to 1, of which more is better, in {successes.name}", "other scores"
    if problem is not None:
        raise UsageError(
            f"{asked} needs {problem[0]}",
            found=problem[1],
            hint=f"name the cost first, {option('on', 'cost-per-success:COST/SUCCESS')}, and say "
            f"{option('lower', 'COST')}; {option('task', 'none')} pools tasks",
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
    order = np.argsort(column.scores.clusters[model], kind="stable")
    values = (-column.costs.values[model][order], column.scores.values[model][order])
    found = Costs(*values, column.scores.clusters[model][order])
    if not found.enough:
        raise InputError(
            f"{models[model]} has fewer than {FEWEST_SUCCESSES} successes on {column.name}, too few to say "
            "what one costs",
            found=f"{found.successes.sum():g} in {found.successes.size:,} scores",
            hint="score more samples, or claim something of the costs and of the successes by themselves",
        )
    return found
