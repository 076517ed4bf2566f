"""The Pareto front: the models that no other model dominates."""

from __future__ import annotations

import numpy as np

from riskrank.engine.types import Booleans, Floats, Integers

# Largest number of pairs compared at once, so that they stay in the processor's cache.
_PAIRS = 1 << 18


def pareto_front(objectives: Floats) -> Booleans:
    """Return a mask of the models that no other model dominates.

    A model is dominated if another is at least as good on every objective and better on one (COPA §2, method
    §7). Models with the same values as a front member are on the front too.

    Parameters
    ----------
    objectives : array of shape (N, K)
        One row per model, larger is better in every column; none is NaN.

    Returns
    -------
    array of bool, shape (N,)
        True for the models on the front.

    """
    # A dominator has a larger sum of ranks than the model it dominates. In descending order of this sum, the
    # first remaining model is therefore not dominated, and likely dominators come first.
    ranks = [np.unique(column, return_inverse=True)[1] for column in objectives.T]
    remaining = np.argsort(-np.sum(ranks, axis=0), kind="stable")
    values = np.ascontiguousarray(objectives[remaining].T)
    on_front = np.zeros(remaining.size, dtype=bool)
    while remaining.size:
        count = max(_PAIRS // remaining.size, 1)
        undominated = np.asarray(~dominance_matrix(values[:, :count], values).any(axis=0))
        on_front[remaining[:count][undominated[:count]]] = True
        undominated[:count] = False
        remaining, values = remaining[undominated], values[:, undominated]
    return on_front


def dominance_matrix(first: Floats, second: Floats) -> Booleans:
    """Return a mask of dominance, models in `first` over models in `second`, shape (M, N).

    Parameters
    ----------
    first : array of shape (K, M)
        Objectives of M models, one row per objective; larger is better.
    second : array of shape (K, N)
        Objectives of N models.
    """
    matches = np.ones((first.shape[1], second.shape[1]), dtype=bool)
    exceeds = np.zeros_like(matches)
    for a, b in zip(first, second, strict=True):
        matches &= a[:, None] >= b
        exceeds |= a[:, None] > b
    return matches & exceeds


def dominators(objectives: Floats, model: int) -> Integers:
    """Return the models that dominate a model.

    Parameters
    ----------
    objectives : array of shape (N, K)
        One row per model, larger is better in every column.
    model : int
        Row of the model.

    Returns
    -------
    array of int
        Rows of the dominating models, in order; empty for a model on the front.
    """
    return np.flatnonzero(dominance_matrix(objectives.T, objectives[[model]].T))
