"""The COPA ranking: models ordered by the weighted norm of their ranks, with tie-breaking.

A model's rank is explained by its weighted ranks, and by weights under which it would be chosen.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskrank.engine.copa.population import Population, dominators
from riskrank.engine.numeric import TOLERANCE, normalised_weights, tie_codes
from riskrank.engine.types import Booleans, Floats, Integers
from riskrank.errors import NumericalError, UsageError, index_of, listing


def rank_norm(u: Floats, weights: Floats, p: float) -> Floats:
    """Return the COPA norm of relative ranks over the last axis: (Σ_k (ω_k u_k)^p)^(1/p) (COPA eq. 11).

    For p = ∞ it is max_k ω_k u_k. The weights are inside the power, unlike in the usual weighted p-norm.

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
            f"the given weights sum to {total:g}, so none is left for {listing(np.array(metrics)[missing])}",
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
        """Return the rank of the model with index `model`, or None if it is infeasible."""
        return int(self.rank[model]) or None

    def tied_with(self, model: int) -> Integers:
        """Return the indices of the other feasible models with the same norm as `model`, best first."""
        return self.order[(self.tie[self.order] == self.tie[model]) & (self.order != model)]


def rank_models(models: Population, weights: ArrayLike | None = None, *, p: float) -> CopaRanking:
    """Rank the feasible models by the weighted norm of their ranks (COPA eq. 10 and 11).

    Norms that are equal within a relative 1e-12 are ties. Ties are broken in this order: models on the front
    first, then the norm of p = 8, then of p = 1, then the name (method §7). Therefore the chosen model is on
    the front for any p and weights.

    Parameters
    ----------
    models : Population
        Models with their relative ranks and Pareto front.
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
    """Return the position of the smallest first key in each row; later keys break ties.

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
    """Yield the two norms that break ties: the norm of order 8, then that of order 1 (the mean rank).

    Both have shape (S, M).

    Parameters
    ----------
    terms : ndarray, shape (S, M, K)
        Weighted ranks of the M candidates, one row per decision.
    """
    return (power_norm(terms, p) for p in TIE_BREAKING_P)


def models_by_rank(models: Population, ranking: CopaRanking) -> list[int]:
    """Return the indices of all models: feasible ones by rank, then infeasible ones by norm."""
    infeasible = np.flatnonzero(~models.feasible)
    by_norm = infeasible[np.lexsort((models.name_order[infeasible], ranking.norm[infeasible]))]
    return [*ranking.order.tolist(), *by_norm.tolist()]


