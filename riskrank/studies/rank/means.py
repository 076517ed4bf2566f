"""Means of two models beside each other, and where their difference lies, in the units of the metrics."""

from __future__ import annotations

import numpy as np

from riskrank.studies.metric_means import MetricMeans
from riskrank.studies.rank.case import RankCase
from riskrank.studies.rank.leading import Leading
from riskrank.studies.units import units_of


def means_differ(one: Leading, case: RankCase) -> bool:
    """Whether the interval told of the only metric's means leaves out 0."""
    if len(case.means) > 1:
        return False
    difference, following = one.found.effects[one.method].mean_difference, one.others[0]
    if difference.low is None or difference.high is None:
        return False
    return bool(difference.low[following] > 0 or difference.high[following] < 0)


def span_of(one: Leading, pair: tuple[int, int], case: RankCase) -> str:
    """The interval of a difference of means as the file has them, of two models of which one is the first."""
    difference, mean = one.found.effects[one.method].mean_difference, case.means[0]
    units = units_of(one.column, case.table.metrics)
    if difference.low is None or difference.high is None or units.label != mean.name:
        return ""
    # Differences of every model to the first, turned where the first stands first.
    model, turned = (pair[1], True) if pair[0] == one.first else (pair[0], False)
    ends = (-difference.high, -difference.low) if turned else (difference.low, difference.high)
    low, high = units.interval(*ends)
    assert low is not None
    assert high is not None
    return mean.span(float(low[model]), float(high[model]))


def differing(span: str) -> str:
    """The interval of a difference, where there is one, in brackets."""
    return f" (difference {span})" if span else ""


def against_of(mean: MetricMeans, one: int, other: int) -> str:
    """One metric's means of two models: ``correct 97.5 % against 82.3 %``."""
    return f"{mean.name} {mean.against(one, other)}"


def strongest(strength: np.ndarray, count: int) -> list[int]:
    """Numbers of the strongest, the strongest first."""
    return np.argsort(-np.abs(strength), kind="stable")[:count].tolist()
