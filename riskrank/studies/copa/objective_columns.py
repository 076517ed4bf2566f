"""The scores behind objectives: means of metrics, totals, means of the worst scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from riskrank.engine.evidence.cost_per_success import Costs
from riskrank.engine.gates.replicates import tail_value
from riskrank.engine.gates.side import SideScores
from riskrank.engine.sampling.cluster_means import cluster_means, task_column_means
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.strata import TaskDesign
from riskrank.engine.types import Booleans, Floats, Integers
from riskrank.scores.table.metrics import original_units
from riskrank.scores.table.metrics_file import MetricSpec
from riskrank.scores.table.score_table import ScoreTable
from riskrank.standard_errors import InputError, UsageError, option
from riskrank.studies.copa.objective_names import MEAN, TOTAL, ObjectiveName
from riskrank.studies.costs import PER_SUCCESS, require_costs, require_successes
from riskrank.studies.metric_means import is_share
from riskrank.studies.targets import tasks_of


@dataclass(frozen=True, eq=False)
class ObjectiveColumn:
    """The scores behind one objective; scores that are missing are left out.

    Attributes
    ----------
    name : ObjectiveName
    spec : MetricSpec
        Of its metric.
    values : tuple of N ndarray
        Scores by model, larger is better; of a total each as often as there are scores.
    clusters, samples : tuple of N ndarray of int
        Cluster and sample of each.
    keys : tuple of N ndarray of int
        Unit of resampling of each, the same number in all objectives.
    beside : tuple of N bool
        Whether each model has one wherever it has one of anything, or of another metric.
    tasks : TaskDesign or None
        Of a suite.
    paired : bool
    clustered : bool
        Whether units hold several samples.
    times : float
        By what the scores of the file were multiplied.
    successes : tuple of N ndarray, or None
        Of a cost per success, beside the costs in `values`.
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
    times: float = 1.0
    successes: tuple[Floats, ...] | None = None

    @property
    def lower(self) -> bool:
        """Whether less is better in the file."""
        return (self.spec.direction == "lower") != (self.spec.transform == "neg_log")

    @property
    def share(self) -> bool:
        """Whether a mean is a share."""
        raw = [self.raw(values) for values in self.values]
        return self.name.statistic not in (TOTAL, PER_SUCCESS) and is_share(self.spec, raw)

    @cached_property
    def is_constant(self) -> bool:
        """Whether no model's scores vary, as prices that stand beside its samples.

        Not of shares, where success may have no end, and not of one reading of something that may vary.
        """
        pairs = zip(self.values, self.complete, strict=True)
        known = all(values.size == 0 or (beside and np.ptp(values) == 0) for values, beside in pairs)
        return known and not self.share and self.successes is None

    def of(self, models: Sequence[int]) -> ObjectiveColumn:
        """The same of some models."""
        tasks = self.tasks
        if tasks is not None:
            tasks = replace(tasks, of_row=tuple(tasks.of_row[i] for i in models))
        names: tuple[str, ...] = ("values", "clusters", "samples", "keys", "beside")
        names += () if self.successes is None else ("successes",)
        chosen: dict[str, Any] = {name: tuple(getattr(self, name)[i] for i in models) for name in names}
        return replace(self, **chosen, tasks=tasks)

    def scores(self) -> ClusteredScores:
        """The scores as the engine resamples them."""
        return ClusteredScores.build(
            self.values,
            self.clusters,
            samples=self.samples if self.clustered else None,
            paired=self.paired,
            tasks=self.tasks,
        )

    def clustered_successes(self) -> ClusteredScores | None:
        """Successes as the engine resamples them, of a cost per success."""
        return None if self.successes is None else replace(self, values=self.successes).scores()

    def costs(self) -> list[Costs]:
        """Costs and successes by model; none of other objectives."""
        parts = zip(self.values, self.successes or (), self.clusters, strict=self.successes is not None)
        return [Costs.of(-c, s, np.unique(units, return_inverse=True)[1]) for c, s, units in parts]

    def raw(self, oriented: Floats) -> Floats:
        """Values in the units of the file."""
        flat = np.asarray(oriented, dtype=np.float64)
        return original_units(flat.reshape(-1, 1), [self.spec]).reshape(flat.shape)

    @property
    def degrees_of_freedom(self) -> Floats:
        """Degrees of freedom of the standard errors by model: units less the tasks they are of."""
        strata = 1 if self.tasks is None or self.tasks.random else len(self.tasks.names)
        return np.array([float(np.unique(keys).size - strata) for keys in self.keys])

    def standard_errors(self) -> Floats:
        """Standard errors of the values by model, in the units of the file; what is not known is NaN."""
        found = [one.error for one in self.costs()]
        if self.successes is not None:
            return np.array(found)
        for model, (values, cluster) in enumerate(zip(self.values, self.clusters, strict=True)):
            if self.name.level is not None:
                worst = np.sort(values)[: max(round(self.name.level * values.size), 1)]
                found.append(float(worst.std()) / np.sqrt(worst.size) if worst.size > 1 else np.nan)
                continue
            raw = self.raw(values)[:, None]
            units, of = np.unique(cluster, return_inverse=True)[1], self.tasks
            one = cluster_means(raw, units) if of is None else task_column_means(raw, cluster, of, model)
            found.append(float(one.error[0]))
        return np.array(found)


