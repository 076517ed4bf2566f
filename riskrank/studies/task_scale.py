"""A common score scale for the tasks of a suite."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from riskrank.engine.portfolio.folding import ranks_within_tasks
from riskrank.engine.types import Floats
from riskrank.errors import UsageError, listing, option
from riskrank.options.inference import BOUNDS, NONE, RANK, SuiteSettings
from riskrank.scores.table.metrics import oriented_bounds
from riskrank.scores.table.metrics_file import MetricSpec
from riskrank.scores.table.score_table import ScoreTable
from riskrank.scores.table.suite import MIXED, Suite
from riskrank.studies.targets import build_task_design, no_tasks_error

_NOTES = {
    RANK: "scores are replaced by ranks among all models of the task",
    BOUNDS: "scores are rescaled to 0–1 between the bounds of their metric",
}


def rescale_tasks(table: ScoreTable, settings: SuiteSettings) -> ScoreTable:
    """Convert the scores of a suite to a common scale, or return other tables unchanged.

    Tasks with common metrics keep their units unless the options say otherwise. Tasks with different metrics
    are compared by ranks within each task, or relative to declared bounds (method §8).

    Parameters
    ----------
    table : ScoreTable
    settings : SuiteSettings

    Returns
    -------
    ScoreTable
        Rescaled table, with a note on the scale unless it is that of the file.

    Raises
    ------
    UsageError
        If a task option is set but the table has no tasks, or bounds are needed and a metric has none.
    """
    if not table.suite:
        _refuse_without_tasks(table, settings)
        return table
    scale = task_scale(table, settings)
    if scale == NONE:
        return _check_mixed_units(table, table.suite) if table.suite.specs else table
    values = _ranks_within_tasks(table) if scale == RANK else _shares_of_bounds(table)
    suite = replace(table.suite, means=_task_means(table), scale=scale)
    if suite.specs:
        suite = replace(suite, specs=tuple(_unit_scale(spec) for spec in suite.specs))
    return replace(
        table,
        values=values,
        metrics=tuple(_unit_scale(spec) for spec in table.metrics),
        suite=suite,
        warnings=(*table.warnings, f"{option('task_scale', scale)}: {_NOTES[scale]}"),
    )


def _check_mixed_units(table: ScoreTable, suite: Suite) -> ScoreTable:
    """Return a suite unscaled, with a warning unless its bounds indicate a common unit.

    Raises
    ------
    UsageError
        If the tasks' declared bounds differ.
    """
    assert suite.specs
    counted = [spec for spec, weight in zip(suite.specs, suite.weights, strict=True) if weight]
    specs = {spec.name: spec for spec in counted}
    if len(specs) < 2:
        return table
    bounds = {name: spec.bounds for name, spec in specs.items() if spec.bounds is not None}
    if len(set(bounds.values())) > 1:
        raise UsageError(
            f"{option('task_scale', NONE)} averages scores with different units",
            found="; ".join(f"{name} from {low:g} to {high:g}" for name, (low, high) in bounds.items()),
            hint=f"use {option('task_scale', BOUNDS)}, or {option('task_scale', RANK)}",
        )
    if len(bounds) == len(specs):
        return table
    warning = (
        f"{option('task_scale', NONE)} averages scores of {listing(specs, 4)} without rescaling: if their "
        "units differ, the means have no unit, and the metric with the widest range dominates; "
        f"{option('task_scale', RANK)} makes them comparable"
    )
    return replace(table, suite=replace(suite, scale=MIXED), warnings=(*table.warnings, warning))


def task_scale(table: ScoreTable, settings: SuiteSettings) -> str:
    """Return the score scale of a table: ``none``, ``rank`` or ``bounds``."""
    if not table.suite:
        return NONE
    return settings.task_scale or (RANK if table.suite.specs else NONE)


def _refuse_without_tasks(table: ScoreTable, settings: SuiteSettings) -> None:
    # A group may contain only one task.
    """Raise UsageError if a task option is set but the table has no tasks."""
    if table.options.group_by is not None:
        return
    for name in ("task_scale", "per_task"):
        if value := getattr(settings, name, None):
            raise no_tasks_error(option(name, value), f"leave out {option(name)}")


def _unit_scale(spec: MetricSpec) -> MetricSpec:
    """Return the metric on a scale from 0 (worst) to 1 (best)."""
    return replace(spec, direction="higher", transform="none", bounds=(0.0, 1.0))


def _task_means(table: ScoreTable) -> Floats:
    """Return the means of m metrics, k models and T tasks in the units of the file, shape (m, k, T)."""
    suite = table.suite
    tasks = [suite.of_sample[samples] for samples in table.row_samples]
    task_signs = [metric.sign for metric in suite.specs]
    signs = [task_signs or [spec.sign] * len(suite.names) for spec in table.metrics]
    from riskrank.engine.suites.task_differences import TaskScores  # only for suites

    columns = [TaskScores.build(table.column(number), tasks).mean for number in range(len(table.metrics))]
    return np.array(columns) * np.array(signs)[:, None] + 0.0


def _ranks_within_tasks(table: ScoreTable) -> tuple[Floats, ...]:
    """Return the ranks of the scores within each task, as one array per model with one rank per row."""
    tasks = build_task_design(table)
    assert tasks is not None
    return ranks_within_tasks(table.values, tasks)


def _shares_of_bounds(table: ScoreTable) -> tuple[Floats, ...]:
    """Return scores rescaled from the bounds of their metric to [0, 1], as one array per model."""
    suite = table.suite
    task_specs = suite.specs
    by_task = [(task_specs[task],) if task_specs else table.metrics for task in range(len(suite.names))]
    ranges = np.array([[_score_range(spec) for spec in specs] for specs in by_task])
    shares = []
    for values, samples in zip(table.values, table.row_samples, strict=True):
        low, high = np.moveaxis(ranges[suite.of_sample[samples]], 2, 0)
        shares.append((values - low) / (high - low))
    return tuple(shares)


def _score_range(spec: MetricSpec) -> Sequence[float]:
    """Return the smallest and the largest oriented score, raising UsageError if they are unknown."""
    low, high = oriented_bounds(spec)
    if not (np.isfinite(low) and np.isfinite(high)):
        raise UsageError(
            f"{option('task_scale', BOUNDS)} needs the bounds of {spec.name}",
            found="no bounds" if spec.bounds is None else f"bounds {listing(map(str, spec.bounds))}",
            hint=f"declare bounds in {option('metrics_file')}, or use {option('task_scale', RANK)}",
        )
    return low, high
