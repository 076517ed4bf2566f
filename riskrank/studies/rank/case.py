"""What the sentences of a ranking's verdict are made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.case import Case
from riskrank.studies.rank.leading import Leading


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
