"""How much of what makes differences of task means vary no number of samples takes away (method §8).

Of the variance of a difference of macro means over tasks, Σ w_t² e_t² comes from the samples within them.
Only the rest is of the tasks: with endless samples on each, fewer tasks would do by as much.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.suites.macro_means import RANDOM, macro_differences
from riskrank.engine.suites.task_differences import task_differences
from riskrank.engine.suites.task_scores import TaskScores
from riskrank.engine.types import Floats


def shares_between_tasks(scores: ClusteredScores, pairs: Sequence[tuple[int, int]]) -> Floats:
    """Share of the variance of two models' difference of macro means that lies between tasks.

    Parameters
    ----------
    scores : ClusteredScores
        Whose tasks are drawn.
    pairs : sequence of m (int, int)

    Returns
    -------
    ndarray, shape (m,)
        0 where nothing varies.
    """
    weights = scores.strata.weights
    tasks = TaskScores.build(
        scores.values, scores.clusters, units=scores.samples, weights=weights, paired=scores.paired
    )
    differences = task_differences(tasks)
    whole = macro_differences(tasks, differences, RANDOM).error ** 2
    within = ((weights * differences.error) ** 2).sum(axis=-1)
    share = np.where(whole > 0, 1 - within / np.where(whole > 0, whole, 1.0), 0.0)
    return np.array([max(float(share[pair]), 0.0) for pair in pairs])
