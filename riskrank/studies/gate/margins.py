"""Margins of the claims, and the worst and the best score there can be, by which a margin has a unit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from riskrank.asked.baseline import Margin, Percent
from riskrank.engine.types import Floats
from riskrank.errors import UsageError, did_you_mean, listing, option
from riskrank.scores.names.directions import looks_like_an_amount
from riskrank.scores.table.metrics_file import MetricSpec
from riskrank.studies.costs import PER_SUCCESS
from riskrank.studies.gate.options import ClaimSettings
from riskrank.studies.gate.statistics import Statistic

Ends = tuple[float, float]


def margins(settings: ClaimSettings, names: Sequence[str], wanted: Sequence[Statistic]) -> dict[str, Margin]:
    """Margin of each metric that claims are about.

    Raises
    ------
    UsageError
        If one is for no claim, or claims are about dominance, which has no unit.
    """
    given: dict[str, Margin] = dict(settings.margin)
    pairs = [one for one in wanted if one.name == PER_SUCCESS]
    parts = {name for one in pairs for name in one.metrics}
    parts -= {name for one in wanted if one not in pairs for name in one.metrics}
    of_parts: dict[str, Margin] = dict.fromkeys(parts, 0.0)
    names = [*(name for name in names if name not in parts), *(one.label for one in pairs)]
    for metric in given:
        if metric and metric not in names:
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
    if pairs and "" in given and all(name in given for name in names):
        raise UsageError(
            f"{option('margin', given[''])} is for no claim",
            found=f"every claim has a margin of its own, on {listing(names)}",
            hint="leave it out",
        )
    ratios = [one.name for one in wanted if one.dominance is not None]
    if ratios and any(given.values()):
        raise UsageError(
            f"{option('margin')} is in the units of a metric, and dominance has none",
            found=f"{option('margin', next(filter(None, given.values())))} with {option('on', ratios[0])}",
            hint=f"leave out {option('margin')}, or claim {option('on', 'mean')}",
        )
    return of_parts | {name: given.get(name, given.get("", 0.0)) for name in names}


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
    if metric.transform == "none":
        bounds = (0.0, 1.0) if _shares(metric, columns) else metric.bounds
        ends += [metric.sign * bound for bound in bounds or () if np.isfinite(bound)]
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


def declared_range(metric: MetricSpec, columns: Sequence[Floats]) -> float | None:
    """Width of the bounds a metric was declared to have, 1 where every score is 0 or 1; None otherwise."""
    if metric.transform != "none":
        return None
    if metric.bounds is not None:
        width = metric.bounds[1] - metric.bounds[0]
        return width if np.isfinite(width) else None
    binary = all(bool(np.all((column == 0) | (column == metric.sign))) for column in columns)
    return 1.0 if binary else None


def bounded(metric: MetricSpec, columns: Sequence[Floats]) -> bool:
    """Whether both ends of a metric are known: declared, or those of shares."""
    if metric.transform != "none":
        return False
    if metric.bounds is not None:
        return bool(np.all(np.isfinite(metric.bounds)))
    return _shares(metric, columns)


def _shares(metric: MetricSpec, columns: Sequence[Floats]) -> bool:
    """Whether scores without bounds all lie within 0 and 1; costs below 1 are no shares, in any unit."""
    within = all(
        bool(np.all((metric.sign * column >= 0) & (metric.sign * column <= 1))) for column in columns
    )
    return within and metric.bounds is None and not looks_like_an_amount(metric.name)
