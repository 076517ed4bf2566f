"""What the sentences of a ranking's verdict are made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from riskrank.engine.dominance.inference import Inference
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.judged.chapter import JudgedChapter
from riskrank.studies.metric_means import MetricMeans
from riskrank.studies.rank.leading import Leading
from riskrank.studies.suites.chapter import SuiteChapter


@dataclass(frozen=True)
class Case:
    """What sentences are made from.

    Attributes
    ----------
    table : ScoreTable
    means : tuple of MetricMeans
    leading : dict of str to Leading
    inference : Inference
    suite : SuiteChapter or None
    judged : JudgedChapter or None
    unique : bool
        Whether an aggregated order is the only one that fits.
    """

    table: ScoreTable
    means: tuple[MetricMeans, ...]
    leading: Mapping[str, Leading]
    inference: Inference
    suite: SuiteChapter | None = None
    judged: JudgedChapter | None = None
    unique: bool = True

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models."""
        return self.table.models

    @property
    def names(self) -> list[str]:
        """Names of the metrics."""
        return [one.name for one in self.means]

    def score(self, column: str) -> str:
        """What a column of scores is called in a sentence."""
        several = sum(name not in self.names for name in self.leading) > 1
        combined = f"the combined score {column}" if several else "the combined score"
        name = column if column in self.names else combined
        return name if self.suite is None or len(self.leading) > 1 else f"{name} {self.suite.on}"

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
