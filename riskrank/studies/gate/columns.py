"""Score columns that gates compare, with their worst and best possible scores."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.types import Floats
from riskrank.errors import UsageError, listing, option
from riskrank.options.baseline import Margin, Percent
from riskrank.options.inference import SuiteSettings
from riskrank.scores.table.metric_specs import MetricSpec
from riskrank.scores.table.oriented_scores import group_tables, task_tables
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.means_only import MeanColumn, mean_column
from riskrank.studies.portfolio.options import PortfolioSettings
from riskrank.studies.targets import Units, check_range, column_units, target_columns

Range = tuple[float, float]
UNBOUNDED: Range = (-np.inf, np.inf)


def score_limits(metric: MetricSpec, columns: Sequence[Floats], margin: Margin) -> Range:
    """Return the worst and the best possible score of a metric.

    These are its declared bounds, or 0 and 1 for binary scores, extended to include all observed scores.

    Parameters
    ----------
    metric : MetricSpec
    columns : sequence of ndarray
        Scores of every model; larger is better.
    margin : float or Percent

    Raises
    ------
    UsageError
        If the margin is at least as wide as the range of the scores, which suggests a wrong unit.
    """
    bounds = [float(min(column.min() for column in columns)), float(max(column.max() for column in columns))]
    bounds += [metric.sign * bound for bound in _known_bounds(metric, columns) if np.isfinite(bound)]
    limits = min(bounds), max(bounds)
    if not isinstance(margin, Percent):
        refuse_wide_margin(metric.name, margin, limits)
    return limits


def refuse_wide_margin(metric: str, margin: float, limits: Range) -> None:
    """Raise an error if a margin is at least as wide as the range of the scores."""
    width = limits[1] - limits[0]
    if margin > 0 and margin >= width:
        raise UsageError(
            f"{option('margin', f'{margin:g}')} is too large for {metric}, whose scores never differ by "
            "that much",
            found=f"scores of {metric} within {width:g} of each other",
            hint=f"give the margin in the units of the file, {option('margin', f'{metric}=…')}; if "
            "scores can differ by more, declare bounds in a metrics file",
        )


def _known_bounds(metric: MetricSpec, columns: Sequence[Floats]) -> tuple[float, ...]:
    """Return the declared bounds of a metric, or (0, 1) if all its scores are 0 or 1.

    The tuple is empty if the bounds are unknown or the metric is on a log scale.
    """
    if metric.transform != "none":
        return ()
    if metric.bounds is not None:
        return metric.bounds
    return (0.0, 1.0) if all(np.isin(column, (0.0, metric.sign)).all() for column in columns) else ()


@dataclass(frozen=True, eq=False)
class ScoreColumn:
    """Scores of all models on a metric, for all samples, one group or one task.

    Attributes
    ----------
    name : str
        Name of the metric in the output.
    scores : ClusteredScores
    units : Units
    limits : tuple of float
        Worst and best possible score, larger is better.
    group : str or None
    width : float or None
        Width of the declared range of scores, or None if undeclared.
    task : str or None
        Task, if the scores are those of a single task.
    means : MeanColumn or None
        Means and their standard errors, if the table allows only comparisons of means.
    """

    name: str
    scores: ClusteredScores
    units: Units
    limits: tuple[float, float]
    group: str | None = None
    width: float | None = None
    task: str | None = None
    means: MeanColumn | None = None


def score_columns(
    table: ScoreTable, margin_by_metric: Mapping[str, Margin], settings: SuiteSettings
) -> dict[str, list[ScoreColumn]]:
    """Return the scores of all models by metric: one column for all samples, then one per group.

    Parameters
    ----------
    table : ScoreTable
    margin_by_metric : mapping of str to float or Percent
        Margin by metric; other metrics are skipped.
    settings : SuiteSettings
    """
    tables: dict[str | None, ScoreTable] = {None: table}
    if table.groups is not None:
        from riskrank.studies.groups.study import require_samples

        parts = group_tables(table)
        require_samples(parts, table, alternative="score more samples")
        tables.update(parts)
    ranges = {
        metric.name: _range_fields(metric, table.column(number), margin_by_metric[metric.name])
        for number, metric in enumerate(table.metrics)
        if metric.name in margin_by_metric
    }
    columns: dict[str, list[ScoreColumn]] = {name: [] for name in ranges}
    for group, part in tables.items():
        group_targets = target_columns(part, PortfolioSettings(), per_metric=True, suite_settings=settings)
        for number, target in enumerate(group_targets):
            if target.name in ranges:
                check_range(target.name, target.scores, table.models)
                units = column_units(target.name, table.metrics)
                fields = ranges[target.name] | {"group": group, "means": mean_column(part, number)}
                columns[target.name].append(ScoreColumn(target.name, target.scores, units, **fields))
    return columns


def _range_fields(spec: MetricSpec, values: Sequence[Floats], margin: Margin) -> dict[str, Any]:
    """Return the fields `limits` and `width` of a `ScoreColumn` for a metric.

    `values` has one array of scores per model.
    """
    bounds = _known_bounds(spec, values)
    width = bounds[1] - bounds[0] if bounds and np.all(np.isfinite(bounds)) else None
    return {"limits": score_limits(spec, values, margin), "width": width}


def unclaimed_task_notes(tables: Sequence[ScoreTable]) -> Iterator[str]:
    """Yield a note that lists the tasks without a claim, which have a weight of 0."""
    suites = [table.suite for table in tables if table.suite]
    idle = [suite.names[i] for suite in suites for i in np.flatnonzero(suite.weights == 0)]
    if idle:
        yield f"no claim on {listing(dict.fromkeys(idle))}, because {option('task_weight')} is 0 there"


def task_columns(table: ScoreTable, margin_by_metric: Mapping[str, Margin]) -> dict[str, list[ScoreColumn]]:
    """Return the scores of all models by metric, one column per task with positive weight.

    Parameters
    ----------
    table : ScoreTable
        Table of a suite.
    margin_by_metric : mapping of str to float or Percent
        Margin by metric; other metrics are skipped.
    """
    parts, specs = task_tables(table), table.suite.specs
    columns: dict[str, list[ScoreColumn]] = {}
    for number, metric in enumerate(table.metrics):
        if metric.name not in margin_by_metric:
            continue
        for i, task in enumerate(table.suite.names):
            if not table.suite.weights[i]:
                continue
            spec, range_table = (specs[i], parts[task]) if specs else (metric, table)
            scores = target_columns(parts[task], PortfolioSettings(), per_metric=True)[number].scores
            check_range(spec.name, scores, table.models)
            ranges = _range_fields(spec, range_table.column(number), margin_by_metric[spec.name])
            column = ScoreColumn(spec.name, scores, column_units(spec.name, [spec]), task=task, **ranges)
            columns.setdefault(metric.name, []).append(column)
    return columns
