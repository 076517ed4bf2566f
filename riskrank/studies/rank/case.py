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


def apart(one: Leading, pair: tuple[int, int], case: RankCase) -> dict[str, float]:
    """Difference of the means of two models, of which one is the first, with its interval."""
    to_first, units = one.found.effects[one.method].mean_difference, units_of(one.column, case.table.metrics)
    # Differences of every model to the first, turned where the first stands first.
    if pair[0] == one.first:
        return units.figures(to_first.turned(), pair[1])
    return units.figures(to_first, pair[0])


def means_differ(one: Leading, pair: tuple[int, int], case: RankCase) -> bool:
    """Whether the interval told of the only metric's means leaves out 0."""
    found = apart(one, pair, case)
    return len(case.means) == 1 and "low" in found and (found["low"] > 0 or found["high"] < 0)


def ends_of(one: Leading, pair: tuple[int, int], case: RankCase) -> dict[str, float]:
    """Ends of that interval, where it is one of the first metric as the file has it."""
    if units_of(one.column, case.table.metrics).label != case.means[0].name:
        return {}
    return {name: value for name, value in apart(one, pair, case).items() if name != "difference"}


def differing(one: Leading, pair: tuple[int, int], case: RankCase, text: str = " (difference {})") -> str:
    """The same in words, where there is one."""
    ends = ends_of(one, pair, case)
    return text.format(case.means[0].span(**ends)) if ends else ""


def strongest(strength: np.ndarray, count: int) -> list[int]:
    """Numbers of the strongest, the strongest first."""
    return np.argsort(-np.abs(strength), kind="stable")[:count].tolist()
