"""A suite as it is to be compared: of which scope, and on which scale where tasks have units of their own."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from riskrank.engine.portfolio.folding import ranks_within_tasks
from riskrank.engine.types import Floats
from riskrank.errors import UsageError, listing, option
from riskrank.options.suites import BOUNDS, NONE, RANK, SuiteSettings
from riskrank.scores.table.metrics import oriented_bounds
from riskrank.scores.table.metrics_file import MetricSpec
from riskrank.scores.table.score_table import ScoreTable
from riskrank.scores.table.suite import MIXED, Suite
from riskrank.studies.targets import no_tasks, tasks_of

_SAID = {
    RANK: "a score counts by its rank among those of all models on its task",
    BOUNDS: "scores count from 0 to 1 between the bounds of their metric",
}


def on_task_scale(table: ScoreTable, settings: SuiteSettings) -> ScoreTable:
    """Bring the scores of a suite onto one scale; other tables stay as they are.

    Tasks that share their metrics keep the units unless asked otherwise. Tasks with metrics of their own are
    compared by ranks within the task, or by declared bounds (method §8).

    Parameters
    ----------
    table : ScoreTable
    settings : SuiteSettings

    Returns
    -------
    ScoreTable
        With a note on the scale, where it is not the file's.

    Raises
    ------
    UsageError
        If something is asked of tasks and there are none, or a metric has no bounds.
    """
    if not table.suite:
        _refuse_without_tasks(table, settings)
        return table
    scale = scale_of(table, settings)
    if scale == NONE:
        return _as_they_are(table, table.suite) if table.suite.specs else table
    values = _ranks(table) if scale == RANK else _shares_of_bounds(table)
    suite = replace(table.suite, means=_means(table), scale=scale)
    if suite.specs:
        suite = replace(suite, specs=tuple(_scaled(spec) for spec in suite.specs))
    return replace(
        table,
        values=values,
        metrics=tuple(_scaled(spec) for spec in table.metrics),
        suite=suite,
        warnings=(*table.warnings, f"{option('task_scale', scale)}: {_SAID[scale]}"),
    )


def _as_they_are(table: ScoreTable, suite: Suite) -> ScoreTable:
    """Tasks with metrics of their own in the units of each; a warning where bounds do not say they share one.

    Raises
    ------
    UsageError
        If their bounds say that their units differ.
    """
    assert suite.specs
    counted = [spec for spec, weight in zip(suite.specs, suite.weights, strict=True) if weight]
    own = {spec.name: spec for spec in counted}
    if len(own) < 2:
        return table
    bounds = {name: spec.bounds for name, spec in own.items() if spec.bounds is not None}
    if len(set(bounds.values())) > 1:
        raise UsageError(
            f"{option('task_scale', NONE)} adds scores of different units",
            found="; ".join(f"{name} from {low:g} to {high:g}" for name, (low, high) in bounds.items()),
            hint=f"use {option('task_scale', BOUNDS)}, or {option('task_scale', RANK)}",
        )
    if len(bounds) == len(own):
        return table
    said = (
        f"{option('task_scale', NONE)} adds scores of {listing(own, 4)} as they are: where these differ in "
        "unit, means and differences have none, and the metric of the widest scores decides; "
        f"{option('task_scale', RANK)} compares them"
    )
    return replace(table, suite=replace(suite, scale=MIXED), warnings=(*table.warnings, said))


def scale_of(table: ScoreTable, settings: SuiteSettings) -> str:
    """The scale the scores of a table are brought onto."""
    if not table.suite:
        return NONE
    return settings.task_scale or (RANK if table.suite.specs else NONE)


def _refuse_without_tasks(table: ScoreTable, settings: SuiteSettings) -> None:
    # A group of samples may be of one task.
    if table.options.group_by is not None:
        return
    for name in ("task_scale", "per_task"):
        if value := getattr(settings, name, None):
            raise no_tasks(option(name, value), f"leave out {option(name)}")


def _scaled(spec: MetricSpec) -> MetricSpec:
    """What is left to say of a metric on a scale from 0 for the worst to 1 for the best."""
    return replace(spec, direction="higher", transform="none", bounds=(0.0, 1.0))


def _means(table: ScoreTable) -> Floats:
    """Means by metric, model and task as the file has them."""
    suite = table.suite
    tasks = [suite.of_sample[samples] for samples in table.row_samples]
    own = [one.sign for one in suite.specs]
    signs = [own or [spec.sign] * len(suite.names) for spec in table.metrics]
    from riskrank.engine.suites.task_differences import TaskScores  # most tables are no suite

    columns = [TaskScores.build(table.column(number), tasks).mean for number in range(len(table.metrics))]
    return np.array(columns) * np.array(signs)[:, None] + 0.0


def _ranks(table: ScoreTable) -> tuple[Floats, ...]:
    tasks = tasks_of(table)
    assert tasks is not None
    return ranks_within_tasks(table.values, tasks)


def _shares_of_bounds(table: ScoreTable) -> tuple[Floats, ...]:
    suite = table.suite
    own = suite.specs
    by_task = [(own[task],) if own else table.metrics for task in range(len(suite.names))]
    ends = np.array([[_ends(spec) for spec in specs] for specs in by_task])
    found = []
    for values, samples in zip(table.values, table.row_samples, strict=True):
        low, high = np.moveaxis(ends[suite.of_sample[samples]], 2, 0)
        found.append((values - low) / (high - low))
    return tuple(found)


def _ends(spec: MetricSpec) -> Sequence[float]:
    low, high = oriented_bounds(spec)
    if not (np.isfinite(low) and np.isfinite(high)):
        raise UsageError(
            f"{option('task_scale', BOUNDS)} needs the smallest and the largest score of {spec.name}",
            found="no bounds" if spec.bounds is None else f"bounds {listing(map(str, spec.bounds))}",
            hint=f"declare bounds in {option('metrics_file')}, or use {option('task_scale', RANK)}",
        )
    return low, high
