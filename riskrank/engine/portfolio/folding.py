"""A portfolio score for every row of every model, by either copula ([RAB] section 4, method §2).

Scores folded and ranked within each task of a suite, so that no task's scale decides (method §8).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from riskrank.engine.mid_ranks import Pool, mid_rank_shares
from riskrank.engine.portfolio.copula import empirical_copula, independent_copula, independent_copulas
from riskrank.engine.sampling.strata import TaskDesign
from riskrank.engine.types import Floats
from riskrank.engine.weights import normalised_weights


def portfolio(
    scores: Sequence[Floats],
    *,
    copula: str = "independent",
    weights: Floats | None = None,
    per_model: bool = False,
) -> tuple[Floats, ...]:
    """Fold the metrics of all models into one score a row, CDFs pooled over models.

    Parameters
    ----------
    scores : sequence of k array_like, shapes (n_i, m)
        Scores of each model, larger is better, a column a metric.
    copula : {"independent", "empirical"}
        P(IC) or P(EC).
    weights : array_like, shape (m,), optional
        Weights of the metrics, for P(IC).
    per_model : bool
        For P(EC): compare a row with the rows of its own model only.

    Returns
    -------
    tuple of k ndarrays, shapes (n_i,)

    Raises
    ------
    InputError
        If scores are not finite or weights cannot be used.
    """
    tables = [np.asarray(table, dtype=np.float64) for table in scores]
    pooled = np.concatenate(tables)
    owner = np.repeat(np.arange(len(tables)), [len(table) for table in tables])
    if copula == "independent":
        folded = independent_copula(pooled, weights)
    else:
        folded = empirical_copula(pooled, owner if per_model else None)
    return tuple(np.split(folded, np.cumsum([len(table) for table in tables])[:-1]))


def portfolios(scores: Sequence[Floats], weights: Sequence[Floats]) -> list[Floats]:
    """Fold by P(IC) with several sets of weights, a column each, shapes (n_i, sets) of k models."""
    folded = np.column_stack(independent_copulas(np.concatenate(scores), weights))
    return np.split(folded, np.cumsum([len(table) for table in scores])[:-1])


def portfolios_without_each(
    scores: Sequence[Floats], *, weights: Floats | None = None
) -> Iterator[tuple[Floats, ...]]:
    """Fold by P(IC) as if one model were not there, for each model in turn; every metric is sorted once.

    Parameters
    ----------
    scores, weights
        As in :func:`portfolio`.

    Yields
    ------
    tuple of k − 1 ndarrays
        Without model 0, without model 1 and so on.
    """
    tables = [np.asarray(table, dtype=np.float64) for table in scores]
    sizes = [len(table) for table in tables]
    pooled, owner = np.concatenate(tables), np.repeat(np.arange(len(tables)), sizes)
    lambdas = normalised_weights(weights, [f"metric {at + 1}" for at in range(pooled.shape[1])])
    orders, lasts = [], []
    for column in pooled.T:
        order = np.argsort(column)
        ends = np.flatnonzero(np.append(np.diff(column[order]) != 0, True))
        last = np.empty(order.size, dtype=np.int64)
        last[order] = np.repeat(ends, np.diff(ends, prepend=-1))
        orders.append(order)
        lasts.append(last)
    for left in range(len(tables)):
        kept = owner != left
        logarithm = np.zeros(int(kept.sum()))
        for order, last, weight in zip(orders, lasts, lambdas, strict=True):
            # Scores of the others up to and including each, of all scores of the others.
            below = np.cumsum(kept[order])[last[kept]]
            logarithm += weight * np.log(below / logarithm.size)
        others = np.cumsum([size for at, size in enumerate(sizes) if at != left])
        yield tuple(np.split(np.exp(logarithm), others[:-1]))


Fold = Callable[[Sequence[Floats]], Sequence[Floats]]


def within_tasks(scores: Sequence[Floats], tasks: TaskDesign | None, fold: Fold) -> tuple[Floats, ...]:
    """Fold the rows of all models task by task, CDFs pooled over models.

    Parameters
    ----------
    scores : sequence of k ndarrays, shapes (n_i, m)
    tasks : TaskDesign or None
        None for all rows at once.
    fold : callable
        From the rows of k models to a number a row of each, or several.

    Returns
    -------
    tuple of k ndarrays, shapes (n_i,) or (n_i, count)
    """
    if tasks is None:
        return tuple(fold(scores))
    found: tuple[Floats, ...] = ()
    for task in range(len(tasks.names)):
        rows = [np.flatnonzero(of_row == task) for of_row in tasks.of_row]
        if not any(own.size for own in rows):
            continue
        part = fold([own[at] for own, at in zip(scores, rows, strict=True)])
        found = found or tuple(np.empty((len(own), *part[0].shape[1:])) for own in scores)
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
