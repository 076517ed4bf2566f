"""Repeated runs: variance components, flaky samples, and pass^1 to pass^K."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from riskrank.engine.sampling import variance_components
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.studies.document import computed, rows_from_records

# Shares of the variance below which repeats hardly matter, and above which they matter most.
_LITTLE, _MOST = 0.1, 0.5


@dataclass(frozen=True)
class RunsSplit:
    """Variance of means on one metric, split into the variance between samples and between runs.

    Attributes
    ----------
    metric : str
        Name of the metric.
    components : VarianceComponents
        Components of each model's mean, in squared units of the scores.
    difference_share : float
        Share of the variance of the difference of two means that is due to runs, as the median over pairs of
        models.
    """

    metric: str
    components: variance_components.VarianceComponents
    difference_share: float

    @property
    def advice(self) -> str:
        """Recommendation to add samples, or to add repeats."""
        if self.difference_share < _LITTLE:
            return "add samples; repeats would hardly help"
        return "add samples first" if self.difference_share < _MOST else "add repeats or samples"

    @property
    def sentence(self) -> str:
        """Sentences on the variance due to the runs, and on the recommendation."""
        share = self.difference_share
        compared = "a difference of two models'" if len(self.components.runs) > 1 else "the"
        return (
            f"Runs cause {100 * share:.0f} % of the variance of {compared} mean {self.metric}, and samples "
            f"the rest. Twice as many repeats would remove {50 * share:.0f} % of the variance, and twice as "
            f"many samples 50 %: {self.advice}."
        )

    def entries(self, models: Sequence[str]) -> list[dict[str, Any]]:
        """Return one dictionary per model with its variance components, for the JSON object ``meta``."""
        parts = self.components
        names = ("runs", "between", "within", "variance", "within_share", "more_samples", "more_runs")
        return [
            {"metric": self.metric, "model": model, "difference_share": self.difference_share}
            | {name: getattr(parts, name)[i].item() for name in names}
            for i, model in enumerate(models)
        ]


def split_run_variance(metric: str, scores: ClusteredScores) -> RunsSplit | None:
    """Split the variance of the models' means on a metric into samples and repeated runs.

    Returns None if no sample has repeats.
    """
    components = variance_components.variance_components(scores)
    if components is None:
        return None
    return RunsSplit(metric, components, variance_components.runs_share_of_differences(scores, components))


# Maximum number of points of a curve.
_LONGEST = 10


@dataclass(frozen=True)
class PassCurve:
    """Probability that all of k runs pass (pass^k), for one metric and model.

    Attributes
    ----------
    metric, model : str
        Names of the metric and of the model.
    samples, flaky, always, never : int
        Numbers of samples: in total, and those that pass in some, all and no runs.
    curve : sequence of (float, float, float)
        pass^k with its 95 % interval for k = 1, 2, ...
    """

    metric: str = computed(lambda metric: metric)
    model: str = computed(lambda model: model)
    samples: int = computed(lambda passes: len(passes.runs))
    flaky: int = computed(lambda passes: passes.n_flaky)
    always: int = computed(lambda passes: int(np.count_nonzero(passes.passed == passes.runs)))
    never: int = computed(lambda passes: int(np.count_nonzero(passes.passed == 0)))
    curve: Sequence[tuple[float, float, float]] = computed(
        lambda passes: [
            variance_components.mean_interval(passes.all_pass(k))
            for k in range(1, min(int(passes.runs.min()), _LONGEST) + 1)
        ]
    )

    def entry(self) -> dict[str, Any]:
        """Return the curve as a dictionary for the JSON object ``meta``."""
        points = [
            {"k": k, "pass": value, "low": low, "high": high}
            for k, (value, low, high) in enumerate(self.curve, 1)
        ]
        return vars(self) | {"curve": points}


def pass_curves(
    metric: str, scores: ClusteredScores, models: Sequence[str], *, less_is_better: bool
) -> list[PassCurve]:
    """Return the pass^k curves of all models for a binary metric with repeats.

    The result is empty for other metrics.

    Parameters
    ----------
    metric : str
        Name of the metric.
    scores : ClusteredScores
        Scores in the units of the file, with one cluster per sample.
    models : sequence of str
        Names of the models.
    less_is_better : bool
        True if a score of 0 passes.
    """
    binary = all(bool(np.all((values == 0) | (values == 1))) for values in scores.values)
    if not binary or scores.sizes == scores.cluster_counts:
        return []
    rows = zip(models, scores.values, scores.clusters, strict=True)
    best = 0 if less_is_better else 1
    records = (
        (metric, model, variance_components.Passes.from_runs(values == best, samples))
        for model, values, samples in rows
    )
    return rows_from_records(PassCurve, "metric model passes", records)
