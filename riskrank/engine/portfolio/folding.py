"""A portfolio score for every row of every model, by either copula ([RAB] section 4, method §2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.portfolio.copula import empirical_copula, independent_copula
from riskrank.engine.types import Floats
from riskrank.engine.weights import normalised_weights


def portfolio(
    scores: Sequence[ArrayLike],
    *,
    copula: str = "independent",
    weights: ArrayLike | None = None,
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


def portfolios_without_each(
    scores: Sequence[ArrayLike], *, weights: ArrayLike | None = None
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