def objective_columns(
    table: ScoreTable, names: Sequence[ObjectiveName], *, random: bool
) -> list[ObjectiveColumn]:
    """The scores behind objectives.

    Parameters
    ----------
    table : ScoreTable
        It may lack scores.
    names : sequence of ObjectiveName
    random : bool
        Whether tasks are what is drawn.

    Raises
    ------
    UsageError
        If tasks are to be drawn and there are none, or a total does not say what one would think.
    """
    tasks, keys = tasks_of(table, random=random), table.clusters
    if tasks is not None:
        keys = tuple(tasks.labels(table.clusters))
    return [_objective_column(table, name, tasks, keys) for name in names]


def _objective_column(
    table: ScoreTable, name: ObjectiveName, tasks: TaskDesign | None, keys: tuple[Integers, ...]
) -> ObjectiveColumn:
    known: list[Booleans] = [~np.isnan(column) for column in table.column(name.metric)]
    if name.success is not None:
        also = table.column(name.success)
        known = [own & ~np.isnan(column) for own, column in zip(known, also, strict=True)]

    def kept_rows(parts: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(part[kept] for part, kept in zip(parts, known, strict=True))

    own = None
    if tasks is not None:
        rows = kept_rows(tasks.of_row)
        there = np.unique(np.concatenate(rows)) if rows else np.empty(0, dtype=np.int64)
        own = replace(tasks, of_row=rows).present() if tasks.weights[there].any() else None
        if own is None and tasks.random:
            raise InputError(
                f"to speak of tasks like these takes scores of {table.metrics[name.metric].name} on several",
                found="scores on one task",
                hint=f"speak of these tasks only: {option('tasks', 'fixed')}",
            )
    found = ObjectiveColumn(
        name,
        table.metrics[name.metric],
        kept_rows(table.column(name.metric)),
        kept_rows(table.clusters),
        kept_rows(table.row_samples),
        kept_rows(keys),
        complete=tuple(_is_complete(~np.isnan(rows), name.metric) for rows in table.values),
        tasks=own,
        paired=table.paired,
        clustered=table.cluster_names is not None,
    )
    if name.success is not None:
        return _as_cost_per_success(found, table, kept_rows(table.column(name.success)))
    return _as_total(found) if name.statistic == TOTAL else found


def _is_complete(known: Booleans, metric: int) -> bool:
    """Whether a model has a metric on all samples that it has anything of, or several of another metric."""
    own, others = known[:, metric, None], np.delete(known, metric, axis=1)
    others = others[:, others.sum(axis=0) > 1]
    return bool((own.ravel() | ~known.any(axis=1)).all() or (own | ~others).all(axis=0).any())


def _as_total(column: ObjectiveColumn) -> ObjectiveColumn:
    """A total as a mean of scores, each as often as there are scores: they have to be the same for all."""
    sizes = {values.size for values in column.values if values.size}
    name, asked = column.spec.name, option("objective", column.name.name)
    if len(sizes) > 1:
        raise InputError(
            f"{asked} is no comparison: models have different numbers of scores",
            found=f"{min(sizes):,} to {max(sizes):,} scores of {name} a model",
            hint=f"compare means: {option('objective', f'{name}:{MEAN}')}",
        )
    plain = column.spec.transform == "none"
    if not plain or (column.tasks is not None and column.tasks.random):
        what = "the tasks are drawn" if plain else f"{name} is read as its logarithm"
        raise UsageError(
            f"{asked} is the sum of these scores, and {what}",
            found=asked,
            hint=f"compare means: {option('objective', f'{name}:{MEAN}')}",
        )
    tasks = column.tasks
    if tasks is not None:
        # All scores count alike in their sum.
        weights = np.bincount(tasks.of_row[0], minlength=len(tasks.names)).astype(np.float64)
        tasks = replace(tasks, weights=weights / weights.sum())
    count = float(sizes.pop()) if sizes else 1.0
    return replace(column, values=tuple(values * count for values in column.values), tasks=tasks, times=count)


def _as_cost_per_success(
    column: ObjectiveColumn, table: ScoreTable, successes: tuple[Floats, ...]
) -> ObjectiveColumn:
    assert column.name.success is not None
    spec = table.metrics[column.name.success]
    require_costs(
        ("objective", column.name.name),
        (column.lower and column.spec.transform == "none", column.values),
        (spec.direction == "lower" or spec.transform != "none", successes),
        alike=column.tasks is None and table.folds is None,
        paired=True,
    )
    return replace(column, successes=successes)


def oriented_objective_values(column: ObjectiveColumn, means: Floats, models: Sequence[str]) -> Floats:
    """Value of every model, larger is better; NaN where it is missing.

    Parameters
    ----------
    column : ObjectiveColumn
    means : ndarray, shape (N,)
        Of its metric; NaN where a score is missing.
    models : sequence of N str

    Raises
    ------
    InputError
        If a model that lacks no score has too few successes.
    """
    if column.name.statistic == TOTAL:
        sums = np.array([float(np.sum(values)) / max(values.size, 1) for values in column.values])
        return np.where(np.isnan(means), np.nan, sums)
    there = np.flatnonzero(~np.isnan(means)).tolist()
    found = np.full(means.shape, np.nan)
    if column.successes is not None:
        for model, costs in zip(there, column.of(there).costs(), strict=True):
            require_successes(costs, models[model], column.name.name)
            found[model] = -costs.per_success
    elif column.name.level is None:
        return means
    elif len(there) > 1:
        scores = column.of(there).scores()
        for at, model in enumerate(there):
            found[model] = tail_value(SideScores.of(scores, at), column.name.level)
    return found
