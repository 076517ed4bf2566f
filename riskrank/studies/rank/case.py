"""What the sentences of a ranking's verdict are made from."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.case import Case
from riskrank.studies.metric_means import MetricMeans
from riskrank.studies.rank.leading import Leading
from riskrank.studies.units import units_of


@dataclass(frozen=True, kw_only=True)
class RankCase(Case):
    """What sentences are made from.

    Attributes
    ----------
    table : ScoreTable
    leading : dict of str to Leading
    unique : bool
        Whether an aggregated order is the only one that fits.
    """

    table: ScoreTable
    leading: Mapping[str, Leading]
    unique: bool = True

    @property
    def refuted(self) -> list[str]:
        """Columns of scores on which the evidence is against the first."""
        return [self.score(name) for name, one in self.leading.items() if one.refuted]

    @property
    def sure(self) -> list[str]:
        """Columns of scores on which the first is ahead of all others."""
        return [self.score(name) for name, one in self.leading.items() if one.ahead and not one.trade]

    @property
    def trades(self) -> list[str]:
        """Columns on which the first is ahead, and another's mean is better."""
        return [self.score(name) for name, one in self.leading.items() if one.ahead and one.trade]

    @property
    def left(self) -> int:
        """How many columns are none of these."""
        return len(self.leading) - len(self.refuted) - len(self.sure) - len(self.trades)


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
    low, high = units.ends(*ends)
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
