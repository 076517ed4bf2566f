"""Models that were scored on different tasks, compared pair by pair on the tasks both have (method §16).

A pair of fewer shared tasks than :data:`FEWEST_SHARED` is not compared. Means of what is there would rank a
model by the tasks it lacks; least squares of models plus tasks do not, and order what tests leave open.
"""

from itertools import combinations

import numpy as np

from riskrank.engine.evidence.student import Student
from riskrank.engine.types import Booleans, Floats, Integers

FEWEST_SHARED = 6
"""Tasks that both models of a pair must have."""


def shared_differences(values: Floats, units: Integers) -> Student:
    """Differences of the means of all pairs, first minus second, each on the tasks both have.

    Parameters
    ----------
    values : ndarray, shape (k, n)
        Score of every model on every task, NaN where there is none.
    units : ndarray of int, shape (n,)
        What is drawn whole, as are the votes of one person; a number of its own for each task otherwise.

    Returns
    -------
    Student
        Shape (k, k), as of paired tests; NaN where two models share too few units.
    """
    k = len(values)
    value, error, df = np.full((3, k, k), np.nan)
    np.fill_diagonal(value, 0.0)
    np.fill_diagonal(error, 0.0)
    np.fill_diagonal(df, 1.0)
    for i, j in combinations(range(k), 2):
        apart = values[i] - values[j]
        shared = np.isfinite(apart)
        apart, (drawn, unit) = apart[shared], np.unique(units[shared], return_inverse=True)
        if drawn.size >= FEWEST_SHARED:
            value[i, j] = apart.mean()
            squares = (np.bincount(unit, apart - apart.mean()) ** 2).sum()
            error[i, j] = error[j, i] = np.sqrt(squares * drawn.size / (drawn.size - 1)) / apart.size
            df[i, j] = df[j, i] = drawn.size - 1
            value[j, i] = -value[i, j]
    return Student(value, error, df)


def additive_means(values: Floats) -> Floats:
    """Means over all tasks by least squares of a model's and a task's part.

    Parameters
    ----------
    values : ndarray, shape (k, n)
        NaN where there is no score; models of one group (:func:`groups_apart`).

    Returns
    -------
    ndarray, shape (k,)
        The plain means where nothing is missing.
    """
    there = np.isfinite(values)
    scores, counts = np.where(there, values, 0.0), there.sum(axis=0)
    # The tasks' parts are eliminated; the models' are left but for a constant, the level of all tasks.
    share = there / np.maximum(counts, 1)
    equations = np.diag(there.sum(axis=1)) - share @ there.T
    right = scores.sum(axis=1) - share @ scores.sum(axis=0)
    parts = np.linalg.lstsq(equations, right, rcond=None)[0]
    used = counts > 0
    tasks = (scores - there * parts[:, None]).sum(axis=0)[used] / counts[used]
    return parts + tasks.mean()


def reached(edges: Booleans) -> Booleans:
    """What can be reached from where over any number of edges, shape (k, k)."""
    found = edges.copy()
    for middle in range(len(found)):
        found |= found[:, [middle]] & found[[middle]]
    return found


def groups_apart(compared: Booleans) -> list[list[int]]:
    """Models that comparisons connect, the largest group first; one group where all are.

    Parameters
    ----------
    compared : ndarray of bool, shape (k, k)
        Symmetric.
    """
    together = reached(compared | np.eye(len(compared), dtype=bool))
    groups = {tuple(np.flatnonzero(row).tolist()) for row in together}
    return sorted(map(list, groups), key=lambda one: (-len(one), one))


def wins_in_a_circle(wins: Booleans) -> list[tuple[int, int]]:
    """Wins that lead back to where they start; none where there is a common order."""
    after = reached(wins)
    return [(i, j) for i, j in np.argwhere(wins).tolist() if after[j, i]]


def order_of_wins(wins: Booleans, means: Floats) -> Integers:
    """Models from first to last: no winner behind a loser of its own, else by their means.

    Parameters
    ----------
    wins : ndarray of bool, shape (k, k)
        Without a circle.
    means : ndarray, shape (k,)
        Larger is better.
    """
    left, order = list(np.argsort(-means, kind="stable").tolist()), []
    while left:
        order.append(next(i for i in left if not wins[left, i].any()))
        left.remove(order[-1])
    return np.array(order, dtype=np.int64)
