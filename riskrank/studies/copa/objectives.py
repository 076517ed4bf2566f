"""The objectives of ``copa``: one value per model and objective, and its rank among all models."""

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
from riskrank.errors import UsageError, listing, option
from riskrank.scores.table.score_table import ScoreTable
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
from riskrank.studies.targets import resamples_tasks
from riskrank.studies.wording import decimals_for_exact_values, decimals_from_errors


@dataclass(frozen=True)
class Objectives:
    """Values, ranks, constraints and weights of N models on K objectives.

    Attributes
    ----------
    population : Population
    values : ndarray, shape (N, K)
        In the units of the file, or NaN where missing.
    larger_is_better : ndarray of bool, shape (K,)
        Directions in the units of the file.
    bounds : tuple of Constraint
        Constraints on the objectives.
    explicit_weights : mapping of str to float
        Weights set by an option or in the metrics file.
    dropped : tuple of str
        Models excluded from the population.
    warnings : tuple of str
        Warnings about the population.
    columns : tuple of ObjectiveColumn
        Sample-level scores of every objective, or empty for a table without samples.
    weight_override : ndarray, shape (K,), or None
        Weights that replace those derived from `explicit_weights`.
    """

    population: Population
    values: Floats
    larger_is_better: Booleans
    bounds: tuple[Constraint, ...] = ()
    explicit_weights: Mapping[str, float] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    columns: tuple[ObjectiveColumn, ...] = ()
    weight_override: Floats | None = None

    @cached_property
    def weights(self) -> Floats:
        """Weights of the objectives, shape (K,)."""
        if self.weight_override is not None:
            return self.weight_override
        return complete_weights(self.population.metrics, self.explicit_weights)

    @cached_property
    def constraints(self) -> list[str]:
        """Constraints in the syntax of the option."""
        return [bound.format(self.population.metrics) for bound in self.bounds]

    @cached_property
    def means(self) -> list[MetricMeans]:
        """Values of each objective with standard errors, or an empty list for a table without samples."""
        return [
            _objective_means(*column_and_values)
            for column_and_values in zip(self.columns, self.values.T, strict=bool(self.columns))
        ]

    @cached_property
    def weakest(self) -> Booleans:
        """Mask of each model's largest weighted rank, shape (N, K).

        A row is all False if all ranks of the model are 0.
        """
        return weakest_objectives(self.population.u * self.weights)

    @property
    def are_proportions(self) -> Booleans:
        """Mask of the objectives that are proportions, shape (K,)."""
        return np.array([mean.is_proportion for mean in self.means] or [False] * len(self.weights))

    def name(self, model: int) -> str:
        """Return the name of a model."""
        return self.population.names[model]

    def name_or_none(self, model: int) -> str | None:
        """Return the name of a model, or None for the index −1."""
        return self.population.names[model] if model >= 0 else None

    def by_objective(self, entries: ArrayLike) -> dict[str, Any]:
        """Return the K entries of an array as a dict keyed by objective."""
        return dict(zip(self.population.metrics, np.asarray(entries).tolist(), strict=True))

    def resampled_models(self, objective: int) -> Integers:
        """Return the indices of the models whose value of an objective is estimated from samples.

        The result is empty for fixed values, such as prices, and if fewer than two models have a value.
        """
        # A model that lacks a score ranks worst, whatever its other scores.
        present = np.flatnonzero(~self.population.missing[:, objective])
        is_constant = present.size < 2 or self.columns[objective].select_models(present.tolist()).is_constant
        return present[:0] if is_constant else present


def _objective_means(column: ObjectiveColumn, values: Floats) -> MetricMeans:
    """Return the values of an objective with standard errors and the decimals that these support."""
    present = np.flatnonzero(~np.isnan(values))  # models without scores may lack tasks
    errors = np.full(values.shape, np.nan)
    errors[present] = column.select_models(present.tolist()).standard_errors()
    scale = 100 if column.mean_is_proportion else 1
    # The standard error of constant scores is rounding noise.
    is_constant = all(
        scores.size > 1 and np.ptp(scores) == 0 for scores in (column.values[i] for i in present)
    )
    decimals = (
        decimals_for_exact_values(scale * values) if is_constant else decimals_from_errors(scale * errors)
    )
    name, declared = column.name.name, column.spec.declared
    return MetricMeans(
        name,
        column.lower_is_better,
        declared,
        column.mean_is_proportion,
        values,
        errors,
        decimals,
        column.degrees_of_freedom,
    )


