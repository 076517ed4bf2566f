"""Risk over tasks: the mean of a model's worst tasks (method §8)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riskrank.engine.types import Floats

SHARE = 0.1
"""Of the tasks; at least one."""


@dataclass(frozen=True)
class WorstTasks:
    """The worst tasks of a model.

    Attributes
    ----------
    tasks : tuple of int
        The worst first; equal means in the order of the tasks.
    mean : float
        Of their means, by the tasks' weights among themselves.
    """

    tasks: tuple[int, ...]
    mean: float


def worst_tasks(mean: Floats, weights: Floats) -> WorstTasks:
    """Find a tenth of the tasks that weigh anything, at least one.

    Parameters
    ----------
    mean : ndarray, shape (T,)
        Of one model, larger is better.
    weights : ndarray, shape (T,)
    """
    weighed = np.flatnonzero(weights)
    count = max(int(SHARE * weighed.size), 1)
    worst = weighed[np.argsort(mean[weighed], kind="stable")[:count]]
    return WorstTasks(tuple(worst.tolist()), float(np.average(mean[worst], weights=weights[worst])))
