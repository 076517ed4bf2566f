"""Columns of scores that claims are made on, their margins, and the worst and the best score there can be."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.types import Floats, Integers
from riskrank.errors import UsageError, listing, option
from riskrank.options.baseline import Margin, Percent
from riskrank.options.suites import SuiteSettings
from riskrank.scores.names.directions import looks_like_an_amount
from riskrank.scores.table.groups import group_tables, task_tables
from riskrank.scores.table.metrics_file import MetricSpec
from riskrank.scores.table.score_table import ScoreTable
from riskrank.scores.table.time_order import unit_scores
from riskrank.studies.groups.study import require_samples
from riskrank.studies.means_only import MeanColumn, mean_column
from riskrank.studies.portfolio.options import PortfolioSettings
from riskrank.studies.targets import Units, check_range, targets, units_of

Ends = tuple[float, float]


def limits(metric: MetricSpec, columns: Sequence[Floats], margin: Margin) -> Ends:
    """The worst and the best score there can be.

    Those are the bounds of the metric, or what was seen of any model; shares reach from 0 to 1, as two models
    without a mistake say little of what there can be.

    Parameters
    ----------
    metric : MetricSpec
    columns : sequence of ndarray
        Scores of every model, larger is better.
    margin : float or Percent

    Raises
    ------
    UsageError
        If the margin is wider than scores can differ: it has another unit.
    """
    ends = [float(min(column.min() for column in columns)), float(max(column.max() for column in columns))]
    ends += [metric.sign * bound for bound in _bounds(metric, columns) if np.isfinite(bound)]
    found = min(ends), max(ends)
    if not isinstance(margin, Percent):
        refuse_wide(metric.name, margin, found)
    return found


def refuse_wide(metric: str, margin: float, ends: Ends) -> None:
    """Refuse a margin wider than scores can differ."""
    width = ends[1] - ends[0]
    if margin > 0 and margin >= width:
        raise UsageError(
            f"{option('margin', f'{margin:g}')} is no margin for {metric}: no two of its scores differ "
            "by more",
            found=f"scores of {metric} within {width:g} of each other",
            hint=f"give the margin in the units of the file, {option('margin', f'{metric}=…')}; if "
            "scores can differ by more, say so with bounds in a metrics file",
        )


def bounded(metric: MetricSpec, columns: Sequence[Floats]) -> bool:
    """Whether both ends of a metric are known: declared, or those of shares."""
    bounds = _bounds(metric, columns)
    return bool(bounds) and bool(np.all(np.isfinite(bounds)))


def _bounds(metric: MetricSpec, columns: Sequence[Floats]) -> tuple[float, ...]:
    """Ends that were declared, else those of shares; none of logarithms, nor where nobody knows any.

    Scores that all lie within 0 and 1 are shares; costs below 1 are none, in any unit.
    """
    if metric.transform != "none":
        return ()
    if metric.bounds is not None:
        return metric.bounds
    within = all(np.all((metric.sign * own >= 0) & (metric.sign * own <= 1)) for own in columns)
    return (0.0, 1.0) if within and not looks_like_an_amount(metric.name) else ()


@dataclass(frozen=True, eq=False)
class ScoreColumn:
    """One column of scores claims are made on.

    Attributes
    ----------
    name : str
        Metric it is reported under.
    scores : ClusteredScores
    units : Units
    limits : tuple of float
        The worst and the best score there can be, larger is better.
    group : str or None
    bounded : bool
        Whether the limits are known, and not only seen.
    reach : float or None
        How far two scores can lie apart by what was declared; None where nobody said so.
    task : str or None
        The only task it is about.
    means : MeanColumn or None
        Where only means can be compared, what there is to say of them.
    in_order : tuple of k ndarrays, shapes (n,), or None
        Scores of the samples, or clusters of them, in the order of time.
    one_by_one : ClusteredScores or None
        The same scores where samples in the order of time are not drawn in blocks: claims on means know how
        alike neighbours are.
    costs : ClusteredScores or None
        Of claims on the cost per success the costs; `scores` are the successes.
    """

    name: str
    scores: ClusteredScores
    units: Units
    limits: tuple[float, float]
    group: str | None = None
    bounded: bool = False
    reach: float | None = None
    task: str | None = None
    means: MeanColumn | None = None
    in_order: tuple[Floats, ...] | None = None
    one_by_one: ClusteredScores | None = None
    costs: ClusteredScores | None = None


def score_columns(
    table: ScoreTable, margin_of: Mapping[str, Margin], settings: SuiteSettings
) -> dict[str, list[ScoreColumn]]:
    """Scores by metric, of those that claims are about: of all samples together, then of each group."""
    tables: dict[str | None, ScoreTable] = {None: table}
    if table.groups is not None:
        parts = group_tables(table)
        require_samples(parts, table, alternative="score more samples")
        tables.update(parts)
    known = {
        metric.name: _known(metric, table.column(number), margin_of[metric.name])
        for number, metric in enumerate(table.metrics)
        if metric.name in margin_of
    }
    columns: dict[str, list[ScoreColumn]] = {name: [] for name in known}
    for group, part in tables.items():
        found = targets(part, PortfolioSettings(), per_metric=True, asked=settings)
        units, alone = part.units, found
        if units is not None:
            alone = targets(_one_by_one(part, units), PortfolioSettings(), per_metric=True, asked=settings)
        for number, target in enumerate(found):
            if target.name in known:
                check_range(target.name, target.scores, table.models)
                in_order = None if units is None else tuple(map(unit_scores, part.column(number), units))
                column = ScoreColumn(
                    target.name,
                    target.scores,
                    units_of(target.name, table.metrics),
                    group=group,
                    **known[target.name],
                    means=mean_column(part, number),
                    in_order=in_order,
                    one_by_one=None if units is None else alone[number].scores,
                )
                columns[target.name].append(column)
    return columns


def _known(metric: MetricSpec, values: Sequence[Floats], margin: Margin) -> dict[str, Any]:
    """What is known of the scores of a metric: how bad and good they can be, and how far apart."""
    reach = None
    if metric.transform == "none" and metric.bounds is not None:
        reach = metric.bounds[1] - metric.bounds[0] if np.all(np.isfinite(metric.bounds)) else None
    elif metric.transform == "none" and all(np.isin(own, (0.0, metric.sign)).all() for own in values):
        reach = 1.0
    return {"limits": limits(metric, values, margin), "bounded": bounded(metric, values), "reach": reach}


def _one_by_one(table: ScoreTable, units: tuple[Integers, ...]) -> ScoreTable:
    """Take samples, or clusters of them, out of the blocks in which they are resampled."""
    whole = all(np.array_equal(*both) for both in zip(units, table.row_samples, strict=True))
    names = None if whole else tuple(str(at) for at in range(int(units[0].max()) + 1))
    return replace(table, clusters=units, cluster_names=names)


def without_a_claim(tables: Sequence[ScoreTable]) -> Iterator[str]:
    """A note on tasks that are not claimed anything of, as nothing counts there."""
    suites = [table.suite for table in tables if table.suite]
    idle = [suite.names[at] for suite in suites for at in np.flatnonzero(suite.weights == 0)]
    if idle:
        yield f"no claim on {listing(dict.fromkeys(idle))}: {option('task_weight')} gives weight 0 there"


def task_columns(table: ScoreTable, margin_of: Mapping[str, Margin]) -> dict[str, list[ScoreColumn]]:
    """Scores by metric of those that claims are about, a column a task that counts."""
    parts, own = task_tables(table), table.suite.specs
    columns: dict[str, list[ScoreColumn]] = {}
    for number, metric in enumerate(table.metrics):
        if metric.name not in margin_of:
            continue
        for at, task in enumerate(table.suite.names):
            if not table.suite.weights[at]:
                continue
            spec, of_all = (own[at], parts[task]) if own else (metric, table)
            scores = targets(parts[task], PortfolioSettings(), per_metric=True)[number].scores
            check_range(spec.name, scores, table.models)
            seen = _known(spec, of_all.column(number), margin_of[spec.name])
            column = ScoreColumn(spec.name, scores, units_of(spec.name, [spec]), task=task, **seen)
            columns.setdefault(metric.name, []).append(column)
    return columns
