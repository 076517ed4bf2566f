"""What a suite says without each of its tasks: who leads, and which task decides that (method §8)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riskrank.engine.dominance.estimates import estimate
from riskrank.engine.family import Family
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.strata import TaskDesign
from riskrank.engine.suites.macro_means import FIXED, macro_differences
from riskrank.engine.suites.task_differences import TaskDifferences
from riskrank.engine.suites.task_scores import TaskScores
from riskrank.engine.types import Floats, Integers

# Scores times pairs times tasks: about a second.
_MOST_WORK = 3e7


@dataclass(frozen=True, eq=False)
class LeftOut:
    """The suite without each of its T tasks in turn; the others weigh among themselves as before.

    Attributes
    ----------
    macro : ndarray, shape (T, k)
        Macro means.
    leader : ndarray of int, shape (T,)
        The model with the largest.
    ahead : ndarray, shape (T, k)
        Of one model: how far it is ahead of every other.
    p_adjusted : ndarray, shape (T, k)
        One-sided, of that lead; adjusted over all pairs.
    """

    macro: Floats
    leader: Integers
    ahead: Floats
    p_adjusted: Floats

    def changes(self, leader: int) -> list[int]:
        """Tasks without which another model leads, the one that decides most first."""
        found = np.flatnonzero(self.leader != leader)
        return found[np.argsort(self.ahead[found].min(axis=1), kind="stable")].tolist()


def leave_one_out(
    scores: TaskScores, found: TaskDifferences, model: int, *, scope: str = FIXED, family: Family = Family()
) -> LeftOut | None:
    """Leave out one task after the other.

    Parameters
    ----------
    scores : TaskScores
    found : TaskDifferences
        Of the same scores.
    model : int
        The model whose lead is asked about.
    scope : {"fixed", "random"}
    family : Family, optional

    Returns
    -------
    LeftOut or None
        None where fewer than two tasks weigh anything.
    """
    if np.count_nonzero(scores.weights) < 2:
        return None
    macro, p_adjusted = [], []
    for task in range(scores.count):
        kept = np.where(np.arange(scores.count) == task, 0.0, scores.weights)
        weights = kept / kept.sum()
        macro.append(scores.mean @ weights)
        ahead = macro_differences(scores, found, scope, weights=weights)
        p_adjusted.append(ahead.p_pairs(family)[model])
    means = np.array(macro)
    return LeftOut(means, means.argmax(axis=1), means[:, [model]] - means, np.array(p_adjusted))


def first_by_ratio(scores: TaskScores, order: int) -> Integers | None:
    """Without each task in turn, the model with the smallest mean violation ratio against the others.

    Parameters
    ----------
    scores : TaskScores
    order : {1, 2}
        Of dominance.

    Returns
    -------
    ndarray of int, shape (T,), or None
        None where fewer than two tasks weigh anything, or that would take longer than a reader waits.
    """
    pairs = scores.models * (scores.models - 1) // 2
    work = scores.count * pairs * max(value.size for value in scores.values)
    if np.count_nonzero(scores.weights) < 2 or work > _MOST_WORK:
        return None
    names = [str(task) for task in range(scores.count)]
    found = []
    for task in range(scores.count):
        kept = [tasks != task for tasks in scores.tasks]
        weights = np.where(np.arange(scores.count) == task, 0.0, scores.weights)
        rest = ClusteredScores.build(
            [value[rows] for value, rows in zip(scores.values, kept, strict=True)],
            [unit[rows] for unit, rows in zip(scores.units, kept, strict=True)],
            paired=scores.paired,
            tasks=TaskDesign.build(
                names,
                [tasks[rows] for tasks, rows in zip(scores.tasks, kept, strict=True)],
                weights=weights,
            ),
        )
        found.append(int(estimate(rest).ratios[order - 1].sum(axis=1).argmin()))
    return np.array(found)
