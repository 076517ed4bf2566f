"""What findings of a ranking and their sentences look things up in."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from riskrank.engine.family import Family
from riskrank.studies.findings import Case
from riskrank.studies.rank.leading import Leading
from riskrank.studies.targets import units_of

AGAINST = "another model is ahead of the first head to head, on every metric, or in bad cases on one"
TRADED = "the first is ahead, and another model has the better mean"
AHEAD = "the first is significantly ahead of all others"
NOT_SHOWN = "the first is not shown to be ahead of all others"


@dataclass(frozen=True, kw_only=True)
class RankCase(Case):
    """What sentences are made from.

    Attributes
    ----------
    leading : dict of str to Leading
    family : Family
    unique : bool
        Whether an aggregated order is the only one that fits.
    """

    leading: Mapping[str, Leading]
    family: Family
    unique: bool = True

    @property
    def lead(self) -> Leading:
        """The first column of scores, mostly the only one."""
        return next(iter(self.leading.values()))

    @property
    def states(self) -> Mapping[str, list[str]]:
        """Columns of scores by what the evidence says of their first model, the gravest first."""
        found: dict[str, list[str]] = {AGAINST: [], TRADED: [], AHEAD: [], NOT_SHOWN: []}
        for name, one in self.leading.items():
            ahead = TRADED if one.trade else AHEAD
            found[AGAINST if one.refuted else ahead if one.ahead else NOT_SHOWN].append(self.score(name))
        return {state: columns for state, columns in found.items() if columns}


def means_differ(one: Leading, case: RankCase) -> bool:
    """Whether the interval told of the only metric's means leaves out 0."""
    if len(case.means) > 1:
        return False
    difference, following = one.found.effects[one.method].mean_difference, one.others[0]
    if difference.low is None or difference.high is None:
        return False
    return bool(difference.low[following] > 0 or difference.high[following] < 0)


def ends_of(one: Leading, pair: tuple[int, int], case: RankCase) -> tuple[()] | tuple[float, float]:
    """Ends of a difference of means as the file has them, of two models of which one is the first."""
    difference, mean = one.found.effects[one.method].mean_difference, case.means[0]
    units = units_of(one.column, case.table.metrics)
    if difference.low is None or difference.high is None or units.label != mean.name:
        return ()
    # Differences of every model to the first, turned where the first stands first.
    model, turned = (pair[1], True) if pair[0] == one.first else (pair[0], False)
    ends = (-difference.high, -difference.low) if turned else (difference.low, difference.high)
    low, high = units.ends(*ends)
    return float(low[model]), float(high[model])


def span_of(one: Leading, pair: tuple[int, int], case: RankCase) -> str:
    """The same in words; none of nothing."""
    ends = ends_of(one, pair, case)
    return case.means[0].span(*ends) if ends else ""


def differing(span: str) -> str:
    """The interval of a difference, where there is one, in brackets."""
    return f" (difference {span})" if span else ""


def strongest(strength: np.ndarray, count: int) -> list[int]:
    """Numbers of the strongest, the strongest first."""
    return np.argsort(-np.abs(strength), kind="stable")[:count].tolist()
