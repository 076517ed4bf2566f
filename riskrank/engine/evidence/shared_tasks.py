"""Pairwise comparisons of models that were scored on different sets of tasks (method §16).

Each pair is compared on its shared tasks, provided that there are at least :data:`MIN_SHARED`. Plain means of
the available scores would depend on which tasks a model lacks. Least-squares means from an additive model
with model and task effects do not; they order models that are not significantly different.
"""

from itertools import combinations

import numpy as np

from riskrank.engine.evidence.mean_differences import MeanContrast
from riskrank.engine.evidence.student import Student
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.types import Booleans, Floats, Integers

# Smallest number of tasks shared by the models of a pair.
MIN_SHARED = 6


def shared_differences(values: Floats, units: Integers) -> Student:
    """Return the differences in means for all pairs of models, each on the tasks that both share.

    Parameters
    ----------
    values : ndarray, shape (k, n)
        Score of each model on each task; NaN if missing.
    units : ndarray of int, shape (n,)
        Cluster of each task, for example all votes by one person; distinct numbers for independent tasks.

    Returns
    -------
    Student
        Shape (k, k), from paired tests; NaN for models that share too few units.
    """
    k = len(values)
    value, error, df = np.full((3, k, k), np.nan)
    np.fill_diagonal(value, 0.0)
    np.fill_diagonal(error, 0.0)
    np.fill_diagonal(df, 1.0)
    for i, j in combinations(range(k), 2):
        shared = np.isfinite(values[i] - values[j])
        unit = units[shared]
        if np.unique(unit).size >= MIN_SHARED:
            scores = ClusteredScores.build([values[i][shared], values[j][shared]], [unit, unit])
            contrast = MeanContrast.from_scores(scores, 0, 1)
            value[i, j], value[j, i] = contrast.estimate, -contrast.estimate
            (error[i, j], df[i, j]), (error[j, i], df[j, i]) = [contrast.error_and_df] * 2
    return Student(value, error, df)


def additive_means(values: Floats) -> Floats:
    """Estimate each model's mean over all tasks with additive effects of models and tasks.

    Parameters
    ----------
    values : ndarray, shape (k, n)
        Scores (NaN if missing) of models in a single group of :func:`connected_groups`.

    Returns
    -------
    ndarray, shape (k,)
        Equal to the plain means if no score is missing.
    """
    present = np.isfinite(values)
    scores, counts = np.where(present, values, 0.0), present.sum(axis=0)
    # After elimination of the task effects, the model effects are determined up to a constant.
    share = present / np.maximum(counts, 1)
    equations = np.diag(present.sum(axis=1)) - share @ present.T
    targets = scores.sum(axis=1) - share @ scores.sum(axis=0)
    effects = np.linalg.lstsq(equations, targets, rcond=None)[0]
    has_scores = counts > 0
    tasks = (scores - present * effects[:, None]).sum(axis=0)[has_scores] / counts[has_scores]
    return effects + tasks.mean()


def transitive_closure(edges: Booleans) -> Booleans:
    """Return a mask of the pairs (i, j) with a path from i to j in a directed graph, shape (k, k)."""
    reachable = edges.copy()
    for middle in range(len(reachable)):
        reachable |= reachable[:, [middle]] & reachable[[middle]]
    return reachable


def connected_groups(compared: Booleans) -> list[list[int]]:
    """Return the connected components of the comparison graph, the largest first.

    Parameters
    ----------
    compared : ndarray of bool, shape (k, k)
        Symmetric; True if two models are compared.
    """
    reachable = transitive_closure(compared | np.eye(len(compared), dtype=bool))
    groups = {tuple(np.flatnonzero(row).tolist()) for row in reachable}
    return sorted(map(list, groups), key=lambda group: (-len(group), group))


def cyclic_wins(wins: Booleans) -> list[tuple[int, int]]:
    """Return the wins that are part of a cycle, such as A beats B, B beats C, C beats A.

    Each element is a pair (winner, loser).
    """
    reachable = transitive_closure(wins)
    return [(i, j) for i, j in np.argwhere(wins).tolist() if reachable[j, i]]


def topological_order(wins: Booleans, means: Floats) -> Integers:
    """Order models so that every winner precedes the models it beats; otherwise sort them by mean.

    Return the indices of the models, the best first.

    Parameters
    ----------
    wins : ndarray of bool, shape (k, k)
        True where the first model beats the second; must not contain a cycle.
    means : ndarray, shape (k,)
        Mean of each model; larger is better.
    """
    remaining, order = list(np.argsort(-means, kind="stable").tolist()), []
    while remaining:
        order.append(next(i for i in remaining if not wins[remaining, i].any()))
        remaining.remove(order[-1])
    return np.array(order, dtype=np.int64)
