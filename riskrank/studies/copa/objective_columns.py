"""Objectives such as ``latency:tvar@0.05``, constraints such as ``co2 <= 0.5``, and the scores behind them.

An objective is a mean, a total, a tail mean or a cost per success of sample-level scores.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np

from riskrank.engine.copa.population import Constraint
from riskrank.engine.evidence.cost_per_success import Costs
from riskrank.engine.evidence.mean_differences import task_column_means
from riskrank.engine.gates import SideScores, observed_tail_mean
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.strata import TaskDesign
from riskrank.engine.sampling.variance_components import cluster_means
from riskrank.engine.types import Booleans, Floats, Integers
from riskrank.errors import InputError, UsageError, did_you_mean, listing, option
from riskrank.options.values import number_or_nan
from riskrank.scores.table.metric_specs import MetricSpec
from riskrank.scores.table.metrics import to_original_units
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.metric_means import has_proportion_means
from riskrank.studies.statistics import PER_SUCCESS, parse_cost_per_success, require_costs, require_successes
from riskrank.studies.targets import build_task_design

MEAN, TOTAL, TAIL = "mean", "total", "tvar"
_TAILS = (TAIL, "cvar")
_EXAMPLES = (MEAN, TOTAL, "tvar@0.05")


@dataclass(frozen=True)
class ObjectiveName:
    """A parsed objective: a metric and a statistic.

    Attributes
    ----------
    metric : int
        Index of the metric.
    statistic : {"mean", "total", "tvar", "cost-per-success"}
        Statistic by which scores are summarised.
    level : float or None
        Proportion of worst scores that ``tvar`` averages, or None for other statistics.
    name : str
        Name of the metric for a mean; otherwise metric and statistic, such as ``latency:tvar@0.05``.
    success : int or None
        Index of the metric that counts successes, for a cost per success.
    """

    metric: int
    statistic: str
    level: float | None
    name: str
    success: int | None = None

    @property
    def required_metrics(self) -> list[int]:
        """Indices of the metrics that are needed to compute the objective."""
        return [self.metric] if self.success is None else [self.metric, self.success]


def parse_objectives(texts: Sequence[str], metrics: Sequence[str]) -> list[ObjectiveName]:
    """Parse the requested objectives, and add the mean of each metric that no objective uses.

    Parameters
    ----------
    texts : sequence of str
        Requested objectives, such as ``latency:tvar@0.05``.
    metrics : sequence of str
        Names of the metrics.

    Returns
    -------
    list of ObjectiveName
        In the order of the metrics.

    Raises
    ------
    UsageError
        If a text names an unknown metric or an unknown statistic.
    """
    requested = list(dict.fromkeys(_parse_objective(text, metrics) for text in texts))
    by_metric = [[objective for objective in requested if objective.metric == k] for k in range(len(metrics))]
    means = [[ObjectiveName(k, MEAN, None, metric)] for k, metric in enumerate(metrics)]
    return [objective for chosen, mean in zip(by_metric, means, strict=True) for objective in chosen or mean]


def _parse_objective(text: str, metrics: Sequence[str]) -> ObjectiveName:
    """Parse one objective, such as ``latency:tvar@0.05``."""
    if text not in metrics and (cost_pair := parse_cost_per_success("objective", text, metrics)):
        cost, success = map(list(metrics).index, cost_pair)
        return ObjectiveName(cost, PER_SUCCESS, None, text, success)
    name, separator, statistic = text.rpartition(":")
    if text in metrics or not separator:
        name, statistic = text, MEAN
    if name not in metrics:
        # The parts of ``total:cost`` are in the wrong order; the message swaps them.
        name, statistic = (statistic, name) if statistic in metrics else (name, statistic)
        problem = f"{option('objective', text)} does not name a metric"
        fallback = f"write {option('objective', f'{metrics[0]}:tvar@0.05')}, one option per objective"
        hint = did_you_mean(
            name, metrics, write=lambda match: option("objective", f"{match}:{statistic}"), fallback=fallback
        )
        raise UsageError(problem, found=f"the metrics are {listing(metrics)}", hint=hint)
    index = list(metrics).index(name)
    kind, _, level = statistic.partition("@")
    if statistic == MEAN:
        return ObjectiveName(index, MEAN, None, name)
    if statistic == TOTAL:
        return ObjectiveName(index, TOTAL, None, f"{name}:{TOTAL}")
    if kind in _TAILS:
        share = number_or_nan(level)
        if 0 < share < 1:
            return ObjectiveName(index, TAIL, share, f"{name}:{TAIL}@{share:g}")
    raise UsageError(
        f"{option('objective', text)} is not a statistic of {name}",
        found=f"{statistic or 'nothing'}; the statistics are {', '.join(_EXAMPLES)}"
        + (", with a share between 0 and 1" if kind in _TAILS else ""),
        hint=f"write {option('objective', f'{name}:tvar@0.05')} for the mean of the worst 5 %, or leave it "
        "out for the mean of all samples",
    )


_RELATION = "<=|>=|==|<|>|="
_BOUND = re.compile(rf"\s*(?P<name>.*?\S)\s*(?P<relation>{_RELATION})\s*(?P<bound>[^<>=]+?)\s*")
# Signs that the text is not a single bound, as in ``cost != 3`` or ``a < 1 and b < 2``.
_MALFORMED_NAME = re.compile(rf"{_RELATION}|!$")
# Typographic relations and their ASCII form.
_ASCII_RELATIONS = str.maketrans({"≤": "<=", "≥": ">="})


def parse_constraint(
    text: str,
    names: Sequence[str],
    *,
    values: Floats,
    larger_is_better: Booleans,
    shares: Sequence[bool] = (),
) -> Constraint:
    """Parse a constraint such as ``co2 <= 0.5`` on one of K objectives of N models.

    Parameters
    ----------
    text : str
        Text to parse.
    names : sequence of K str
        The objectives.
    values : ndarray, shape (N, K)
        In the units of the file, or NaN where missing.
    larger_is_better : ndarray of bool, shape (K,)
        Directions in the units of the file.
    shares : sequence of bool
        True for objectives that are proportions, or empty if unknown.

    Raises
    ------
    UsageError
        If the text has another form, names an unknown objective, or bounds a proportion outside 0 to 1.
    """
    match = _BOUND.fullmatch(text.translate(_ASCII_RELATIONS))
    bound = number_or_nan(match and match["bound"])
    name = "" if match is None else match["name"]
    if match is None or not isfinite(bound) or (name not in names and _MALFORMED_NAME.search(name)):
        # The hint bounds the objective that was probably meant, such that half of the models meet the bound.
        meant = max(range(len(names)), key=lambda k: len(names[k]) if names[k] in text else 0)
        relation = ">=" if larger_is_better[meant] else "<="
        example = f"{names[meant]} {relation} {float(np.nanmedian(values[:, meant])):.2g}"
        problem = f"{option('require')} needs an objective, one of <= < >= > =, and a number"
        hint = f"write {option('require', example)}, in quotes, one option per bound"
        raise UsageError(problem, found=repr(text), hint=hint)
    if name not in names:
        problem = f"{option('require')} bounds {name!r}, which is not an objective"
        fallback = f"add {option('objective', name)}, or select its metric with {option('metric')}"
        hint = did_you_mean(name, names, write=repr, fallback=fallback)
        raise UsageError(problem, found=f"the objectives are {listing(names)}", hint=hint)
    relation = "==" if match["relation"] == "=" else match["relation"]
    index = list(names).index(name)
    if any(shares) and shares[index] and not 0 <= bound <= 1:
        share = bound / 100 if 1 < bound <= 100 else 0.5
        problem = f"{option('require', text)}: the bound of a proportion must be between 0 and 1"
        detail = f"every score of {name} is 0 or 1, so the mean is a proportion, not a percentage"
        hint = f"write {option('require', f'{name} {relation} {share:g}')}"
        raise UsageError(problem, found=detail, hint=hint)
    return Constraint(objective=index, relation=relation, bound=bound)


@dataclass(frozen=True, eq=False)
class ObjectiveColumn:
    """Sample-level scores of N models on one objective, without missing scores.

    Attributes
    ----------
    name : ObjectiveName
        Metric and statistic of the objective.
    spec : MetricSpec
        Specification of the metric.
    values : tuple of N ndarray
        Scores of each model, larger is better. For a total, each score is multiplied by the number of scores.
    clusters, samples : tuple of N ndarray of int
        Cluster and sample of each score.
    keys : tuple of N ndarray of int
        Resampling unit of each score, with the same numbering in all objectives.
    complete : tuple of N bool
        True if a model has no gaps on this metric: a score on each of its samples, or wherever some other
        metric has one.
    tasks : TaskDesign or None
        Tasks of a suite.
    paired : bool
        True if the models share their samples.
    clustered : bool
        True if a resampling unit contains several samples.
    scale_factor : float
        Factor by which the scores in the file were multiplied.
    successes : tuple of N ndarray, or None
        Successes, if the objective is a cost per success; `values` then holds the costs.
    """

    name: ObjectiveName
    spec: MetricSpec
    values: tuple[Floats, ...]
    clusters: tuple[Integers, ...]
    samples: tuple[Integers, ...]
    keys: tuple[Integers, ...]
    complete: tuple[bool, ...]
    tasks: TaskDesign | None
    paired: bool
    clustered: bool
    scale_factor: float = 1.0
    successes: tuple[Floats, ...] | None = None

    @property
    def lower_is_better(self) -> bool:
        """True if smaller values of the objective are better, in the units of the input file."""
        return (self.spec.direction == "lower") != (self.spec.transform == "neg_log")

    @property
    def mean_is_proportion(self) -> bool:
        """True if the objective is a mean of binary scores, that is, a proportion."""
        raw = [self.to_file_units(values) for values in self.values]
        return self.name.statistic not in (TOTAL, PER_SUCCESS) and has_proportion_means(self.spec, raw)

    @cached_property
    def is_constant(self) -> bool:
        """True if every model has the same score on all samples, such as a price.

        Proportions never count as constant, because the next sample may differ. Neither does a metric with
        gaps, such as one recorded only once per model.
        """
        pairs = zip(self.values, self.complete, strict=True)
        constant = all(values.size == 0 or (complete and np.ptp(values) == 0) for values, complete in pairs)
        return constant and not self.mean_is_proportion and self.successes is None

    def select_models(self, models: Sequence[int]) -> ObjectiveColumn:
        """Return the column restricted to the given models."""
        tasks = self.tasks
        if tasks is not None:
            tasks = replace(tasks, row_tasks=tuple(tasks.row_tasks[i] for i in models))
        names: tuple[str, ...] = ("values", "clusters", "samples", "keys", "complete")
        names += () if self.successes is None else ("successes",)
        selected: dict[str, Any] = {name: tuple(getattr(self, name)[i] for i in models) for name in names}
        return replace(self, **selected, tasks=tasks)

    def clustered_scores(self) -> ClusteredScores:
        """Return the scores as :class:`ClusteredScores`."""
        samples = self.samples if self.clustered else None
        return ClusteredScores.build(
            self.values, self.clusters, samples=samples, paired=self.paired, tasks=self.tasks
        )

    def clustered_successes(self) -> ClusteredScores | None:
        """Return the successes as :class:`ClusteredScores`, or None unless this is a cost per success."""
        return None if self.successes is None else replace(self, values=self.successes).clustered_scores()

    def costs(self) -> list[Costs]:
        """Return the costs and successes of each model for a cost per success; otherwise an empty list."""
        parts = zip(self.values, self.successes or (), self.clusters, strict=self.successes is not None)
        return [Costs.from_rows(-c, s, np.unique(units, return_inverse=True)[1]) for c, s, units in parts]

    def to_file_units(self, oriented: Floats) -> Floats:
        """Convert values that are oriented so that larger is better to the units of the input file."""
        flat = np.asarray(oriented, dtype=np.float64)
        return to_original_units(flat.reshape(-1, 1), [self.spec]).reshape(flat.shape)

    @property
    def degrees_of_freedom(self) -> Floats:
        """Degrees of freedom of each model's standard error, shape (N,).

        This is the number of resampling units minus the number of fixed tasks.
        """
        strata = 1 if self.tasks is None or self.tasks.random else len(self.tasks.names)
        return np.array([float(np.unique(keys).size - strata) for keys in self.keys])

    def standard_errors(self) -> Floats:
        """Return the standard error of each model's value in the units of the input file, shape (N,).

        Unknown standard errors are NaN.
        """
        errors = [estimate.error for estimate in self.costs()]
        if self.successes is not None:
            return np.array(errors)
        for model, (values, cluster) in enumerate(zip(self.values, self.clusters, strict=True)):
            if self.name.level is not None:
                worst = np.sort(values)[: max(round(self.name.level * values.size), 1)]
                errors.append(float(worst.std()) / np.sqrt(worst.size) if worst.size > 1 else np.nan)
                continue
            raw = self.to_file_units(values)[:, None]
            if self.tasks is None:
                estimate = cluster_means(raw, np.unique(cluster, return_inverse=True)[1])
            else:
                estimate = task_column_means(raw, cluster, self.tasks, model)
            errors.append(float(estimate.error[0]))
        return np.array(errors)


def objective_columns(
    table: ScoreTable, names: Sequence[ObjectiveName], *, random_tasks: bool
) -> list[ObjectiveColumn]:
    """Return the sample-level scores of each objective.

    Parameters
    ----------
    table : ScoreTable
        May contain missing scores.
    names : sequence of ObjectiveName
        Metric and statistic of each objective.
    random_tasks : bool
        True to resample tasks instead of samples.

    Returns
    -------
    list of ObjectiveColumn

    Raises
    ------
    UsageError
        If tasks are to be resampled but the table has none, or a total is not defined.
    InputError
        If tasks are to be resampled and a metric has scores on one task only, or the models' totals have
        different numbers of scores.
    """
    tasks, keys = build_task_design(table, random=random_tasks), table.clusters
    if tasks is not None:
        keys = tuple(tasks.unit_labels(table.clusters))
    return [_objective_column(table, name, tasks, keys) for name in names]


def _objective_column(
    table: ScoreTable, name: ObjectiveName, tasks: TaskDesign | None, keys: tuple[Integers, ...]
) -> ObjectiveColumn:
    """Return the sample-level scores of one objective, without missing scores.

    Parameters
    ----------
    table : ScoreTable
        Scores of all models, with their samples and metrics.
    name : ObjectiveName
        Metric and statistic of the objective.
    tasks : TaskDesign or None
        Tasks of a suite.
    keys : tuple of N ndarray of int
        Resampling unit of each row, by model.
    """
    present: list[Booleans] = [~np.isnan(column) for column in table.column(name.metric)]
    if name.success is not None:
        successes = table.column(name.success)
        present = [mask & ~np.isnan(column) for mask, column in zip(present, successes, strict=True)]

    def select_rows(parts: Sequence[Any]) -> tuple[Any, ...]:
        """Return the rows of each model that have a score."""
        return tuple(part[mask] for part, mask in zip(parts, present, strict=True))

    present_tasks = None
    if tasks is not None:
        rows = select_rows(tasks.row_tasks)
        if tasks.weights[np.unique(np.concatenate(rows))].any():
            present_tasks = replace(tasks, row_tasks=rows).drop_empty()  # None for a single task
        if present_tasks is None and tasks.random:
            problem = f"generalising needs scores of {table.metrics[name.metric].name} on several tasks"
            hint = f"restrict the results to these tasks: {option('tasks', 'fixed')}"
            raise InputError(problem, found="scores on one task", hint=hint)
    complete = []
    for scored in (~np.isnan(rows) for rows in table.values):
        has_metric, others = scored[:, name.metric, None], np.delete(scored, name.metric, axis=1)
        others = others[:, others.sum(axis=0) > 1]
        on_all_samples = (has_metric.ravel() | ~scored.any(axis=1)).all()
        complete.append(bool(on_all_samples or (has_metric | ~others).all(axis=0).any()))
    objective = ObjectiveColumn(
        name,
        table.metrics[name.metric],
        select_rows(table.column(name.metric)),
        select_rows(table.clusters),
        select_rows(table.row_samples),
        select_rows(keys),
        complete=tuple(complete),
        tasks=present_tasks,
        paired=table.paired,
        clustered=table.cluster_names is not None,
    )
    if name.success is None:
        return _as_total(objective) if name.statistic == TOTAL else objective
    spec, passed = table.metrics[name.success], select_rows(table.column(name.success))
    require_costs(
        ("objective", name.name),
        (objective.lower_is_better and objective.spec.transform == "none", objective.values),
        (spec.direction == "lower" or spec.transform != "none", passed),
        independent=objective.tasks is None and table.folds is None,
    )
    return replace(objective, successes=passed)


def _as_total(column: ObjectiveColumn) -> ObjectiveColumn:
    """Rescale a column so that its mean is the total: multiply each score by the number of scores.

    Raises
    ------
    InputError
        If the models have different numbers of scores.
    UsageError
        If the tasks are resampled, or the metric is read as its logarithm.
    """
    sizes = {values.size for values in column.values if values.size}
    name, option_text = column.spec.name, option("objective", column.name.name)
    if len(sizes) > 1:
        problem = f"{option_text} cannot compare models with different numbers of scores"
        detail = f"{min(sizes):,} to {max(sizes):,} scores of {name} per model"
        hint = f"compare means: {option('objective', f'{name}:{MEAN}')}"
        raise InputError(problem, found=detail, hint=hint)
    untransformed = column.spec.transform == "none"
    if not untransformed or (column.tasks is not None and column.tasks.random):
        obstacle = "the tasks are resampled" if untransformed else f"{name} is read as its logarithm"
        problem = f"{option_text} is the sum of the scores, but {obstacle}"
        hint = f"compare means: {option('objective', f'{name}:{MEAN}')}"
        raise UsageError(problem, found=option_text, hint=hint)
    tasks = column.tasks
    if tasks is not None:
        # All scores have the same weight in their sum.
        weights = np.bincount(tasks.row_tasks[0], minlength=len(tasks.names)).astype(np.float64)
        tasks = replace(tasks, weights=weights / weights.sum())
    count = float(sizes.pop()) if sizes else 1.0
    totals = tuple(values * count for values in column.values)
    return replace(column, values=totals, tasks=tasks, scale_factor=count)


def oriented_objective_values(column: ObjectiveColumn, means: Floats, models: Sequence[str]) -> Floats:
    """Return the objective's value for each of N models, oriented so that larger is better.

    Missing values are NaN.

    Parameters
    ----------
    column : ObjectiveColumn
        Sample-level scores of the objective.
    means : ndarray, shape (N,)
        Means of the metric, or NaN where a score is missing.
    models : sequence of N str
        Names of the models.

    Returns
    -------
    ndarray, shape (N,)

    Raises
    ------
    InputError
        If a model has too few successes to estimate its cost per success.
    """
    if column.name.statistic == TOTAL:
        sums = np.array([float(np.sum(values)) / max(values.size, 1) for values in column.values])
        return np.where(np.isnan(means), np.nan, sums)
    complete_models = np.flatnonzero(~np.isnan(means)).tolist()
    objective_values = np.full(means.shape, np.nan)
    if column.successes is not None:
        for model, costs in zip(complete_models, column.select_models(complete_models).costs(), strict=True):
            require_successes(costs, models[model], column.name.name)
            objective_values[model] = -costs.per_success
    elif column.name.level is None:
        return means
    elif len(complete_models) > 1:
        scores = column.select_models(complete_models).clustered_scores()
        for i, model in enumerate(complete_models):
            objective_values[model] = observed_tail_mean(SideScores.from_scores(scores, i), column.name.level)
    return objective_values
