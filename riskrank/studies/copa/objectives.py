"""The objectives of ``copa``: one value per model and objective, its rank, and the base of all documents.

Missing scores are handled first: single scores, and models without any score on an objective.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf, isinf
from typing import Any, Self, TypeVar

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
from riskrank.errors import InputError, UsageError, counted, listing, option
from riskrank.scores.table.metric_specs import bounds_hint
from riskrank.scores.table.metrics import oriented_bounds
from riskrank.scores.table.oriented_scores import ModelAverages, expected_scores, model_averages
from riskrank.scores.table.score_table import ScoreTable
from riskrank.scores.table.scores import ABSENT, DROPPED
from riskrank.studies.checks import require_directions
from riskrank.studies.copa import objective_columns
from riskrank.studies.copa.options import CopaSettings, ObjectiveSettings
from riskrank.studies.document import Document, attributes, rows_from_records
from riskrank.studies.metric_means import MetricMeans
from riskrank.studies.settings import provenance
from riskrank.studies.targets import resamples_tasks
from riskrank.studies.wording import decimals_for_exact_values, decimals_from_errors


def handle_missing_scores(
    table: ScoreTable, rule: str
) -> tuple[ScoreTable, ModelAverages, Integers, list[str]]:
    """Drop or replace missing scores according to the option ``missing``, or raise an error.

    Parameters
    ----------
    table : ScoreTable
        Scores of all models, with their samples and metrics.
    rule : {"error", "drop", "worst"}
        Value of the option ``missing``.

    Returns
    -------
    table : ScoreTable
        Table in which no single score is missing.
    averages : ModelAverages
    retained : ndarray of int
        Models that remain in the population.
    messages : list of str
        Warnings.

    Raises
    ------
    InputError
        If scores are missing and the rule is ``error``, or the rule cannot be applied.
    """
    messages, averages, retained = [], model_averages(table), np.arange(len(table.models))
    sizes = [len(rows) for rows in table.values]
    # Single scores only: objectives without any score and values given once per model are handled separately.
    has_scores = np.repeat([~np.isnan(rows).all(axis=0) for rows in table.values], sizes, axis=0)
    single = expected_scores(table) & np.isnan(np.concatenate(table.values)) & has_scores
    incomplete, sample = single.any(axis=1), np.concatenate(table.row_samples)
    empty = np.isnan(np.concatenate(table.values)).all(axis=1)
    n_incomplete = np.setdiff1d(sample, sample[incomplete]).size
    n_without_scores = np.setdiff1d(sample, sample[incomplete & empty]).size
    possible = {"drop": n_incomplete > 0, "worst": 2 * n_without_scores >= len(table.samples)}
    is_handled = possible.get(rule, False) or (rule != "error" and not single.any())
    if averages.missing_scores and not is_handled:
        possible["unpaired"] = not (incomplete & ~empty).any()
        raise _unhandled_scores_error(table, averages, single, possible, n_incomplete)
    if single.any() and rule == "drop":
        incomplete = np.isin(sample, sample[incomplete]) if table.paired else incomplete
        masks, size = np.split(~incomplete, np.cumsum(sizes)[:-1]), len(table.samples)
        columns: dict[str, Any] = attributes(table, "values", "row_samples", "clusters")
        for name, parts in columns.items():
            columns[name] = tuple(part[mask] for part, mask in zip(parts, masks, strict=True))
        table = replace(table, **columns)
        dropped = f"{DROPPED}{size - n_incomplete:,} of {size:,} samples"
        messages = [f"{dropped}: they lack a score for some model or metric"]
    elif single.any():
        table = _impute_worst(table, single)
    averages = model_averages(table)
    if averages.missing_scores:
        retained, message = _handle_missing_objectives(table, averages, rule)
        messages.append(message)
    return table, averages, retained, messages


def _impute_worst(table: ScoreTable, single: Booleans) -> ScoreTable:
    """Replace the missing scores in the mask `single` by the worst possible score of their metric.

    Raises
    ------
    InputError
        If a metric with missing scores has no known bound.
    """
    values = np.concatenate(table.values)
    for k in np.flatnonzero(single.any(axis=0)).tolist():
        spec, missing, present = table.metrics[k], single[:, k], values[~np.isnan(values[:, k]), k]
        low, high = oriented_bounds(replace(spec, bounds=spec.bounds or table.score_bounds.get(spec.name)))
        # Bounds stated in a file hold only if its scores lie within them.
        if not (low <= present.min() and present.max() <= high):
            problem = f"{option('missing', 'worst')} needs the worst possible score of {spec.name}"
            detail = f"{counted(int(missing.sum()), 'score')} missing, and no finite bound is declared"
            hint = bounds_hint(spec.name, file=table.options.metrics_file)
            raise InputError(problem, found=detail, hint=hint)
        values[missing, k] = low
    splits = np.cumsum([len(rows) for rows in table.values])[:-1]
    return replace(table, values=tuple(np.split(values, splits)))


def _unhandled_scores_error(
    table: ScoreTable, averages: ModelAverages, single: Booleans, possible: dict[str, bool], n_incomplete: int
) -> InputError:
    """Create the error for missing scores, with suggestions that apply to this table.

    Parameters
    ----------
    table : ScoreTable
        Scores of all models, with their samples and metrics.
    averages : ModelAverages
        Mean of each model on each metric.
    single : ndarray of bool
        Mask of the missing scores by row and metric.
    possible : dict of str to bool
        True for the values of the option ``missing`` that apply to the table.
    n_incomplete : int
        Number of samples without missing scores.
    """
    missing, size = np.isnan(averages.oriented), len(table.samples)
    drop, worst = option("missing", "drop"), option("missing", "worst")
    lines = [drop, worst] if not single.any() and (~missing.any(axis=1)).sum() > 1 else []
    suggestions = {f"{drop} excludes these models from the population": (~missing.any(axis=1)).sum() > 1}
    suggestions[f"{worst} ranks them last{' there' if any(suggestions.values()) else ''}"] = True
    if single.any():
        absent = all(count.missing == count.why.get(ABSENT, 0) for count in table.scored)
        unpaired_text = f"{option('unpaired', True)} compares means over each model's own samples"
        suggestions = {
            f"{drop} excludes {size - n_incomplete:,} of {size:,} samples": possible["drop"],
            f"{worst} replaces missing scores by the worst possible score": possible["worst"],
            unpaired_text: absent and table.paired and possible["unpaired"],
        }
    model, sample, metric = averages.first_missing or ("", "", "")
    location = f"model '{model}'" + (f", sample '{sample}'" if sample else "")
    applicable = [suggestion for suggestion, applies in suggestions.items() if applies]
    return InputError(
        f"{listing((file.path for file in table.inputs), 3)}: no score for {location}, metric '{metric}'",
        found=f"{averages.missing_scores:,} of {averages.expected_scores:,} scores missing, in "
        f"{_describe_missing(table, missing)}",
        hint=("; " if single.any() else ", ").join(applicable),
        suggestions=[(line, None) for line in lines],
    )


def _describe_missing(table: ScoreTable, missing: Booleans) -> str:
    """Describe which values are missing, such as "1 of 3 models: a/accuracy".

    `missing` is a mask by model and metric.
    """
    cells = listing(f"{table.models[i]}/{table.metrics[k].name}" for i, k in np.argwhere(missing))
    return f"{np.count_nonzero(missing.any(axis=1))} of {len(table.models)} models: {cells}"


def _handle_missing_objectives(table: ScoreTable, averages: ModelAverages, rule: str) -> tuple[Integers, str]:
    """Decide which models to keep if some of them have no score at all on an objective.

    Returns the indices of these models and a warning. `rule` is "drop" or "worst".

    Raises
    ------
    InputError
        If fewer than two models would remain.
    """
    missing = np.isnan(averages.oriented)
    models, _, cells = _describe_missing(table, missing).partition(": ")
    if rule == "worst":
        count = int(missing.sum())
        counts = "1 missing value counts" if count == 1 else f"{count} missing values count"
        return np.arange(len(table.models)), f"{counts} as the worst rank, u = 1: {cells}"
    retained = np.flatnonzero(~missing.any(axis=1))
    if retained.size < 2:
        problem = "fewer than two models have a score for every objective"
        hint = f"leave out an objective with {option('metric')}, or use {option('missing', 'worst')}"
        raise InputError(problem, found=f"{models} lack one: {cells}", hint=hint)
    labels = listing(table.models[i] for i in np.flatnonzero(missing.any(axis=1)))
    return retained, f"dropped {models} from the population, because they lack a score: {labels}"


@dataclass(frozen=True)
class Objectives:
    """Values, ranks, constraints and weights of N models on K objectives.

    Attributes
    ----------
    population : Population
        Models with their relative ranks and Pareto front.
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
    columns: tuple[objective_columns.ObjectiveColumn, ...] = ()
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
        """Values of all models on each objective, with standard errors; empty for a table without samples."""
        return [*map(_objective_means, self.columns, self.values.T)]

    @cached_property
    def weakest(self) -> Booleans:
        """Mask of each model's largest weighted rank, shape (N, K).

        It marks a model's weakest objective. A row is all False if all ranks of the model are 0.
        """
        return weakest_objectives(self.population.u * self.weights)

    @property
    def are_proportions(self) -> Booleans:
        """Mask of the objectives that are proportions, shape (K,)."""
        return np.array([mean.is_proportion for mean in self.means] or [False] * len(self.weights))

    def name(self, model: int) -> str:
        """Return the name of the model with the given index."""
        return self.population.names[model]

    def name_or_none(self, model: int) -> str | None:
        """Return the name of the model with the given index, or None for the index −1."""
        return self.population.names[model] if model >= 0 else None

    def by_objective(self, entries: ArrayLike) -> dict[str, Any]:
        """Return an array with one entry per objective as a dictionary keyed by objective."""
        return dict(zip(self.population.metrics, np.asarray(entries).tolist(), strict=True))

    def resampled_models(self, objective: int) -> Integers:
        """Return the indices of the models whose value of an objective is estimated from samples.

        The result is empty for fixed values, such as prices, and if fewer than two models have a value.
        """
        # A model that lacks a score ranks worst, whatever its other scores.
        present = np.flatnonzero(~self.population.missing[:, objective])
        is_constant = present.size < 2 or self.columns[objective].select_models(present.tolist()).is_constant
        return present[:0] if is_constant else present


