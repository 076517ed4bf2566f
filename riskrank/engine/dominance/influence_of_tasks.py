"""What the units of resampling do to a statistic, given the influence of each score (method §4 and §8)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.types import Floats, Integers


@dataclass(frozen=True)
class TaskWeights:
    """A suite whose samples are drawn within tasks.

    Attributes
    ----------
    weights : tuple of k ndarrays, shapes (n_i,)
        Of the scores, of sum 1.
    of_cluster : tuple of k ndarrays of int, shapes (C_i,)
        Task of each cluster.
    """

    weights: tuple[Floats, ...]
    of_cluster: tuple[Integers, ...]

    @classmethod
    def of(cls, scores: ClusteredScores) -> TaskWeights | None:
        """Of a design; None where it is no suite."""
        if scores.strata is None:
            return None
        weights = scores.weights
        if weights is None:
            weights = tuple(np.full(size, 1 / size) for size in scores.sizes)
        return cls(weights, scores.strata.of_cluster)

    def centred(self, sums: Floats, model: int) -> Floats:
        """Sums of clusters less their task's mean, and as much larger as their squares say too little.

        The squares of these add up to the variance Σ w_t² s_t²/n_t.
        """
        tasks = self.of_cluster[model]
        counts = np.bincount(tasks).astype(np.float64)
        away = sums - (np.bincount(tasks, sums) / np.maximum(counts, 1))[tasks]
        return np.asarray(away * np.sqrt(counts / np.maximum(counts - 1, 1))[tasks])


def per_cluster(
    influence: Floats, sorting: Integers, unit: Integers, width: int, tasks: TaskWeights | None, model: int
) -> Floats:
    """What each cluster of a model adds to a statistic, shape (width,).

    Parameters
    ----------
    influence : ndarray, shape (n,)
        Of the scores, upwards.
    sorting : ndarray of int, shape (n,)
        Where each of them stood before.
    unit : ndarray of int, shape (n,)
        Cluster of each score, before sorting.
    width : int
        Clusters of the model that has most.
    tasks : TaskWeights or None
    model : int
    """
    if tasks is None:
        found: Floats = np.bincount(unit[sorting], influence, minlength=width) / len(influence)
        return found
    count = len(tasks.of_cluster[model])
    weighed = influence * tasks.weights[model][sorting]
    sums: Floats = np.bincount(unit[sorting], weighed, minlength=count).astype(np.float64)
    return np.concatenate((tasks.centred(sums, model), np.zeros(width - count)))
