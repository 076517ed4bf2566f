"""The COPA ranking: models ordered by the weighted norm of their ranks, with tie-breaking."""

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
    """Return the norm over the last axis: (Σ_k (ω_k u_k)^p)^(1/p), or max_k ω_k u_k for p = ∞ (COPA eq. 11).

    The weights are inside the power, unlike in the usual weighted p-norm.

    Parameters
    ----------
    u : array of shape (..., K)
        Non-negative relative ranks.
    weights : array of shape (K,)
        Non-negative; used without normalisation.
    p : float
        At least 1; may be infinite.

    Returns
    -------
    array of shape (...)
    """
    return power_norm(u * weights, p)


def power_norm(terms: Floats, p: float) -> Floats:
    """Return the p-norm of non-negative terms along the last axis, safe from underflow and overflow.

    Parameters
    ----------
    terms : array of shape (..., K)
        Non-negative.
    p : float
        At least 1; may be infinite.

    Returns
    -------
    array of shape (...)
    """
    if p == 1:
        return terms.sum(axis=-1)
    largest = terms.max(axis=-1)
    if np.isinf(p):
        return largest
    # Powers such as (1/2147)^100 would underflow; relative to the largest term they stay in [0, 1].
    scale = np.where(largest > 0, largest, 1.0)
    return largest * ((terms / scale[..., None]) ** p).sum(axis=-1) ** (1 / p)


def complete_weights(metrics: Sequence[str], weights_by_name: Mapping[str, float]) -> Floats:
    """Complete a partial set of weights to sum to 1.

    Objectives without a weight receive equal parts of 1 minus the sum of the given weights.

    Parameters
    ----------
    metrics : sequence of K str
        Names of the objectives.
    weights_by_name : mapping of str to float
        Weights by name of the objective. If every objective has one, they are scaled to sum to one.

    Returns
    -------
    array of shape (K,)
        Weights that sum to one.

    Raises
    ------
    UsageError
        If a name is unknown, all weights are zero, or the weights sum to more than 1.
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
            f"the given weights sum to {total:g} and leave nothing for {listing(np.array(metrics)[missing])}",
            found=", ".join(f"{name}={value:g}" for name, value in weights_by_name.items()),
            hint="give weights that sum to at most 1, or a weight for every objective",
        )
    weights[missing] = max(0.0, 1 - total) / missing.sum()
    return normalised_weights(weights, metrics, kind="objective")


# Orders of the norms that break ties: a robust norm, then the mean rank.
TIE_BREAKING_P = (8.0, 1.0)


@dataclass(frozen=True)
class CopaRanking:
    """Models ordered by the norm of their ranks.

    Attributes
    ----------
    p : float
        Order of the norm.
    weights : array of shape (K,)
        Weights of the objectives, summing to 1.
    norm : array of shape (N,)
        Norm of each model, infeasible models included; smaller is better.
    order : array of int
        Feasible models, best first.
    rank : array of int, shape (N,)
        1 for the chosen model; 0 for infeasible models.
    tie : array of int, shape (N,)
        Index of each model's tie group, which contains all feasible models with the same norm; -1 for
        infeasible models.
    """

    p: float
    weights: Floats
    norm: Floats
    order: Integers
    rank: Integers
    tie: Integers

    @property
    def chosen(self) -> int:
        """Index of the chosen model."""
        return int(self.order[0])

    def rank_of(self, model: int) -> int | None:
        """Return the rank of a model, or None if it is infeasible."""
        return int(self.rank[model]) or None

    @cached_property
    def _models_by_tie(self) -> dict[int, list[int]]:
        """Feasible models of each tie group, best first."""
        groups: dict[int, list[int]] = {}
        for model in self.order.tolist():
            groups.setdefault(int(self.tie[model]), []).append(model)
        return groups

    def tied_with(self, model: int) -> Integers:
        """Return the other feasible models with the same norm as a model, best first."""
        tied = self._models_by_tie.get(int(self.tie[model]), [])
        return np.array([other for other in tied if other != model], dtype=np.int64)


def rank_models(
    models: Population, weights: Sequence[float] | Floats | None = None, *, p: float
) -> CopaRanking:
    """Rank the feasible models by the weighted norm of their ranks (COPA eq. 10 and 11).

    Norms that are equal within a relative 1e-12 are ties. Ties are broken in this order: models on the front
    first, then the norm of p = 8, then of p = 1, then the name (method §7). Therefore the chosen model is on
    the front for any p and weights.

    Parameters
    ----------
    models : Population
    weights : sequence of K float, optional
        Non-negative, not all zero; scaled to sum to 1. Uniform by default.
    p : float
        Order of the norm, at least 1; may be infinite.

    Returns
    -------
    CopaRanking
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
    """Return the column of the smallest key in each row, breaking ties by the later keys.

    Parameters
    ----------
    keys : iterable of ndarray, the first of shape (S, M), the others of shapes that broadcast to it
        One row per decision, one column per candidate. The values of the last key must be distinct within a
        row. Later keys are evaluated only if needed to break a tie.

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
    """Yield the keys that break ties in :func:`lexicographic_argmin`: a robust norm, then the mean rank.

    Parameters
    ----------
    terms : ndarray, shape (S, M, K)
        Weighted ranks of the M candidates, one row per decision.
    """
    return (power_norm(terms, p) for p in TIE_BREAKING_P)


def models_by_rank(models: Population, ranking: CopaRanking) -> list[int]:
    """Return all models by rank, followed by the infeasible models by their norm."""
    infeasible = np.flatnonzero(~models.feasible)
    by_norm = infeasible[np.lexsort((models.name_order[infeasible], ranking.norm[infeasible]))]
    return [*ranking.order.tolist(), *by_norm.tolist()]


def weakest_objectives(weighted: Floats) -> Booleans:
    """Return a mask of the largest weighted rank in each row, ties included.

    Parameters
    ----------
    weighted : array of shape (..., K)
        Weighted ranks.

    Returns
    -------
    array of bool, shape (..., K)
        False throughout a row of zeros.
    """
    largest = weighted.max(axis=-1, keepdims=True)
    return (weighted >= largest * (1 - TOLERANCE)) & (weighted > 0)