def _objective_means(column: objective_columns.ObjectiveColumn, values: Floats) -> MetricMeans:
    """Return all models' values on an objective with standard errors and suitable numbers of decimals."""
    present = np.flatnonzero(~np.isnan(values))  # models without scores may lack tasks
    errors = np.full(values.shape, np.nan)
    errors[present] = column.select_models(present.tolist()).standard_errors()
    is_proportion = column.mean_is_proportion
    scale = 100 if is_proportion else 1
    if all(column.values[i].size > 1 and np.ptp(column.values[i]) == 0 for i in present):
        # The standard error of constant scores is rounding noise.
        decimals = decimals_for_exact_values(scale * values)
    else:
        decimals = decimals_from_errors(scale * errors)
    return MetricMeans(
        name=column.name.name,
        lower_is_better=column.lower_is_better,
        declared=column.spec.declared,
        is_proportion=is_proportion,
        mean=values,
        error=errors,
        decimals=decimals,
        freedom=column.degrees_of_freedom,
    )


def build_objectives(table: ScoreTable, settings: ObjectiveSettings) -> Objectives:
    """Compute each model's objectives, and rank every model on each of them.

    Parameters
    ----------
    table : ScoreTable
        Read with the reading options of ``copa``.
    settings : ObjectiveSettings
        Options that define objectives and constraints.

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
    requested = objective_columns.parse_objectives(settings.objective, [spec.name for spec in table.metrics])
    names = tuple(objective.name for objective in requested)
    metric_indices = [objective.metric for objective in requested]
    columns: list[objective_columns.ObjectiveColumn] = []
    needed = [averages.oriented[:, objective.required_metrics].min(axis=1) for objective in requested]
    oriented, values = np.stack(needed, axis=1), averages.raw[:, metric_indices]
    if len(table.samples) > 1:
        random_tasks = resamples_tasks(settings)
        all_columns = objective_columns.objective_columns(table, requested, random_tasks=random_tasks)
        columns = [objective.select_models(retained.tolist()) for objective in all_columns]
    elif settings.objective:
        # A single value per model has no tail and no sum.
        sample_column = option("columns", "sample=COL")
        problem = f"{option('objective', settings.objective[0])} needs several samples per model"
        hint = f"leave out {option('objective')}, or name the sample column: {sample_column}"
        raise UsageError(problem, found="one value per model", hint=hint)
    oriented, values = oriented[retained], values[retained]
    for k, column in enumerate(columns):
        if column.name.name != column.spec.name:
            oriented[:, k] = objective_columns.oriented_objective_values(column, oriented[:, k], models)
            values[:, k] = column.to_file_units(oriented[:, k])
    larger_is_better = averages.larger_is_better[metric_indices]
    shares = [column.mean_is_proportion for column in columns]
    scale: dict[str, Any] = {"values": values, "larger_is_better": larger_is_better, "shares": shares}
    constraints = tuple(objective_columns.parse_constraint(text, names, **scale) for text in settings.require)
    feasible = feasible_models(values, constraints, names=models, metrics=names)
    ranks = attributes(settings, "ties", "denominator")
    population = build_population(oriented, names=models, metrics=names, feasible=feasible, **ranks)
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
    """Return warnings about constant objectives and duplicated models.

    `from_means` is True if the values are means over samples.
    """
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


Row = TypeVar("Row")

# Orders to which every ranking is compared, from the worst rank to the mean rank.
USUAL_ORDERS = (inf, 8.0, 2.0, 1.0)


def json_order(p: float) -> float | str:
    """Return the order p of a norm as a number, or as the text "inf", because JSON has no infinity."""
    return "inf" if isinf(p) else float(p)


@dataclass(frozen=True)
class CopaRequest:
    """Input of a ``copa`` study.

    Attributes
    ----------
    table : ScoreTable
        Scores of all models, with their samples and metrics.
    settings : CopaSettings
        Options of ``copa``.
    objectives : Objectives
        Objectives computed from the table and the settings.
    """

    table: ScoreTable
    settings: CopaSettings
    objectives: Objectives


@dataclass(frozen=True, kw_only=True)
class CopaBase(Document[Row]):
    """Base class of the result documents of ``copa``.

    Attributes
    ----------
    objectives : Objectives
        Objectives, with the weights that were used.
    settings : CopaSettings
        Options of ``copa``.
    """

    objectives: Objectives
    settings: CopaSettings

    def with_rows(self, part_names: str, records: Iterable[tuple[Any, ...]]) -> Self:
        """Return a copy of the document with one row per record.

        Parameters
        ----------
        part_names : str
            Names of the items of a record, separated by spaces. Row fields are computed from them.
        records : iterable of tuple
            Items from which each row is computed.
        """
        complete_records = ((self, self.objectives, *record) for record in records)
        part_names = f"document table {part_names}"
        return replace(self, rows=rows_from_records(self.row_type, part_names, complete_records))

    def meta(self) -> Mapping[str, Any]:
        """Return entries for the JSON object ``meta``: the excluded models and the results."""
        return {"dropped_models": self.objectives.dropped, **self.result_entries()}

    def result_entries(self) -> dict[str, Any]:
        """Return entries for the JSON object ``meta`` with results. Subclasses override this method."""
        return {}


def document_fields(
    request: CopaRequest,
    orders: Sequence[float],
    question_settings: Mapping[str, Any],
    extra_warnings: Sequence[str] = (),
    **randomness: Any,
) -> dict[str, Any]:
    """Return the fields shared by the documents of all analyses of ``copa``.

    Parameters
    ----------
    request : CopaRequest
        Table, settings and objectives of the study.
    orders : sequence of float
        Orders p of the norm, or empty if p itself is varied.
    question_settings : mapping
        Settings of the analysis to record in the provenance.
    extra_warnings : sequence of str
        Warnings in addition to those of the objectives.
    **randomness : int or None
        ``seed`` and ``resamples``, if anything was resampled.
    """
    table, settings, weight_warnings = request.objectives, request.settings, []
    weights, is_sweep = table.by_objective(table.weights), table.weight_override is not None
    zero_weight = [name for name in weights if weights[name] == 0 and name not in table.explicit_weights]
    if zero_weight and not is_sweep:
        weight_warnings = [f"the given weights sum to 1, so the weight of {listing(zero_weight)} is 0"]
    method = {
        "missing": settings.missing,
        "require": table.constraints,
        **attributes(settings, "ties", "denominator"),
        "rest" if is_sweep else "weights": weights,
        **({"p": [json_order(p) for p in orders]} if orders else {}),
        **question_settings,
    }
    randomness["warnings"] = [*table.warnings, *weight_warnings, *extra_warnings]
    models = table.population.names
    origin = provenance("copa", request.table, settings, method, models=models, **randomness)
    return {"provenance": origin, "rows": [], "objectives": table, "settings": settings}
