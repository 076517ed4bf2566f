"""Performance profiles: the share of a suite's scores above τ, tasks weighed, with a band (method §8).

The profile of a model is 1 − F(τ), F the weighted mixture of its tasks' distribution functions; with one
score a run and task it is that of Agarwal and others. The band is Student's t at each τ by itself, with
Satterthwaite's degrees of freedom from the samples within tasks, cut to [0, 1].

References
----------
R. Agarwal, M. Schwarzer, P. S. Castro, A. Courville, M. G. Bellemare (2021). Deep reinforcement learning at
the edge of the statistical precipice. Advances in Neural Information Processing Systems 34.
doi:10.48550/arXiv.2108.13264
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riskrank.engine.suites.macro_means import within_tasks
from riskrank.engine.suites.task_differences import TaskScores
from riskrank.engine.types import Floats

# Values of τ; more are not seen in a picture.
MOST = 201


@dataclass(frozen=True, eq=False)
class Profile:
    """Shares of scores above g values of τ.

    Attributes
    ----------
    tau : ndarray, shape (g,)
        Increasing.
    share, low, high : ndarray, shape (k, g)
        With the ends of the band.
    """

    tau: Floats
    share: Floats
    low: Floats
    high: Floats


def thresholds(scores: TaskScores, most: int = MOST) -> Floats:
    """Every value a score takes, or as many of them as are seen, evenly by their number."""
    values = np.unique(np.concatenate(scores.values))
    if values.size <= most:
        return values
    return values[np.round(np.linspace(0, values.size - 1, most)).astype(int)]


def profile(scores: TaskScores, tau: Floats, level: float = 0.05) -> Profile:
    """Share of scores above each τ.

    Parameters
    ----------
    scores : TaskScores
    tau : ndarray, shape (g,)
        Increasing.
    level : float
        Two-sided, of the band at each τ by itself.
    """
    share = np.empty((scores.models, scores.count, tau.size))
    error, samples = np.empty_like(share), scores.independent
    for model, (value, unit) in enumerate(zip(scores.values, scores.units, strict=True)):
        for task, rows in enumerate(scores.rows[model]):
            order = rows[np.argsort(unit[rows], kind="stable")]
            above = value[order, None] > tau
            share[model, task] = above.mean(axis=0)
            begins = np.flatnonzero(np.r_[True, unit[order][1:] != unit[order][:-1]])
            parts = np.add.reduceat(above - share[model, task], begins, axis=0)
            count = len(begins)
            error[model, task] = np.sqrt((parts**2).sum(axis=0) * count / max(count - 1, 1)) / len(order)
    means = [
        within_tasks(share[model].T, error[model].T, samples[model], scores.weights)
        for model in range(scores.models)
    ]
    low, high = np.moveaxis(np.array([one.interval(level) for one in means]), 1, 0)
    return Profile(
        tau, np.array([one.value for one in means]), np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)
    )
