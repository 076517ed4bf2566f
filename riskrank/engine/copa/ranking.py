"""The choice: models ordered by the weighted norm of their ranks, ties settled.

Weighted norms of ranks, and the weights.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from riskrank.engine.copa.population import Population
from riskrank.engine.ties import TOLERANCE, tie_codes
from riskrank.engine.types import Booleans, Floats, Integers
from riskrank.engine.weights import normalised_weights
from riskrank.errors import UsageError, index_of, listing


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


def complete_weights(metrics: Sequence[str], weights_by_name: Mapping[str, float]) -> Floats:
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
        For an unknown name, all weights zero, or nothing left to share.
    """
    for name in weights_by_name:
        index_of(name, metrics, kind="objective", parameter="weight")
    weights = np.array([weights_by_name.get(name, np.nan) for name in metrics], dtype=np.float64)
    missing = np.isnan(weights)
    if not missing.any() or not weights_by_name:
        return normalised_weights(weights if weights_by_name else None, metrics, kind="objective")
    total = float(weights[~missing].sum())
    if total > 1 + TOLERANCE:
        raise UsageError(
            f"the weights given sum to {total:g}, nothing is left for {listing(np.array(metrics)[missing])}",
            found=", ".join(f"{name}={value:g}" for name, value in weights_by_name.items()),
            hint="give weights that sum to at most 1, or a weight for every objective",
        )
    weights[missing] = max(0.0, 1 - total) / missing.sum()
    return normalised_weights(weights, metrics, kind="objective")


# After the norm itself: a robust norm, then the mean rank.
TIE_BREAKING_P = (8.0, 1.0)


@dataclass(frozen=True)
class CopaRanking:
    """Models ordered by the norm of their ranks.

    Attributes
    ----------
    p : float
    weights : array of shape (K,)
        Sum to one.
    norm : array of shape (N,)
        Small is better; given for infeasible models too.
    order : array of int
        Feasible models, best first.
    rank : array of int, shape (N,)
        1 for the chosen model; 0 for infeasible models.
    tie : array of int, shape (N,)
        Feasible models with the same number have the same norm; -1 for infeasible models.
    """

    p: float
    weights: Floats
    norm: Floats
    order: Integers
    rank: Integers
    tie: Integers

    @property
    def chosen(self) -> int:
        """The chosen model."""
        return int(self.order[0])

    def rank_of(self, model: int) -> int | None:
        """Rank of a model, or None if it may not be chosen."""
        return int(self.rank[model]) or None

    @cached_property
    def _models_by_tie(self) -> dict[int, list[int]]:
        """Models of the same norm, best first, by the number of their tie."""
        groups: dict[int, list[int]] = {}
        for model in self.order.tolist():
            groups.setdefault(int(self.tie[model]), []).append(model)
        return groups

    def tied_with(self, model: int) -> Integers:
        """List the other feasible models of the same norm, best first."""
        tied = self._models_by_tie.get(int(self.tie[model]), [])
        return np.array([other for other in tied if other != model], dtype=np.int64)


def rank_models(
    models: Population, weights: Sequence[float] | Floats | None = None, *, p: float
) -> CopaRanking:
    """Order the feasible models by the weighted norm of their ranks (COPA eq. 10 and 11).

    Models whose norms agree within a relative 1e-12 are ordered by: on the front first, then the norm
    of p = 8, then of p = 1, then the name (method §7). The chosen model is therefore always on the
    front, whatever p and the weights are.

    Parameters
    ----------
    models : Population
    weights : sequence of K float, optional
        Non-negative, not all zero; scaled to sum to one. Uniform by default.
    p : float
        At least 1; may be infinite.
    """
    weights = normalised_weights(weights, models.metrics, kind="objective")
    norm = rank_norm(models.u, weights, p)
    feasible = np.flatnonzero(models.feasible)
    codes = tie_codes(norm[feasible])
    tie_breakers = [tie_codes(rank_norm(models.u[feasible], weights, q)) for q in TIE_BREAKING_P]
    keys = [models.name_order[feasible], *reversed(tie_breakers), ~models.front[feasible], codes]
    order = feasible[np.lexsort(keys)]
    rank = np.zeros(len(norm), dtype=np.int64)
    rank[order] = np.arange(1, order.size + 1)
    tie = np.full(len(norm), -1, dtype=np.int64)
    tie[feasible] = codes
    return CopaRanking(p=p, weights=weights, norm=norm, order=order, rank=rank, tie=tie)


def lexicographic_argmin(keys: Iterable[NDArray]) -> Integers:
    """Choose the column of the smallest first key in each row, ties settled by the later keys.

    Parameters
    ----------
    keys : iterable of ndarray, the first of shape (S, M), the others of shapes that broadcast to it
        One row per choice to make, one column per candidate; the last one must be distinct within a row.
        Those that no tie needs are not asked for.

    Returns
    -------
    array of int, shape (S,)
        Column of the chosen candidate.
    """
    tied: Booleans = np.ones(1, dtype=bool)
    for key in keys:
        tied_keys = np.where(tied, key, np.inf)
        tied = tied & (tied_keys <= tied_keys.min(axis=1, keepdims=True) * (1 + TOLERANCE))
        if np.count_nonzero(tied) == len(tied):
            break
    return tied.argmax(axis=1)


def tie_breaking_norms(terms: Floats) -> Iterator[Floats]:
    """Keys of :func:`pick` that settle ties: the norm of a robust p, then the mean rank.

    Parameters
    ----------
    terms : ndarray, shape (S, M, K)
        Weighted ranks of the candidates, a row per choice to make.
    """
    return (power_norm(terms, p) for p in TIE_BREAKING_P)


def models_by_rank(models: Population, ranking: CopaRanking) -> list[int]:
    """All models by rank, those that may not be chosen last and by their norm."""
    infeasible = np.flatnonzero(~models.feasible)
    by_norm = infeasible[np.lexsort((models.name_order[infeasible], ranking.norm[infeasible]))]
    return [*ranking.order.tolist(), *by_norm.tolist()]


def weakest_objectives(weighted: Floats) -> Booleans:
    """Where each row of weighted ranks has its largest, ties included; nowhere if all are zero."""
    largest = weighted.max(axis=-1, keepdims=True)
    return (weighted >= largest * (1 - TOLERANCE)) & (weighted > 0)
