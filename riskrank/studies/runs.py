"""Would more samples or more repeats help? The variance of a model's mean, split between the two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.variance_components import VarianceComponents, variance_components
from riskrank.errors import RiskrankError

# Below this share of the variance repeats hardly matter; above one half they matter most.
_LITTLE, _MOST = 0.1, 0.5


@dataclass(frozen=True)
class RunsSplit:
    """One metric's split.

    Attributes
    ----------
    metric : str
    components : VarianceComponents
        In squared units of the scores.
    """

    metric: str
    components: VarianceComponents

    @property
    def share(self) -> float:
        """Share of the variance of a mean that comes from the runs: the median of the models with repeats."""
        return float(np.nanmedian(self.components.within_share))

    @property
    def advice(self) -> str:
        """What to have more of."""
        if self.share < _LITTLE:
            return "more samples; repeats would hardly help"
        return "more samples first" if self.share < _MOST else "more repeats or more samples"

    @property
    def sentence(self) -> str:
        """The same in full."""
        share = self.share
        return (
            f"{100 * share:.0f} % of the variance of a model's mean {self.metric} comes from its runs, the "
            "rest from the samples (median of the models). Twice the repeats would take away "
            f"{50 * share:.0f} % of it, twice the samples 50 %: {self.advice}."
        )

    def described(self, models: Sequence[str]) -> list[dict[str, Any]]:
        """Entries of ``meta``, one a model."""
        found = self.components
        names = ("runs", "between", "within", "variance", "within_share", "more_samples", "more_runs")
        return [
            {"metric": self.metric, "model": model} | {name: getattr(found, name)[i].item() for name in names}
            for i, model in enumerate(models)
        ]


def split_of_runs(metric: str, scores: ClusteredScores) -> RunsSplit | None:
    """Split the variance of the models' means; None where there are no repeats or no way to tell.

    Parameters
    ----------
    metric : str
    scores : ClusteredScores
    """
    if scores.sizes == scores.cluster_counts:
        return None
    try:
        return RunsSplit(metric, variance_components(scores))
    except RiskrankError:  # clusters of samples, one sample: there is nothing to split
        return None
