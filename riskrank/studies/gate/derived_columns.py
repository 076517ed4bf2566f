"""Columns made of others: pass^k and pass@k of runs, the cost per success of costs and successes."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from riskrank.engine.evidence.cost_per_success import Costs, relative_costs
from riskrank.engine.evidence.evidence import Evidence
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.variance_components import Passes
from riskrank.errors import InputError, UsageError, option
from riskrank.scores.table.repeats import MERGING
from riskrank.studies.costs import require_costs, require_successes
from riskrank.studies.gate.claim import ALL_OF, GateClaim, Statistic
from riskrank.studies.gate.columns import ScoreColumn
from riskrank.studies.targets import Units


def refuse_merged(wanted: Sequence[Statistic], repeats: str) -> None:
    """Refuse to ask what all runs of a sample come to where they have become one score.

    Raises
    ------
    UsageError
    """
    of_runs = next((one for one in wanted if one.runs is not None), None)
    if of_runs is not None and repeats in MERGING:
        raise UsageError(
            f"{option('on', of_runs.name)} needs the runs of a sample, and {option('repeats', repeats)} "
            "makes one score of them",
            found="both",
            hint=f"drop {option('repeats', repeats)} for {option('repeats', 'draws')}, which keeps the runs; "
            f"or drop {option('on', of_runs.name)}",
        )


def passing(column: ScoreColumn, statistic: Statistic, models: Sequence[str]) -> ScoreColumn:
    """A column of a score a sample: the chance that all, or one, of k of its runs pass (method §10).

    Parameters
    ----------
    column : ScoreColumn
        Runs that passed or not, as draws of their samples.
    statistic : Statistic
        Of runs.
    models : sequence of str

    Raises
    ------
    UsageError
        If scores are not all 0 or 1, or tasks weigh.
    InputError
        If a sample has fewer than k runs.
    """
    assert statistic.runs is not None
    kind, k = statistic.runs
    scores, best = column.scores, max(0.0, column.units.sign)
    if not all(np.all((values == 0) | (values == column.units.sign)) for values in scores.values):
        raise UsageError(
            f"{option('on', statistic.name)} counts runs that pass, 1, or fail, 0",
            found=f"scores of {column.name} that are neither",
            hint=f"claim {option('on', f'mean:{column.name}')}, or give scores of 0 and 1",
        )
    if scores.strata.several:
        raise UsageError(
            f"{option('on', statistic.name)} looks at single samples, and tasks weigh here",
            found=f"{option('on', statistic.name)} on a suite of tasks",
            hint=f"pool the tasks with {option('task', 'none')}, or ask in each with {option('group_by')}",
        )
    values = []
    for model, own, samples in zip(models, scores.values, scores.samples, strict=True):
        passes = Passes.of(own == best, samples)
        if int(passes.runs.min()) < k:
            raise InputError(
                f"{option('on', statistic.name)} needs {k} runs of every sample",
                found=f"a sample of {model} with {int(passes.runs.min())} on {column.name}",
                hint=f"keep the runs apart with {option('repeats', 'draws')}, or ask for fewer of them",
            )
        values.append(passes.all_of(k) if kind == ALL_OF else passes.one_of(k))
    clusters = scores.sample_clusters()
    return replace(
        column,
        scores=ClusteredScores.build(
            values,
            clusters,
            samples=[np.arange(one.size) for one in values],
            paired=scores.paired,
        ),
        units=Units(1.0, f"{statistic.name} of {column.name}"),
        limits=(0.0, 1.0),
        bounded=True,
        reach=1.0,
    )


def per_success(costs: ScoreColumn, successes: ScoreColumn, statistic: Statistic) -> ScoreColumn:
    """Join costs and successes in a column, whose claims are on shares of the old cost per success.

    Raises
    ------
    UsageError
        If tasks weigh, models have samples of their own, or scores are no costs or no successes.
    """
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
