"""The criteria of ``gsd``: exact integer quality vectors of samples, or of the tasks of a suite."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from riskrank.engine.gsd.preference_system import QualityTable, quality_table, suspicious_ordinal_criteria
from riskrank.engine.sampling.strata import MIN_TASKS
from riskrank.engine.types import Floats
from riskrank.errors import InputError, UsageError, index_of, listing, option
from riskrank.options.inference import RANDOM
from riskrank.options.option import ByName
from riskrank.scores.table.metric_specs import MetricSpec
from riskrank.scores.table.metrics import oriented_bounds
from riskrank.scores.table.score_table import ScoreTable
from riskrank.scores.table.suite import NO_SUITE, Suite
from riskrank.studies.checks import require_directions
from riskrank.studies.gsd.options import CriteriaSettings, GsdSettings
from riskrank.studies.targets import build_task_design


def tasks_as_samples(table: ScoreTable, settings: GsdSettings) -> ScoreTable:
    """Convert a table with tasks to one in which each task is a sample, with its mean scores.

    Tables without tasks are returned unchanged.

    Parameters
    ----------
    table : ScoreTable
        Scores of all models, with their samples and metrics.
    settings : GsdSettings
        For a suite, the settings must request random tasks. Tests need at least six tasks.

    Returns
    -------
    ScoreTable
        For a suite, a table with one row per model and task, and a warning.

    Raises
    ------
    UsageError
        If random tasks are not requested for a suite, or are requested for another table. Also if task
        weights are unequal, or the tasks have no common metrics.
    InputError
        If tests are requested with fewer than six tasks.
    """
    suite = table.suite
    if not suite:
        build_task_design(table, random=settings.tasks == RANDOM)
        return table
    _require_suitable_suite(suite, requested=settings.tasks == RANDOM)
    if not settings.no_test and len(suite.names) < MIN_TASKS:
        problem = f"generalising to other tasks needs at least {MIN_TASKS} tasks"
        hint = f"add tasks, or pool them: {option('task', 'none')} instead of {option('tasks')}"
        raise InputError(problem, found=f"{len(suite.names)} tasks: {listing(suite.names)}", hint=hint)
    count, task_rows = len(suite.names), [suite.task_codes[samples] for samples in table.row_samples]
    warnings = [f"{option('tasks', RANDOM)}: each task is one sample, with its mean scores"]
    specs = table.metrics
    if levels := [spec.name for spec in specs if spec.scale == "ordinal" or spec.name in settings.ordinal]:
        averaged = f"means average the levels of {listing(levels)}"
        warnings.append(f"{averaged}, although only their order is meaningful")
    task_numbers = tuple(np.arange(count) for _ in table.models)
    return replace(
        table,
        samples=suite.names,
        values=tuple(_task_means(*rows, count) for rows in zip(task_rows, table.values, strict=True)),
        row_samples=task_numbers,
        clusters=task_numbers,
        has_repeats=False,
        suite=NO_SUITE,
        warnings=(*table.warnings, *warnings),
    )


def _require_suitable_suite(suite: Suite, *, requested: bool) -> None:
    """Raise a UsageError if the tasks cannot be used as samples.

    `requested` is True if the options ask for tasks as samples.
    """
    if not requested:
        raise UsageError(
            "gsd must know whether tasks are its samples, or whether all samples are pooled",
            found=f"a suite of {len(suite.names)} tasks",
            hint=f"treat tasks as samples, {option('tasks', RANDOM)}, or pool them: {option('task', 'none')}",
            suggestions=[(option("tasks", RANDOM), None), (option("task", "none"), None)],
        )
    if np.ptp(suite.weights) > 1e-12:
        problem = "gsd weights all tasks equally"
        detail = f"weights from {suite.weights.min():.3g} to {suite.weights.max():.3g}"
        raise UsageError(problem, found=detail, hint=f"leave out {option('task_weight')}")
    if suite.specs:
        problem = "gsd compares models by criteria that all tasks share"
        detail = "tasks with different metrics"
        raise UsageError(problem, found=detail, hint="use ranks within the tasks: riskrank rank")


def _task_means(tasks: np.ndarray, values: np.ndarray, count: int) -> np.ndarray:
    """Return the means of m score columns on each task, shape (count, m).

    Parameters
    ----------
    tasks : ndarray of int, shape (n,)
        Task of each row.
    values : ndarray, shape (n, m)
        Values to convert.
    count : int
        Number of tasks.
    """
    sizes = np.bincount(tasks, minlength=count)
    return np.column_stack([np.bincount(tasks, column, minlength=count) / sizes for column in values.T])


@dataclass(frozen=True)
class Criteria:
    """Scores of k models on s samples and n criteria, in exact integer form for comparisons.

    Attributes
    ----------
    specs : tuple of MetricSpec
        Metrics with the scales set by the options.
    quality : QualityTable
        Quality vectors of all models.
    scores : ndarray, shape (k, s, n)
        Scores, larger is better, averaged over repeats.
    method_settings : dict
        Scales and rounding, for the document's provenance.
    warnings : tuple of str
        Warnings about the scales.
    """

    specs: tuple[MetricSpec, ...]
    quality: QualityTable
    scores: Floats
    method_settings: dict[str, Any]
    warnings: tuple[str, ...]


def build_criteria(table: ScoreTable, settings: CriteriaSettings) -> Criteria:
    """Convert the scores of each sample to a vector with one entry per criterion.

    Parameters
    ----------
    table : ScoreTable
        Paired table, with or without repeats.
    settings : CriteriaSettings
        Options that define the criteria.

    Returns
    -------
    Criteria

    Raises
    ------
    UsageError
        If models are unpaired, a criterion has no direction, or a criterion is unknown.
    InputError
        If scores lie outside their declared bounds, or have too many digits for an exact comparison.
    """
    if table.options.unpaired:
        hint = f"use {option('missing', 'drop')} instead: it compares on the common samples"
        raise UsageError("gsd compares models on the same samples", found=option("unpaired", True), hint=hint)
    require_directions(table, command="gsd", metrics="criteria")
    labels = [spec.name for spec in table.metrics]
    for name in settings.ordinal:
        index_of(name, labels, kind="criterion", plural="criteria", parameter="ordinal")
    specs = tuple(
        replace(spec, scale="ordinal") if spec.name in settings.ordinal else spec for spec in table.metrics
    )
    digits = _numbers_by_criterion("digits", settings.digits, specs)
    tolerance = _numbers_by_criterion("tolerance", settings.tolerance, specs)
    draws = table.score_array()
    quality = quality_table(
        draws,
        ordinal=[spec.scale == "ordinal" for spec in specs],
        bounds=np.array([oriented_bounds(spec) for spec in specs]),
        digits=[None if places is None else int(places) for places in digits] if settings.digits else None,
        tolerance=tolerance if settings.tolerance else None,
        names=labels,
    )
    constant = np.flatnonzero((quality.vectors == quality.vectors[0]).all(axis=0)).tolist()
    method_settings = {
        "ordinal": [spec.name for spec in specs if spec.scale == "ordinal"],
        "digits": {name: int(n) for name, n in zip(labels, digits, strict=True) if n is not None},
        "tolerance": {name: step for name, step in zip(labels, tolerance, strict=True) if step is not None},
    }
    return Criteria(
        specs=specs,
        quality=quality,
        scores=np.nanmean(draws, axis=2),
        method_settings=method_settings,
        warnings=(
            *_scale_warnings(specs, quality, averaged=table.options.repeats == "mean"),
            *(
                f"criterion '{labels[j]}' has a single value, possibly after rounding, so it is uninformative"
                for j in constant
            ),
        ),
    )


def _numbers_by_criterion(
    parameter: str, numbers: ByName, specs: Sequence[MetricSpec]
) -> tuple[float | None, ...]:
    """Return the value of an option such as ``digits`` for each criterion.

    The value is None if the option is not set or the criterion is ordinal.

    Parameters
    ----------
    parameter : str
        Name of the option.
    numbers : sequence of (str, float)
        Values by criterion; the name "" stands for all criteria.
    specs : sequence of MetricSpec
        Names, directions and bounds of the metrics.

    Raises
    ------
    UsageError
        If a criterion is unknown, or ordinal.
    """
    labels = [spec.name for spec in specs]
    cardinal = [spec.name for spec in specs if spec.scale == "cardinal"]
    by_name = dict(numbers)  # the empty name stands for all criteria
    for name in filter(None, by_name):
        index_of(name, labels, kind="criterion", plural="criteria", parameter=parameter)
        if name not in cardinal:
            problem = f"{option(parameter, f'{name}={by_name[name]:g}')} rounds an ordinal criterion"
            detail = f"{name} is ordinal: only the order of its values is used"
            raise UsageError(problem, found=detail, hint="round the column beforehand instead")
    default = by_name.get("")
    return tuple(by_name.get(name, default) if name in cardinal else None for name in labels)


def _scale_warnings(specs: Sequence[MetricSpec], quality: QualityTable, *, averaged: bool) -> list[str]:
    """Return warnings about scales, bounds and averages that are probably not intended.

    `averaged` is True if repeats are averaged.
    """
    many_levels, permuted_copies = suspicious_ordinal_criteria(quality)
    texts = [
        f"ordinal criterion '{specs[j].name}' has {levels} levels and may be a measurement: a cardinal scale "
        "would use its differences, and fewer levels would be faster"
        for j, levels in many_levels
    ]
    texts += [
        f"ordinal criterion '{specs[j].name}' has the values of '{specs[i].name}' in another order: "
        "one may be a copy with shuffled rows"
        for i, j in permuted_copies
    ]
    ordinal = [spec.name for spec in specs if spec.scale == "ordinal"]
    if averaged and ordinal:
        texts.append(
            f"{option('repeats', 'mean')} averages {listing(ordinal)}, but values of an ordinal criterion "
            f"have only an order: {option('repeats', 'draws')} keeps all of them"
        )
    texts += [
        f"bounds of '{spec.name}' have no finite logarithm on one side: the observed extreme is used"
        for spec in specs
        if spec.transform == "neg_log" and spec.bounds is not None and spec.bounds[0] <= 0
    ]
    return texts
