"""Means of the worst share of each model's scores, as the file has them: what a mean does not show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.engine.dominance.column import DominanceStudy
from riskrank.engine.types import Floats
from riskrank.scores.table.metrics_file import MetricSpec
from riskrank.studies.rounding import decimals_of, rounded, told_apart
from riskrank.studies.units import units_of
from riskrank.studies.wording import percent

# More of the scores than this are no bad cases: what is worse there is worse altogether.
_BAD_CASES = 0.5


def bad_cases(level: float) -> bool:
    """Whether the worst share of the scores is small enough to be called bad cases."""
    return level <= _BAD_CASES


@dataclass(frozen=True)
class Worst:
    """Means of the worst share of k models' scores, larger is better, with standard errors where known."""

    level: float
    mean: Floats
    error: Sequence[float] | Floats = ()

    @classmethod
    def of(cls, level: float, mean: Floats, resampled: Floats) -> Worst:
        """With half of what two thirds of the resamples span: a standard error that no outlier sways."""
        return cls(level, mean, np.ptp(np.quantile(resampled, [0.16, 0.84], axis=0), axis=0) / 2)


def worst_of(study: DominanceStudy) -> Worst:
    """What a study of dominance measured on the way."""
    found, replicates = study.estimates, study.replicates
    if replicates is None:
        return Worst(found.tail_level, found.tails)
    return Worst.of(found.tail_level, found.tails, replicates.tails)


class TailMeans:
    """Means of the worst share of one column of scores, by model, in the units of the file.

    Parameters
    ----------
    column : str
        A metric or a portfolio.
    worst : Worst
    metrics : sequence of MetricSpec
    """

    def __init__(self, column: str, worst: Worst, metrics: Sequence[MetricSpec]) -> None:
        self._metric = any(spec.name == column for spec in metrics)
        self.level = worst.level
        self.values = units_of(column, metrics).of(worst.mean)
        self.decimals = decimals_of(worst.error)

    @property
    def says_something(self) -> bool:
        """Whether the worst shares differ, and are of bad cases."""
        return bad_cases(self.level) and bool(np.ptp(self.values) > 0)

    @property
    def words(self) -> str:
        """The share, and of what."""
        return f"{percent(self.level)}{'' if self._metric else ' of the combined score'}"

    def of(self, model: int) -> str:
        """A model's mean of its worst share."""
        return rounded(float(self.values[model]), self.decimals)

    def both(self, one: int, other: int) -> tuple[str, str]:
        """Those of two models beside each other, with digits that tell them apart."""
        return told_apart(float(self.values[one]), float(self.values[other]), rounded, self.decimals)

    def against(self, one: int, other: int) -> str:
        """The same in words: ``−4.7 against −1.0``."""
        return " against ".join(self.both(one, other))
