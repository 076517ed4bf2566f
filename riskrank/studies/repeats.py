"""Repeated runs: what more of them would help, how many samples are flaky, and pass^1 to pass^K."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.variance_components import (
    Passes,
    VarianceComponents,
    mean_interval,
    variance_components,
)
from riskrank.studies.document import of, rows_from

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
    found = variance_components(scores)
    return None if found is None else RunsSplit(metric, found)


# Longest curve: of more runs nobody reads every point.
_LONGEST = 10


@dataclass(frozen=True)
class PassCurve:
    """One metric of one model.

    Attributes
    ----------
    metric, model : str
    samples, flaky, always, never : int
        All samples; those that pass in some runs only, in all, and in none.
    curve : sequence of (float, float, float)
        pass^k for k = 1, 2, …, with its interval at 95 %.
    """

    metric: str = of(lambda metric: metric)
    model: str = of(lambda model: model)
    samples: int = of(lambda passes: len(passes.runs))
    flaky: int = of(lambda passes: passes.flaky)
    always: int = of(lambda passes: int(np.count_nonzero(passes.passed == passes.runs)))
    never: int = of(lambda passes: int(np.count_nonzero(passes.passed == 0)))
    curve: Sequence[tuple[float, float, float]] = of(
        lambda passes: [
            mean_interval(passes.all_of(k)) for k in range(1, min(int(passes.runs.min()), _LONGEST) + 1)
        ]
    )

    def described(self) -> dict[str, Any]:
        """An entry of ``meta``."""
        points = [
            {"k": k, "pass": value, "low": low, "high": high}
            for k, (value, low, high) in enumerate(self.curve, 1)
        ]
        return vars(self) | {"curve": points}


def pass_curves(
    metric: str, scores: ClusteredScores, models: Sequence[str], *, less_is_better: bool
) -> list[PassCurve]:
    """Curves of every model of a metric of zeros and ones with repeats; empty for others.

    Parameters
    ----------
    metric : str
    scores : ClusteredScores
        As the file has them, a unit a sample.
    models : sequence of str
    less_is_better : bool
        Whether 0 passes.
    """
    binary = all(bool(np.all((values == 0) | (values == 1))) for values in scores.values)
    if not binary or scores.sizes == scores.cluster_counts:
        return []
    each = zip(models, scores.values, scores.clusters, strict=True)
    best = 0 if less_is_better else 1
    records = ((metric, model, Passes.of(values == best, samples)) for model, values, samples in each)
    return rows_from(PassCurve, "metric model passes", records)