def build_objectives(table: ScoreTable, settings: ObjectiveSettings) -> Objectives:
    """Compute each model's objectives, and rank every model on each of them.

    Parameters
    ----------
    table : ScoreTable
        Read with the reading options of ``copa``.
    settings : ObjectiveSettings

    Returns
    -------
    Objectives

    Raises
    ------
    UsageError
        If an objective has no direction, or an objective or constraint is invalid.
    InputError
        If the ``missing`` rule does not handle missing scores, or no model meets the constraints.
    """
    require_directions(table, command="copa", metrics="objectives")
    table, averages, retained, messages = handle_missing_scores(table, settings.missing)
    models = tuple(table.models[i] for i in retained)
    requested = parse_objectives(settings.objective, [spec.name for spec in table.metrics])
    names, metric_indices = (
        tuple(objective.name for objective in requested),
        [objective.metric for objective in requested],
    )
    columns: list[ObjectiveColumn] = []
    oriented = np.stack(
        [averages.oriented[:, objective.required_metrics].min(axis=1) for objective in requested], axis=1
    )
    values = averages.raw[:, metric_indices]
    if len(table.samples) > 1:
        all_columns = objective_columns(table, requested, random_tasks=resamples_tasks(settings))
        columns = [objective.select_models(retained.tolist()) for objective in all_columns]
    elif settings.objective:
        # A single value per model has no tail and no sum.
        raise UsageError(
            f"{option('objective', settings.objective[0])} needs several samples per model",
            found="one value per model",
            hint=f"leave out {option('objective')}, or name the sample column: "
            f"{option('columns', 'sample=COL')}",
        )
    oriented, values = oriented[retained], values[retained]
    for k, column in enumerate(columns):
        if column.name.name != column.spec.name:
            oriented[:, k] = oriented_objective_values(column, oriented[:, k], models)
            values[:, k] = column.to_file_units(oriented[:, k])
    larger_is_better = averages.larger_is_better[metric_indices]
    shares = [column.mean_is_proportion for column in columns]
    parse_bound = partial(
        parse_constraint, names=names, values=values, larger_is_better=larger_is_better, shares=shares
    )
    constraints = tuple(map(parse_bound, settings.require))
    population = build_population(
        oriented,
        names=models,
        metrics=names,
        feasible=feasible_models(values, constraints, names=models, metrics=names) if constraints else None,
        ties=settings.ties,
        denominator=settings.denominator,
    )
    return Objectives(
        population=population,
        values=values,
        larger_is_better=larger_is_better,
        bounds=constraints,
        explicit_weights={
            objective.name: weight / metric_indices.count(objective.metric)
            for objective in requested
            if (weight := table.metrics[objective.metric].weight) is not None
        },
        dropped=tuple(np.delete(table.models, retained).tolist()),
        warnings=(*messages, *_population_warnings(population, from_means=bool(columns))),
        columns=tuple(columns),
    )


def _population_warnings(population: Population, *, from_means: bool) -> list[str]:
    """Return warnings about constant objectives and duplicated models."""
    warnings = [
        f"objective '{population.metrics[k]}' has the same value for every model, so it is uninformative"
        for k in constant_objectives(population)
    ]
    copies = duplicated_models(population)
    if copies:
        examples = listing((" = ".join(population.names[i] for i in group) for group in copies), 3)
        count = sum(len(group) for group in copies) - len(copies)
        statement = f"{'s are copies' if count > 1 else ' is a copy'} of another, value by value,"
        if from_means:  # equal means may have different scores
            statement = f"{'s have' if count > 1 else ' has'} the values of another on every objective,"
        shift = "shift" if count > 1 else "shifts"
        warnings.append(f"{count} model{statement} and {shift} the ranks of all others: {examples}")
    return warnings
