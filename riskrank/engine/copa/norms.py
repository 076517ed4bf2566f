"""Weighted norms of ranks, and the weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from riskrank.engine.ties import TOLERANCE
from riskrank.engine.types import Floats
from riskrank.engine.weights import normalised_weights
from riskrank.errors import UsageError, index_of, listing, option


def rank_norm(u: Floats, weights: Floats, p: float) -> Floats:
    """Aggregate the last axis: (Σ_k (ω_k u_k)^p)^(1/p), or max_k ω_k u_k for p = ∞ (COPA eq. 11).

    The weights are inside the power, unlike in the usual weighted p-norm.

    Parameters
    ----------
    u : array of shape (..., K)
        Non-negative.
    weights : array of shape (K,)
        Non-negative; used as they are.
    p : float
        At least 1; may be infinite.
    """
    return power_norm(u * weights, p)


def power_norm(terms: Floats, p: float) -> Floats:
    """The p-norm of non-negative terms along the last axis, safe from under- and overflow."""
    if p == 1:
        return terms.sum(axis=-1)
    largest = terms.max(axis=-1)
    if np.isinf(p):
        return largest
    # (1/2147)^100 is no longer a normal float; relative to the largest term the powers stay in [0, 1].
    scale = np.where(largest > 0, largest, 1.0)
    return largest * ((terms / scale[..., None]) ** p).sum(axis=-1) ** (1 / p)


def checked_p(p: float) -> float:
    """Validate the order of the norm.

    Raises
    ------
    UsageError
        For p below 1 or NaN.
    """
    p = float(p)
    if not p >= 1:
        raise UsageError(
            f"{option('p')} must be at least 1",
            found=f"p = {p:g}",
            hint="1 is the mean rank, 2 the Euclidean norm, inf the worst weighted rank",
        )
    return p


def share_weights(metrics: Sequence[str], given: Mapping[str, float]) -> Floats:
    """Give the objectives without a weight of their own equal shares of what is left of one.

    Parameters
    ----------
    metrics : sequence of K str
    given : mapping of str to float
        Weights by name of the objective. If every objective has one, they are scaled to sum to one.

    Returns
    -------
    array of shape (K,)
        Weights that sum to one.

    Raises
    ------
    UsageError
        For an unknown name, a negative weight, all weights zero, or nothing left to share.
    """
    for name in given:
        index_of(name, metrics, kind="objective", parameter="weight")
    weights = np.array([given.get(name, np.nan) for name in metrics], dtype=np.float64)
    unset = np.isnan(weights)
    if not unset.any() or not given:
        return normalised_weights(weights if given else None, metrics, kind="objective")
    total = float(weights[~unset].sum())
    if total > 1 + TOLERANCE:
        raise UsageError(
            f"the weights given sum to {total:g}, nothing is left for {listing(np.array(metrics)[unset])}",
            found=", ".join(f"{name}={value:g}" for name, value in given.items()),
            hint="give weights that sum to at most 1, or a weight for every objective",
        )
    weights[unset] = max(0.0, 1 - total) / unset.sum()
    return normalised_weights(weights, metrics, kind="objective")
