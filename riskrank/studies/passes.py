"""How many samples are flaky, and what repeated runs come to: pass^1 to pass^K of every model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.passes import Passes, mean_interval

# Longest curve: of more runs nobody reads every point.
_MOST = 10


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

    metric: str
    model: str
    samples: int
    flaky: int
    always: int
    never: int
    curve: Sequence[tuple[float, float, float]]

    def described(self) -> dict[str, Any]:
        """An entry of ``meta``."""
        names = ("metric", "model", "samples", "flaky", "always", "never")
        points = [
            {"k": k, "pass": value, "low": low, "high": high}
            for k, (value, low, high) in enumerate(self.curve, 1)
        ]
        return {name: getattr(self, name) for name in names} | {"curve": points}


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
    found = []
    for model, values, samples in zip(models, scores.values, scores.clusters, strict=True):
        passes = Passes.of(values == (0 if less_is_better else 1), samples)
        most = min(int(passes.runs.min()), _MOST)
        found.append(
            PassCurve(
                metric,
                model,
                len(passes.runs),
                passes.flaky,
                int(np.count_nonzero(passes.passed == passes.runs)),
                int(np.count_nonzero(passes.passed == 0)),
                [mean_interval(passes.all_of(k)) for k in range(1, most + 1)],
            )
        )
    return found
