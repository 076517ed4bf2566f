"""Scores folded and ranked within each task of a suite, so that no task's scale decides (method §8)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from riskrank.engine.mid_ranks import Pool, mid_rank_shares
from riskrank.engine.portfolio.folding import portfolio
from riskrank.engine.sampling.strata import TaskDesign
from riskrank.engine.types import Floats

Fold = Callable[[Sequence[Floats]], Sequence[Floats]]


def within_tasks(scores: Sequence[Floats], tasks: TaskDesign | None, fold: Fold) -> tuple[Floats, ...]:
    """Fold the rows of all models task by task, CDFs pooled over models.

    Parameters
    ----------
    scores : sequence of k ndarrays, shapes (n_i, m)
    tasks : TaskDesign or None
        None for all rows at once.
    fold : callable
        From the rows of k models to a number a row of each.

    Returns
    -------
    tuple of k ndarrays, shapes (n_i,)
    """
    if tasks is None:
        return tuple(fold(scores))
    found = tuple(np.empty(len(own)) for own in scores)
    for task in range(len(tasks.names)):
        rows = [np.flatnonzero(of_row == task) for of_row in tasks.of_row]
        if not any(own.size for own in rows):
            continue
        part = fold([own[at] for own, at in zip(scores, rows, strict=True)])
        for column, at, folded in zip(found, rows, part, strict=True):
            column[at] = folded
    return found


def portfolio_of_tasks(
    scores: Sequence[Floats],
    tasks: TaskDesign | None,
    *,
    copula: str = "independent",
    weights: Floats | None = None,
    per_model: bool = False,
) -> tuple[Floats, ...]:
    """The portfolio of :func:`riskrank.engine.portfolio.folding.portfolio`, of a suite within each task."""
    return within_tasks(
        scores, tasks, lambda rows: portfolio(rows, copula=copula, weights=weights, per_model=per_model)
    )


def ranks_within_tasks(scores: Sequence[Floats], tasks: TaskDesign) -> tuple[Floats, ...]:
    """Mid-rank share of every score among those of all models on its task, shapes as of ``scores``.

    Parameters
    ----------
    scores : sequence of k ndarrays, shapes (n_i, m)
        Each column has ranks of its own.
    tasks : TaskDesign
    """

    def shares(rows: Sequence[Floats]) -> list[Floats]:
        pooled = np.concatenate(rows)
        found = mid_rank_shares(pooled, [Pool(np.sort(pooled))])
        return np.split(found, np.cumsum([len(own) for own in rows])[:-1])

    columns = [
        within_tasks([own[:, at] for own in scores], tasks, shares) for at in range(scores[0].shape[1])
    ]
    return tuple(np.column_stack(own) for own in zip(*columns, strict=True))
