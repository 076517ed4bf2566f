"""The objectives ``copa`` works on: one oriented value per model and metric, ranked in their population."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.copa.population import (
    Constraint,
    Population,
    build_population,
    constant_objectives,
    duplicated_models,
    feasible_models,
)
from riskrank.engine.copa.ranking import complete_weights, weakest_objectives
from riskrank.engine.types import Booleans, Floats, Integers
from riskrank.scores.table.score_table import ScoreTable
from riskrank.standard_errors import UsageError, listing, option
from riskrank.studies.copa.missing_objectives import handle_missing_scores
from riskrank.studies.copa.objective_columns import (
    ObjectiveColumn,
    objective_columns,
    oriented_objective_values,
)
from riskrank.studies.copa.objective_names import parse_constraint, parse_objectives
from riskrank.studies.copa.options import ObjectiveSettings
from riskrank.studies.directions import require_directions
from riskrank.studies.metric_means import MetricMeans
from riskrank.studies.targets import draws_tasks
from riskrank.studies.wording import decimals_of, decimals_of_exact


@dataclass(frozen=True)
class Objectives:
    """Models by objectives, and how they came about: values as measured, ranks, weights.

    Attributes
    ----------
    population : Population
    values : ndarray, shape (N, K)
        In original units; NaN where missing.
    larger_is_better : ndarray of bool, shape (K,)
        In original units.
    bounds : tuple of Constraint
    given_weights : mapping of str to float
        Weights somebody gave, as an option or in the metrics file.
    dropped : tuple of str
        Models left out of the population.
    warnings : tuple of str
        Of the population.
    columns : tuple of ObjectiveColumn
        The scores of the models behind every objective; empty for a table without samples.
    reweighted : ndarray, shape (K,), or None
        Weights in the place of those that follow from what was given.
    """

    population: Population
    values: Floats
    larger_is_better: Booleans
    bounds: tuple[Constraint, ...] = ()
    given_weights: Mapping[str, float] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    columns: tuple[ObjectiveColumn, ...] = ()
    weight_override: Floats | None = None

    @cached_property
    def weights(self) -> Floats:
        """Weights of the objectives, shape (K,)."""
        if self.weight_override is not None:
            return self.weight_override
        return complete_weights(self.population.metrics, self.given_weights)

    @cached_property
    def constraints(self) -> list[str]:
        """Bounds as one writes them."""
        return [bound.text(self.population.metrics) for bound in self.bounds]

    @cached_property
    def means(self) -> list[MetricMeans]:
        """What the values are means of; empty for a table without samples."""
        return [_objective_means(*one) for one in zip(self.columns, self.values.T, strict=bool(self.columns))]

    @cached_property
    def weakest(self) -> Booleans:
        """Where each model has its largest weighted rank, shape (N, K); nowhere if all are zero."""
        return weakest_objectives(self.population.u * self.weights)

    @property
    def percent(self) -> Booleans:
        """Which objectives are shares, shape (K,)."""
        return np.array([one.share for one in self.means] or [False] * len(self.weights))

    def name(self, model: int) -> str:
        """Name of a model."""
        return self.population.names[model]

    def name_or_none(self, model: int) -> str | None:
        """Name of a model; None of −1, which is none."""
        return self.population.names[model] if model >= 0 else None

    def by_metric(self, entries: ArrayLike) -> dict[str, Any]:
        """Name the K entries of an array by their objectives."""
        return dict(zip(self.population.metrics, np.asarray(entries).tolist(), strict=True))

    def resampled_models(self, objective: int) -> Integers:
        """The models whose value of an objective samples decide: none of a price, and never only one."""
        # A model that lacks a score is the worst, whatever others it has.
        there = np.flatnonzero(~self.population.missing[:, objective])
        fixed = there.size < 2 or self.columns[objective].of(there.tolist()).is_constant
        return there[:0] if fixed else there


def _objective_means(column: ObjectiveColumn, values: Floats) -> MetricMeans:
    """An objective as it is shown: as many digits as are sure."""
    there = np.flatnonzero(~np.isnan(values))  # who lacks scores may lack tasks
    errors = np.full(values.shape, np.nan)
    errors[there] = column.of(there.tolist()).standard_errors()
    scale = 100 if column.share else 1
    # A price does not vary: what rounding leaves of its error is no error.
    price = all(own.size > 1 and np.ptp(own) == 0 for own in (column.values[i] for i in there))
    decimals = decimals_of_exact(scale * values) if price else decimals_of(scale * errors)
    name, declared = column.name.name, column.spec.declared
    return MetricMeans(
        name, column.lower, declared, column.share, values, errors, decimals, column.degrees_of_freedom
    )


def build_objectives(table: ScoreTable, settings: ObjectiveSettings) -> Objectives:
    """Average a table per model and metric, and rank every model in the population.

    Parameters
    ----------
    table : ScoreTable
        Read as the command needs it.
    settings : ObjectiveSettings

    Returns
    -------
    Objectives

    Raises
    ------
    UsageError
        For objectives without a direction, and constraints that are none.
    InputError
        For missing scores that nobody treated, and constraints no model meets.
    """
    require_directions(table, command="copa", metrics="objectives")
    table, averages, kept, notes = handle_missing_scores(table, settings.missing)
    models = tuple(table.models[i] for i in kept)
    asked = parse_objectives(settings.objective, [spec.name for spec in table.metrics])
    names, at = tuple(one.name for one in asked), [one.metric for one in asked]
    columns: list[ObjectiveColumn] = []
    oriented = np.stack([averages.oriented[:, one.required_metrics].min(axis=1) for one in asked], axis=1)
    values = averages.raw[:, at]
    if len(table.samples) > 1:
        every = objective_columns(table, asked, random=draws_tasks(settings))
        columns = [one.of(kept.tolist()) for one in every]
    elif settings.objective:
        # A value a model is neither a tail nor a sum of anything; its mean is itself.
        raise UsageError(
            f"{option('objective', settings.objective[0])} is a statistic of samples",
            found="one value a model",
            hint=f"leave out {option('objective')}, or name the column of the samples: "
            f"{option('columns', 'sample=COL')}",
        )
    oriented, values = oriented[kept], values[kept]
    for k, column in enumerate(columns):
        if column.name.name != column.spec.name:
            oriented[:, k] = oriented_objective_values(column, oriented[:, k], models)
            values[:, k] = column.raw(oriented[:, k])
    upward = averages.larger_is_better[at]
    shares = [column.share for column in columns]
    bound = partial(parse_constraint, names=names, values=values, larger_is_better=upward, shares=shares)
    constraints = tuple(map(bound, settings.require))
    ranked = build_population(
        oriented,
        names=models,
        metrics=names,
        feasible=feasible_models(values, constraints, names=models, metrics=names) if constraints else None,
        ties=settings.ties,
        denominator=settings.denominator,
    )
    return Objectives(
        population=ranked,
        values=values,
        larger_is_better=upward,
        bounds=constraints,
        given_weights={
            one.name: weight / at.count(one.metric)
            for one in asked
            if (weight := table.metrics[one.metric].weight) is not None
        },
        dropped=tuple(np.delete(table.models, kept).tolist()),
        warnings=(*notes, *_population_warnings(ranked, averaged=bool(columns))),
        columns=tuple(columns),
    )


def _population_warnings(ranked: Population, *, averaged: bool) -> list[str]:
    warnings = [
        f"objective '{ranked.metrics[k]}' has the same value for every model: it says nothing"
        for k in constant_objectives(ranked)
    ]
    copies = duplicated_models(ranked)
    if copies:
        groups = listing((" = ".join(ranked.names[i] for i in group) for group in copies), 3)
        count = sum(len(group) for group in copies) - len(copies)
        alike = f"{'s are copies' if count > 1 else ' is a copy'} of another, value by value,"
        if averaged:  # of means, whose scores may differ
            alike = f"{'s have' if count > 1 else ' has'} the values of another on every objective,"
        shift = "shift" if count > 1 else "shifts"
        warnings.append(f"{count} model{alike} and {shift} the ranks of all others: {groups}")
    return warnings
