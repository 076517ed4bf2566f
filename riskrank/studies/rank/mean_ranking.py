"""Models by their means on a metric, with the tests of all pairs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from riskrank.engine.dominance.ranking import Ranking, rank_by_ratio
from riskrank.engine.evidence.shared import (
    FEWEST_SHARED,
    groups_apart,
    order_of_wins,
    wins_in_a_circle,
)
from riskrank.engine.family import Family
from riskrank.engine.types import Booleans, Floats, Integers
from riskrank.errors import InputError, listing, option
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.means_only import MeanColumn, visible_of
from riskrank.studies.metric_means import MetricMeans


@dataclass(frozen=True, eq=False)
class MeanRanking:
    """Models by their means on a metric.

    Attributes
    ----------
    column : MeanColumn
    samples : Integers or None
        Samples that both models of each pair have, shape (k, k); None where all models have all.
    means : MetricMeans
        As the file has them.
    ranking : Ranking
    p_adjusted : ndarray, shape (k, k), or None
        Of "the mean of i lies above that of j"; None where nothing was tested.
    low, high : ndarray, shape (k,), or None
        Intervals of the differences to the first, larger is better; they hold together for all pairs.
    visible : float or None
        The smallest difference these could have shown.
    """

    column: MeanColumn
    samples: Integers | None
    means: MetricMeans
    ranking: Ranking
    p_adjusted: Floats | None
    low: Floats | None
    high: Floats | None
    visible: float | None

    @property
    def what(self) -> str:
        """What models are ranked by, in words: ``mean accuracy``."""
        return f"{self.column.statistic.replace('-', ' ')} {self.column.name}"

    @property
    def several(self) -> str:
        """The same of several models: ``means of accuracy``."""
        words = "means" if self.column.statistic == "mean" else "costs per success"
        return f"{words} of {self.column.name}"

    @property
    def gaps(self) -> Floats:
        """Differences to the first, larger is better, shape (k,)."""
        return self.column.told(self.column.differences.value[:, self.first])

    @property
    def first(self) -> int:
        """The model with the best mean."""
        return int(self.ranking.order[0])

    def beaten(self, family: Family) -> list[int]:
        """Models shown to have a lower mean than the first, in their order."""
        if self.p_adjusted is None:
            return []
        shown = family.significant(self.p_adjusted[self.first])
        return [i for i in self.ranking.order[1:].tolist() if shown[i]]

    @property
    def not_compared(self) -> list[int]:
        """Models that share too few samples with the first."""
        return [i for i in self.ranking.order[1:].tolist() if not self.column.compared[self.first, i]]


def require_order(table: ScoreTable, column: MeanColumn, family: Family) -> None:
    """Refuse models that nothing compares, and wins that lead back to where they start (method §16).

    Raises
    ------
    InputError
        With the groups, or with the pairs of the circle.
    """
    groups = [[table.models[i] for i in group] for group in groups_apart(column.compared)]
    if len(groups) > 1:
        raise InputError(
            f"models that share fewer than {FEWEST_SHARED} samples with any other group have no common order",
            found=f"{len(groups)} groups: {'; '.join(listing(group, 4) for group in groups[:4])}",
            hint="rank one of them" + (f": {option('models', ','.join(groups[0]))}" if groups[0][1:] else ""),
            ways=[
                (option("models", ",".join(group)), {"models": tuple(group)}) for group in groups if group[1:]
            ],
        )
    circle = wins_in_a_circle(family.significant(column.p_pairs(family)))
    if circle:
        wins = [f"{table.models[i]} is shown to be better than {table.models[j]}" for i, j in circle]
        raise InputError(
            f"there is no common order by the mean of {column.name}: wins lead back to where they start",
            found=listing(wins, 6),
            hint="compare two: " + option("models", ",".join(table.models[i] for i in circle[0])),
        )


def ranked_by_mean(
    column: MeanColumn, samples: Integers | None, means: MetricMeans, family: Family, *, tested: bool
) -> MeanRanking:
    """Order models by their means, of samples of their own by least squares, and test all pairs."""
    k, pairs = len(column.means), int(column.compared.sum()) // 2
    p_adjusted = column.p_pairs(family) if tested else None
    shown: Booleans = np.zeros((k, k), dtype=bool) if p_adjusted is None else family.significant(p_adjusted)
    score = -column.means
    if samples is not None:
        score = np.argsort(order_of_wins(shown, column.means)).astype(np.float64)
    ranking = replace(rank_by_ratio(shown, score, tested=tested), score=column.means)
    if not tested:
        return MeanRanking(column, samples, means, ranking, None, None, None, None)
    first = int(ranking.order[0])
    low, high = (column.told(end[:, first]) for end in column.differences.interval(family.level(pairs)))
    visible = visible_of(column, pairs, family)
    return MeanRanking(column, samples, means, ranking, p_adjusted, low, high, visible)