def weakest_objectives(weighted: Floats) -> Booleans:
    """Return a mask of the objectives on which each model has its largest weighted rank, ties included.

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


# Larger ratios of powers are truncated: beyond this, their size is irrelevant, and the solver needs
# coefficients of moderate size.
_LARGEST_RATIO = 1e6


@dataclass(frozen=True)
class CopaExplanation:
    """Explanation of one model's rank under one norm and one set of weights.

    Attributes
    ----------
    model : int
        Row of the explained model.
    ranking : CopaRanking
        The explained ranking.
    weighted : array of shape (K,)
        Weighted ranks ω_k u_k.
    contribution : array of shape (K,)
        Proportion of norm^p due to each objective, summing to 1. For p = ∞, the weighted rank relative to the
        largest. All contributions are zero for a model that is best on every objective with a positive
        weight.
    binding : array of int
        Objectives with the largest weighted rank. Improvements on other objectives matter less, and not at
        all for p = ∞.
    dominators : array of int
        Feasible models that dominate the model. If there are any, no positive weights lead to its choice.
    weights : array of shape (K,) or None
        Weights with sum 1 under which the model is chosen at this p, or None if there are none. For finite p,
        these are the weights with the widest margin. Some weights may be zero.
    """

    model: int
    ranking: CopaRanking
    weighted: Floats
    contribution: Floats
    binding: Integers
    dominators: Integers
    weights: Floats | None


def explain_model(models: Population, model: int, ranking: CopaRanking) -> CopaExplanation:
    """Explain the rank of a model, and find weights under which it would be chosen.

    Parameters
    ----------
    models : Population
        Models with their relative ranks and Pareto front.
    model : int
        Row of the model.
    ranking : CopaRanking
        The ranking to explain.

    Returns
    -------
    CopaExplanation

    Raises
    ------
    NumericalError
        If the linear program for the weights fails.
    """
    weighted = models.u[model] * ranking.weights
    largest = weighted.max()
    scaled = weighted / largest if largest > 0 else weighted
    powers = scaled if np.isinf(ranking.p) else scaled**ranking.p
    better = dominators(models.objectives, model)
    return CopaExplanation(
        model=int(model),
        ranking=ranking,
        weighted=weighted,
        contribution=powers if np.isinf(ranking.p) or largest == 0 else powers / powers.sum(),
        binding=np.flatnonzero(weakest_objectives(weighted)),
        dominators=better[models.feasible[better]],
        weights=choosing_weights(models, model, p=ranking.p),
    )


def choosing_weights(models: Population, model: int, *, p: float) -> Floats | None:
    """Find weights under which a model is chosen; return None if there are none.

    For p = ∞, every model on the front has such weights. With weights inversely proportional to its ranks,
    its weighted ranks are equal, and any model with a smaller norm would dominate it. This is the argument
    behind Miettinen (1999), Thm. 3.4.5, cited in COPA §3.3.

    For finite p, such weights exist only for some models. Let u_k(i) be the relative rank of model i on
    objective k. The model i is chosen if Σ_k ω_k^p (u_k(j)^p - u_k(i)^p) > 0 for every rival j. These
    conditions are linear in ω^p, so a linear program finds the weights with the widest margin.

    Parameters
    ----------
    models : Population
        Models with their relative ranks and Pareto front.
    model : int
        Row of the model.
    p : float
        At least 1; may be infinite.

    Returns
    -------
    array of shape (K,) or None
        Weights that sum to 1, verified by `rank_models`. None if the model is infeasible, dominated, never
        first, or a duplicate of a model that comes first by name.

    Raises
    ------
    NumericalError
        If the linear program fails.
    """
    if not models.front[model]:
        return None
    # A rank of zero would need an infinite weight. Half the smallest positive rank replaces it: any rival
    # that is worse there exceeds the model's largest weighted rank.
    scale = np.maximum(models.u[model], 1 / (2 * len(models.u)))
    candidates = [1 / scale]
    if not np.isinf(p):
        powers = _widest_margin(models, model, scale, p)
        if powers is not None:
            candidates.insert(0, powers ** (1 / p) / scale)
    for weights in candidates:
        if rank_models(models, weights, p=p).chosen == model:
            return weights / weights.sum()
    return None


def _widest_margin(models: Population, model: int, scale: Floats, p: float) -> Floats | None:
    """Find weights v under which a model beats every rival by the widest margin.

    The linear program maximises min_j Σ_k v_k ((u_k(j)/s_k)^p - (u_k(i)/s_k)^p) over the rivals j of model i,
    subject to v ≥ 0 and Σ_k v_k = 1. Here u_k is the relative rank on objective k and s_k its `scale`. The
    result has shape (K,). It is None if the largest margin is negative.
    """
    from scipy.optimize import linprog

    ranks = models.u[model]
    rivals = np.flatnonzero(models.front)
    # Only models on the front can beat the model, and duplicates always tie.
    rivals = rivals[(models.u[rivals] != ranks).any(axis=1)]
    if not rivals.size:
        return np.full(ranks.size, 1 / ranks.size)
    with np.errstate(over="ignore"):
        gap = np.minimum((models.u[rivals] / scale) ** p, _LARGEST_RATIO) - (ranks / scale) ** p
    solution = linprog(
        c=np.append(np.zeros(ranks.size), -1.0),
        A_ub=np.column_stack([-gap, np.ones(rivals.size)]),
        b_ub=np.zeros(rivals.size),
        A_eq=np.append(np.ones(ranks.size), 0.0)[None, :],
        b_eq=[1.0],
        bounds=[(0, None)] * ranks.size + [(None, None)],
        method="highs",
    )
    if solution.status != 0:
        problem = f"no weights could be found for model {models.names[model]!r}"
        detail = f"the solver reports: {solution.message}"
        raise NumericalError(problem, found=detail, hint="use p = inf, which needs no solver")
    return np.maximum(solution.x[:-1], 0.0) if solution.x[-1] > -TOLERANCE else None
