"""Means of the worst share of each model's scores, as the file has them: what a mean does not show."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from riskrank.engine.dominance.column import DominanceStudy
from riskrank.scores.table.metrics_file import MetricSpec
from riskrank.studies.rounding import decimals_of, rounded
from riskrank.studies.units import units_of
from riskrank.studies.wording import percent


class TailMeans:
    """Means of the worst share of one column of scores, by model.

    Parameters
    ----------
    column : str
        A metric or a portfolio.
    study : DominanceStudy
    metrics : sequence of MetricSpec
    """

    def __init__(self, column: str, study: DominanceStudy, metrics: Sequence[MetricSpec]) -> None:
        self._metric = any(spec.name == column for spec in metrics)
        self.level = study.estimates.tail_level
        self.values = units_of(column, metrics).of(study.estimates.tails)
        errors = []
        if study.replicates is not None:
            # Half of what two thirds of the replicates span: a standard error that no outlier sways.
            errors = np.ptp(np.quantile(study.replicates.tails, [0.16, 0.84], 0), axis=0) / 2
        self.decimals = decimals_of(errors)

    @property
    def says_something(self) -> bool:
        """Whether the worst shares differ."""
        return bool(np.ptp(self.values) > 0)

    @property
    def words(self) -> str:
        """The share, and of what."""
        return f"{percent(self.level)}{'' if self._metric else ' of the combined score'}"

    def of(self, model: int) -> str:
        """A model's mean of its worst share."""
        return rounded(float(self.values[model]), self.decimals)
