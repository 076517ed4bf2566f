"""Derived score columns: pass^k and pass@k from repeated runs, and the cost per success."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from riskrank.engine.evidence.cost_per_success import Costs, relative_costs
from riskrank.engine.evidence.evidence import Evidence
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.variance_components import Passes
from riskrank.errors import InputError, UsageError, option
from riskrank.scores.table.rows import MERGING
from riskrank.studies.costs import require_costs, require_successes
from riskrank.studies.gate.claim import ALL_RUNS, GateClaim, Statistic
from riskrank.studies.gate.columns import ScoreColumn
from riskrank.studies.targets import Units


def refuse_merged_repeats(statistics: Sequence[Statistic], repeats: str) -> None:
    """Raise an error if a statistic needs single runs but repeats are merged into one score.

    Raises
    ------
    UsageError
        If a statistic such as pass^k needs single runs and the option ``repeats`` merges them.
    """
    statistic = next((statistic for statistic in statistics if statistic.runs is not None), None)
    if statistic is not None and repeats in MERGING:
        raise UsageError(
            f"{option('on', statistic.name)} needs the runs of a sample, but {option('repeats', repeats)} "
            "merges them into one score",
            found="both",
            hint=f"replace {option('repeats', repeats)} by {option('repeats', 'draws')}, which keeps runs; "
            f"or leave out {option('on', statistic.name)}",
        )


def pass_column(column: ScoreColumn, statistic: Statistic, models: Sequence[str]) -> ScoreColumn:
    """Return a column with each sample's probability that all, or any, of k runs pass (method §10).

    Parameters
    ----------
    column : ScoreColumn
        Scores of 0 or 1 for several runs per sample.
    statistic : Statistic
        Statistic whose `runs` is not None.
    models : sequence of str

    Raises
    ------
    UsageError
        If scores are not all 0 or 1, or the tasks of a suite are weighted.
    InputError
        If a sample has fewer than k runs.
    """
    assert statistic.runs is not None
    kind, k = statistic.runs
    scores, best = column.scores, max(0.0, column.units.sign)
    if not all(np.all((values == 0) | (values == column.units.sign)) for values in scores.values):
        raise UsageError(
            f"{option('on', statistic.name)} counts runs that pass (1) or fail (0)",
            found=f"scores of {column.name} other than 0 and 1",
            hint=f"claim {option('on', f'mean:{column.name}')}, or give scores of 0 and 1",
        )
    if scores.strata.has_several_tasks:
        raise UsageError(
            f"{option('on', statistic.name)} needs equally weighted samples, but tasks are weighted here",
            found=f"{option('on', statistic.name)} on a suite of tasks",
            hint=f"pool tasks with {option('task', 'none')}, or claim it per task with {option('group_by')}",
        )
    values = []
    for model, model_scores, samples in zip(models, scores.values, scores.samples, strict=True):
        passes = Passes.from_runs(model_scores == best, samples)
        if int(passes.runs.min()) < k:
            raise InputError(
                f"{option('on', statistic.name)} needs {k} runs of every sample",
                found=f"only {int(passes.runs.min())} on {column.name} for a sample of {model}",
                hint=f"keep the single runs with {option('repeats', 'draws')}, or claim it for fewer runs",
            )
        values.append(passes.all_pass(k) if kind == ALL_RUNS else passes.any_pass(k))
    clusters = scores.sample_clusters()
    return replace(
        column,
        scores=ClusteredScores.build(
            values,
            clusters,
            samples=[np.arange(column_values.size) for column_values in values],
            paired=scores.paired,
        ),
        units=Units(1.0, f"{statistic.name} of {column.name}"),
        limits=(0.0, 1.0),
        width=1.0,
    )


def cost_column(costs: ScoreColumn, successes: ScoreColumn, statistic: Statistic) -> ScoreColumn:
    """Join costs and successes in one column, for claims about relative changes of the cost per success.

    Raises
    ------
    UsageError
        If tasks are weighted, samples are unpaired, or the scores are not costs and successes.
    """
    require_costs(
        ("on", f"{statistic.name}:{statistic.label}"),
        (costs.units.sign < 0, costs.scores.values),
        (successes.units.sign < 0, successes.scores.values),
        independent=not successes.scores.strata.has_several_tasks and successes.means is None,
        paired=successes.scores.paired,
    )
    return replace(
        successes,
        name=statistic.label,
        units=Units(-1.0, f"{statistic.name} of {statistic.label}"),
        limits=(-np.inf, 1.0),
        width=None,
        costs=costs.scores,
    )


def cost_evidence(claims: Sequence[GateClaim], models: Sequence[str]) -> Evidence:
    """Return the evidence for claims about the cost per success.

    Raises
    ------
    InputError
        If a model has too few successes.
    """
    pairs = [(_costs(claim, claim.new, models), _costs(claim, claim.old, models)) for claim in claims]
    return relative_costs(pairs, np.array([claim.boundary for claim in claims]))


def _costs(claim: GateClaim, model: int, models: Sequence[str]) -> Costs:
    """Return the costs and successes of one model."""
    column = claim.column
    assert column.costs is not None
    scores = column.scores
    costs = Costs.from_rows(-column.costs.values[model], scores.values[model], scores.clusters[model])
    require_successes(costs, models[model], column.name)
    return costs
