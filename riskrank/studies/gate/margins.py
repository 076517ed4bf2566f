"""Margins of the claims, and the worst and the best score there can be, by which a margin has a unit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from riskrank.engine.types import Floats
from riskrank.errors import UsageError, did_you_mean, listing, option
from riskrank.scores.metrics_file import MetricSpec
from riskrank.studies.gate.settings import ClaimSettings
from riskrank.studies.gate.statistics import Statistic

Ends = tuple[float, float]


def margins(settings: ClaimSettings, names: Sequence[str], wanted: Sequence[Statistic]) -> dict[str, float]:
    """Margin of each metric that claims are about.

    Raises
    ------
    UsageError
        If no claim is about a metric that is given one, or claims are about dominance, which has no unit.
    """
    given: dict[str | None, float] = dict(settings.margin)
    for metric in given:
        if metric is not None and metric not in names:
            raise UsageError(
                f"{option('margin', f'{metric}=…')} is for a metric that no claim is about",
                found=f"claims are on {listing(names)}",
                hint=did_you_mean(
                    metric,
                    names,
                    write=lambda near: option("margin", f"{near}=…"),
                    otherwise="leave it out",
                ),
            )
    ratios = [one.name for one in wanted if one.dominance is not None]
    if ratios and any(given.values()):
        raise UsageError(
            f"{option('margin')} is in the units of a metric, and dominance has none",
            found=f"{option('margin', f'{max(given.values()):g}')} with {option('on', ratios[0])}",
            hint=f"leave out {option('margin')}, or claim {option('on', 'mean')}",
        )
    return {name: given.get(name, given.get(None, 0.0)) for name in names}


def limits(metric: MetricSpec, columns: Sequence[Floats], margin: float) -> tuple[Ends, str | None]:
    """The worst and the best score there can be, and what a reader must know of them.

    Those are the bounds of the metric, or what was seen of any model. Scores of which no two differ by the
    margin, such as those of two models without a mistake, say little of what there can be: if all of them
    are shares, 0 and 1 are taken.

    Parameters
    ----------
    metric : MetricSpec
    columns : sequence of ndarray
        Scores of every model, larger is better.
    margin : float

    Raises
    ------
    UsageError
        If the margin is wider than scores can differ: it has another unit.
    """
    ends = [float(min(column.min() for column in columns)), float(max(column.max() for column in columns))]
    if metric.bounds is not None and metric.transform == "none":
        ends += [metric.sign * bound for bound in metric.bounds if np.isfinite(bound)]
    worst, best = min(ends), max(ends)
    if margin < best - worst or margin == 0:
        return (worst, best), None
    share = metric.transform == "none" and 0 <= metric.sign * worst <= 1 and 0 <= metric.sign * best <= 1
    if share and margin < 1:
        advice = (
            f"no two scores of {metric.name} differ by the margin of {margin:g}: they are taken as scores "
            "from 0 to 1; bounds in a metrics file say otherwise"
        )
        return (min(metric.sign, 0.0), max(metric.sign, 0.0)), advice
    raise UsageError(
        f"{option('margin', f'{margin:g}')} is no margin for {metric.name}: no two of its scores differ by "
        "more",
        found=f"scores of {metric.name} within {best - worst:g} of each other",
        hint=f"give the margin in the units of the file, {option('margin', f'{metric.name}=…')}; if scores "
        "can differ by more, say so with bounds in a metrics file",
    )
